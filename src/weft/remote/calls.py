"""HTTP calls to a server, and the way to its socket. Redirects are refused; what comes back is bounded."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import quote

import msgspec

from weft.core.envelope import Event, decode_event
from weft.core.json import JsonObject, as_object, decode, encode, loads
from weft.core.messages import Message
from weft.http1.coding import InflatedReader, coding_of
from weft.http1.faults import Fault, NoTls, Untrusted
from weft.http1.faults import Unreachable as NoConnection
from weft.http1.pool import Pool
from weft.http1.reply import Reply
from weft.http1.request import Target
from weft.http1.trust import trust
from weft.remote.address import Address, Token
from weft.remote.errors import NoSuchSession, ServerRefused, TokenRefused, Unreachable
from weft.remote.pace import Pace
from weft.remote.websocket import HandshakeRefused, NoWebSocket, WebSocket

T = TypeVar("T")

LARGEST = 64 * 1024 * 1024
"""Bytes of one answer, and of one message on the socket."""
_PAGE = 500
_SLOWEST = 64 * 1024
"""Bytes that a connection carries in a second at least."""
_LATER = frozenset({408, 429, 502, 503, 504})
_FAULTS = (Fault, NoWebSocket, OSError, TimeoutError, UnicodeError)


class _View(msgspec.Struct, frozen=True):
    id: str
    last_seq: int = 0


class Conversation(msgspec.Struct, frozen=True):
    """What was said, up to an event."""

    messages: list[Message]
    seq: int


class _File(msgspec.Struct, frozen=True):
    path: str
    revision: int = 0
    """0 for a file that the session has not touched."""


class _Log(msgspec.Struct, frozen=True):
    events: list[msgspec.Raw]


class _Files(msgspec.Struct, frozen=True):
    files: list[_File]


class Calls:
    """One server and one token. A fault of the network is `Unreachable`; everything else has its own error."""

    def __init__(self, address: Address, token: Token, pace: Pace) -> None:
        self.address = address
        self._token = token
        self._pace = pace
        self._pool: Pool | None = None

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, settings: JsonObject) -> tuple[str, int]:
        """Make a session. Gives its id, and the seq of its last event."""
        view = await self._typed(_View, "POST", "/sessions", settings)
        return view.id, view.last_seq

    async def send(self, session: str, submission: JsonObject) -> JsonObject:
        return await self._typed(JsonObject, "POST", _path(session, "messages"), submission)

    async def conversation(self, session: str) -> Conversation:
        return await self._typed(Conversation, "GET", _path(session, "messages"))

    async def files(self, session: str) -> dict[str, int]:
        """The files that the session wrote, each with its revision."""
        listed = await self._typed(_Files, "GET", _path(session, "files"))
        return {file.path: file.revision for file in listed.files if file.revision}

    async def file(self, session: str, path: str, revision: int) -> bytes:
        return await self._bytes("GET", f"{_path(session, 'files')}/{quote(path)}", revision=revision)

    async def running(self, session: str, seq: int) -> list[Event]:
        """The events of the exchange that ran when event `seq` was the last one; none if none did."""
        end = seq
        while end > 0:
            begin = max(0, end - _PAGE)
            for event in reversed(await self._events(session, begin, end)):
                if event.exchange is not None:
                    is_over = event.type == "exchange_response"
                    return [] if is_over else await self.log_of(session, event.exchange, seq)
            end = begin
        return []

    async def log_of(self, session: str, exchange: str, upto: int) -> list[Event]:
        """The events of one exchange, as far as they come before or with `upto`."""
        found: list[Event] = []
        end = upto
        while end > 0:
            begin = max(0, end - _PAGE)
            page = [event for event in await self._events(session, begin, end) if event.exchange == exchange]
            found = [*page, *found]
            end = 0 if found and found[0].type == "exchange_request" else begin
        return found

    async def _events(self, session: str, after: int, upto: int) -> list[Event]:
        events: list[Event] = []
        while after < upto:
            told = await self._typed(_Log, "GET", _path(session, "log"), after=after, limit=upto - after)
            page = [decode_event(bytes(raw)) for raw in told.events]
            if not page or page[-1].seq <= after:
                break
            after = page[-1].seq
            events += page
        return events

    # --- the wire ----------------------------------------------------------------------------------------------------

    async def dial(self) -> WebSocket:
        """A socket. Whoever has it closes it."""
        try:
            return await WebSocket.open(
                self.address.websocket(),
                headers=self._token.headers(),
                tls=self._tls(),
                dial=self._pace.dial,
                goodbye=self._pace.goodbye,
                largest=LARGEST,
            )
        except HandshakeRefused as error:
            raise self._refused(error.status, b"", None) from None
        except _FAULTS as error:
            raise Unreachable(_fault(error)) from None

    async def _typed(self, kind: type[T], method: str, path: str, body: JsonObject | None = None, **query: int) -> T:
        answer = await self._bytes(method, path, body, **query)
        try:
            return decode(msgspec.json.Decoder(kind), answer)
        except ValueError:
            raise self.stranger() from None

    async def _bytes(self, method: str, path: str, body: JsonObject | None = None, **query: int) -> bytes:
        headers = self._token.headers() | ({"Content-Type": "application/json"} if body is not None else {})
        data = encode(body) if body is not None else b""
        try:
            target = Target.of(self.address.http(path, **query))
            head = target.head_of(method, headers, len(data) if body is not None else None)
            async with asyncio.timeout(self._pace.dial + self._pace.silence + len(data) / _SLOWEST):
                reply = await self._open().send(
                    target.origin, head, data, tls=self._tls(), connect_timeout=self._pace.dial
                )
            content = await self._bounded(reply)
        except _FAULTS as error:
            raise Unreachable(_fault(error)) from None
        if reply.status < 300:
            return content
        raise self._refused(reply.status, content, path)

    async def _bounded(self, reply: Reply) -> bytes:
        content = bytearray()
        try:
            read = _reader(reply)
            while True:
                async with asyncio.timeout(self._pace.silence):
                    piece = await read()
                if not piece:
                    return bytes(content)
                content += piece
                if len(content) > LARGEST:
                    raise Unreachable("its answer is too large")
        finally:
            reply.close()

    def _tls(self) -> ssl.SSLContext | None:
        return trust() if self.address.base.startswith("https:") else None

    def _open(self) -> Pool:
        if self._pool is None:
            self._pool = Pool()
        return self._pool

    # --- refusals ----------------------------------------------------------------------------------------------------

    def _refused(self, status: int, content: bytes, path: str | None) -> Exception:
        if status in (401, 403):
            return self.token_refused() if status == 401 else self.refusal("forbidden", _said(content))
        if 300 <= status < 400:
            return self.refusal("redirect", f"The server at {self.address} redirects; give connect() its real address.")
        if status in _LATER:
            return Unreachable(f"it answered {status}")
        code = _code(content)
        return self.refusal(code, _said(content)) if code and path is not None else self.stranger()

    def refusal(self, code: str, message: str) -> ServerRefused:
        """What the server said, on one line and without the token."""
        said = " ".join(self._token.scrub(message).split())[:500]
        return ServerRefused(code, said or f"The server at {self.address} refused ({code}).")

    def token_refused(self) -> TokenRefused:
        return TokenRefused(str(self.address))

    def no_session(self, session: str) -> NoSuchSession:
        return NoSuchSession(session, str(self.address))

    def stranger(self) -> ServerRefused:
        return self.refusal("stranger", f"What answers at {self.address} is no Weft server; check the address.")


def _path(session: str, *more: str) -> str:
    return "/".join(("/sessions", quote(session, safe=""), *more))


def _reader(reply: Reply) -> Callable[[], Awaitable[bytes]]:
    """Reads an answer that somebody on the way may have compressed."""
    coding = coding_of(reply.headers.get("content-encoding", ""))
    return reply.read if coding is None else InflatedReader(coding, reply.read, reply.at_end).read


def _error(content: bytes) -> JsonObject:
    try:
        return as_object(as_object(loads(content)).get("error"))
    except ValueError:
        return {}


def _code(content: bytes) -> str:
    code = _error(content).get("code")
    return code if isinstance(code, str) else ""


def _said(content: bytes) -> str:
    message = _error(content).get("message")
    return message if isinstance(message, str) else ""


def _fault(error: Exception) -> str:
    """What happened, without the address and whatever else an error of the network may hold."""
    match error:
        case Untrusted() | NoTls() | ssl.SSLError():
            return "its certificate cannot be trusted"
        case TimeoutError():
            return "no answer in time"
        case NoConnection() | OSError():
            return "no connection"
        case _:
            return "the connection broke"
