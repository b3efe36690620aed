"""REST requests of the client."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from heald.core.envelope import Event, decode_event
from heald.core.http_status import UNAVAILABLE_STATUSES
from heald.core.json import JsonObject, as_list, as_object, as_objects, decode, encode, encode_text, loads
from heald.core.messages import Message
from heald.http1.connection import HttpReply
from heald.http1.content_coding import InflatedReader, parse_content_coding
from heald.http1.errors import NetworkError
from heald.http1.pool import ConnectionPool
from heald.http1.request import RequestTarget
from heald.http1.tls import tls_context
from heald_server.client.address import AccessToken, ServerAddress
from heald_server.client.error_body import describe_fault, read_error_code, read_error_message
from heald_server.client.errors import ConnectionLost, NoRemoteSession, ServerRefused, TokenRefused
from heald_server.client.timing import Timing
from heald_server.client.websocket import HandshakeRefused, NoWebSocket, WebSocket

T = TypeVar("T")

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The maximum size in bytes of one answer, and of one message on the socket."""
BLOBS = '"blobs":[{"path":'
"""The beginning of the list of blobs in a large frame."""
_PAGE = 500
_SLOWEST = 64 * 1024
"""The minimum speed of a connection, in bytes per second."""
_FAULTS = (NetworkError, NoWebSocket, OSError, TimeoutError, UnicodeError)


class _View(msgspec.Struct, frozen=True):
    id: str
    last_seq: int = 0


class RemoteConversation(msgspec.Struct, frozen=True):
    """The conversation up to an event."""

    messages: list[Message]
    seq: int


class _File(msgspec.Struct, frozen=True):
    path: str
    revision: int = 0
    """0 for a file that the session has not changed."""


class _Log(msgspec.Struct, frozen=True):
    events: list[msgspec.Raw]


class RemoteSession(msgspec.Struct, frozen=True):
    """A session in the list of a server."""

    id: str
    title: str
    updated: float
    last_seq: int = 0


class RemoteSessions(msgspec.Struct, frozen=True):
    """A page of the list of sessions."""

    sessions: list[RemoteSession]
    next: str | None = None


class _Files(msgspec.Struct, frozen=True):
    files: list[_File]


class RestClient:
    """Requests to one server with one token. A network error raises ConnectionLost."""

    def __init__(self, address: ServerAddress, token: AccessToken, timing: Timing) -> None:
        self.address = address
        self._token = token
        self._timing = timing
        self._pool: ConnectionPool | None = None

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, settings: JsonObject) -> tuple[str, int]:
        """Create a session. Returns its id, and the seq of its last event."""
        view = await self._typed(_View, "POST", "/sessions", settings)
        return view.id, view.last_seq

    async def list_sessions(self, after: str | None = None) -> RemoteSessions:
        """Return the sessions of the token's owner, the last changed first, page by page."""
        if after is None:
            return await self._typed(RemoteSessions, "GET", "/sessions")
        return await self._typed(RemoteSessions, "GET", "/sessions", after=after)

    async def log(self, session: str) -> list[Event]:
        """Return all events of a session so far."""
        view = await self._typed(_View, "GET", _path(session))
        return await self._events(session, 0, view.last_seq)

    async def fork(self, session: str) -> str:
        """Create a session with the settings of another one and an empty log. Returns its id."""
        return (await self._typed(_View, "POST", _path(session, "fork"), {"at": 0})).id

    async def send(self, session: str, submission: JsonObject) -> JsonObject:
        return await self._typed(JsonObject, "POST", _path(session, "messages"), submission)

    async def set_client_tools(self, session: str, tools: Sequence[JsonObject]) -> None:
        await self._typed(_View, "PATCH", _path(session), {"client_tools": list(tools)})

    async def conversation(self, session: str) -> RemoteConversation:
        return await self._typed(RemoteConversation, "GET", _path(session, "messages"))

    async def files(self, session: str) -> dict[str, int]:
        """Return the files that the session wrote, each with its revision."""
        listed = await self._typed(_Files, "GET", _path(session, "files"))
        return {file.path: file.revision for file in listed.files if file.revision}

    async def file(self, session: str, path: str, revision: int) -> bytes:
        return await self._bytes("GET", f"{_path(session, 'files')}/{quote(path)}", revision=revision)

    async def blob(self, session: str, digest: str) -> bytes:
        return await self._bytes("GET", _path(session, f"blobs/{digest}"))

    async def complete_frame(self, text: str) -> str:
        """Put the blobs that a large frame names into their places."""
        frame = as_object(loads(text))
        for ref in as_objects(frame.pop("blobs", None)):
            data = await self.blob(str(frame.get("session")), str(ref.get("blob")))
            *steps, last = as_list(ref.get("path")) or ["data"]
            place: Any = frame
            for step in steps:
                place = place[step]
            place[last] = loads(data) if ref.get("is_json") else data.decode("utf-8", "surrogatepass")
        return encode_text(frame)

    async def running_exchange(self, session: str, seq: int) -> list[Event]:
        """Return the events of the exchange that was running at event `seq`, if there was one."""
        end = seq
        while end > 0:
            begin = max(0, end - _PAGE)
            for event in reversed(await self._events(session, begin, end)):
                if event.exchange is not None:
                    is_over = event.type == "exchange_response"
                    return [] if is_over else await self.exchange_events(session, event.exchange, seq)
            end = begin
        return []

    async def exchange_events(self, session: str, exchange: str, upto: int) -> list[Event]:
        """Return the events of one exchange up to event `upto`."""
        events: list[Event] = []
        end = upto
        while end > 0:
            begin = max(0, end - _PAGE)
            page = [event for event in await self._events(session, begin, end) if event.exchange == exchange]
            events = [*page, *events]
            end = 0 if events and events[0].type == "exchange_request" else begin
        return events

    async def _events(self, session: str, after: int, upto: int) -> list[Event]:
        events: list[Event] = []
        while after < upto:
            log = await self._typed(_Log, "GET", _path(session, "log"), after=after, limit=min(upto - after, _PAGE))
            page = [decode_event(bytes(raw)) for raw in log.events]
            if not page or page[-1].seq <= after:
                break
            after = page[-1].seq
            events += page
        return events

    # --- HTTP and WebSocket ------------------------------------------------------------------------------------------

    async def open_socket(self) -> WebSocket:
        """Open a WebSocket. The caller closes it."""
        try:
            return await self._dial("/ws")
        except HandshakeRefused as error:
            raise self._refused(error.status, b"", None) from None

    async def open_session_socket(self, session: str, dialect: str, after: int) -> WebSocket:
        """Open the WebSocket of one session in a dialect, from a cursor on. The caller closes it."""
        try:
            return await self._dial(f"{_path(session, 'ws')}?dialect={dialect}&after={after}")
        except HandshakeRefused as error:
            if error.status == 404:
                raise self.no_session(session) from None
            raise self._refused(error.status, b"", None) from None

    async def _dial(self, path: str) -> WebSocket:
        try:
            return await WebSocket.open(
                self.address.websocket(path),
                headers=self._token.headers(),
                tls=self._tls(),
                dial=self._timing.dial,
                goodbye=self._timing.goodbye,
                largest=MAX_ANSWER_BYTES,
            )
        except _FAULTS as error:
            raise ConnectionLost(describe_fault(error)) from None

    async def _typed(
        self, kind: type[T], method: str, path: str, body: JsonObject | None = None, **query: int | str
    ) -> T:
        answer = await self._bytes(method, path, body, **query)
        try:
            return decode(msgspec.json.Decoder(kind), answer)
        except ValueError:
            raise self.not_heald() from None

    async def _bytes(self, method: str, path: str, body: JsonObject | None = None, **query: int | str) -> bytes:
        headers = self._token.headers() | ({"Content-Type": "application/json"} if body is not None else {})
        data = encode(body) if body is not None else b""
        try:
            target = RequestTarget.parse(self.address.http(path, **query))
            head = target.encode_head(method, headers, len(data) if body is not None else None)
            async with asyncio.timeout(self._timing.dial + self._timing.silence + len(data) / _SLOWEST):
                reply = await self._open().send(
                    target.origin, head, data, tls=self._tls(), connect_timeout=self._timing.dial
                )
            content = await self._bounded(reply)
        except _FAULTS as error:
            raise ConnectionLost(describe_fault(error)) from None
        if reply.status < 300:
            return content
        raise self._refused(reply.status, content, path)

    async def _bounded(self, reply: HttpReply) -> bytes:
        content = bytearray()
        try:
            read = _reader(reply)
            while True:
                async with asyncio.timeout(self._timing.silence):
                    piece = await read()
                if not piece:
                    return bytes(content)
                content += piece
                if len(content) > MAX_ANSWER_BYTES:
                    raise ConnectionLost("its answer is too large")
        finally:
            reply.close()

    def _tls(self) -> ssl.SSLContext | None:
        return tls_context() if self.address.base.startswith("https:") else None

    def _open(self) -> ConnectionPool:
        if self._pool is None:
            self._pool = ConnectionPool()
        return self._pool

    # --- refusals ----------------------------------------------------------------------------------------------------

    def _refused(self, status: int, content: bytes, path: str | None) -> Exception:
        if status in (401, 403):
            return self.token_refused() if status == 401 else self.refusal("forbidden", read_error_message(content))
        if 300 <= status < 400:
            return self.refusal("redirect", f"The server at {self.address} redirects; give connect() its real address.")
        if status in UNAVAILABLE_STATUSES:
            return ConnectionLost(f"it answered {status}")
        code = read_error_code(content)
        return self.refusal(code, read_error_message(content)) if code and path is not None else self.not_heald()

    def refusal(self, code: str, message: str) -> ServerRefused:
        """Build the error for a refusal: the message of the server on one line, without the token."""
        text = " ".join(self._token.scrub(message).split())[:500]
        return ServerRefused(code, text or f"The server at {self.address} refused ({code}).")

    def token_refused(self) -> TokenRefused:
        return TokenRefused(str(self.address))

    def no_session(self, session: str) -> NoRemoteSession:
        return NoRemoteSession(session, str(self.address))

    def not_heald(self) -> ServerRefused:
        return self.refusal("stranger", f"The server at {self.address} is not a Heald server; check the address.")


def _path(session: str, *more: str) -> str:
    return "/".join(("/sessions", quote(session, safe=""), *more))


def _reader(reply: HttpReply) -> Callable[[], Awaitable[bytes]]:
    """Return the function that reads an answer, decompressed if a proxy has compressed it."""
    coding = parse_content_coding(reply.headers.get("content-encoding", ""))
    return reply.read if coding is None else InflatedReader(coding, reply.read, reply.at_end).read
