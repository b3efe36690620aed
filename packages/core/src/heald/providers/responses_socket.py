"""Turns of OpenAI Responses over one WebSocket, opted into with `Settings.websocket`.

The connection stays open between turns. The server holds the last answer in its memory, so the next turn sends only
what is new since then; whatever does not continue that answer exactly is sent whole. The events are those of a stream
over HTTP, and are read by the same decoder.

https://developers.openai.com/api/docs/guides/websocket-mode
"""

import asyncio
import logging
import ssl
from collections.abc import Mapping

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.protocol import State

from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject, as_object, encode
from heald.http1.errors import (
    ConnectionBroken,
    ConnectTimeout,
    NetworkError,
    NotHttp,
    Unreachable,
    UntrustedCertificate,
)
from heald.http1.proxy import proxy_for
from heald.http1.tls import tls_context
from heald.providers.network_errors import network_error
from heald.providers.transport import Response
from heald.wires.errors import error_from_response

_LARGEST = 256 * 1024 * 1024
_MUTE = logging.Logger("heald.providers.responses_socket", logging.CRITICAL + 1)
"""A logger outside of the logger tree: at debug level, websockets would log the key."""
_OF_HTTP = ("content-type", "accept", "accept-encoding", "content-length", "connection", "host")
"""Headers that the handshake of a WebSocket does not have."""
_ENDS = frozenset(("response.completed", "response.incomplete", "response.failed", "error"))
_FORGOTTEN = "previous_response_not_found"
_EXPIRED = "websocket_connection_limit_reached"
_NO_SOCKET = (400, 404, 405, 426, 501)
_VOLATILE = ("id", "status")
"""Members of an item that may differ between an answer and its echo."""


class _Event(msgspec.Struct):
    """What has to be known of an event here."""

    type: str = ""
    item: JsonObject | None = None
    response: JsonObject | None = None
    error: JsonObject | None = None
    status: int | None = None


_events = msgspec.json.Decoder(_Event)
_bodies = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


class _LastAnswer(msgspec.Struct, frozen=True):
    """The answer that the server holds, and the input that it answers."""

    id: str
    input: list[msgspec.Raw]
    output: list[JsonObject]

    def find_new(self, items: list[msgspec.Raw]) -> list[msgspec.Raw] | None:
        """Return the items behind this answer; None if they do not continue it.

        Reasoning that is not encrypted is not echoed. The server has it.
        """
        place = len(self.input)
        if self.input != items[:place]:
            return None
        for answered in self.output:
            echoed = as_object(msgspec.json.decode(items[place])) if place < len(items) else {}
            if _stable(echoed) == _stable(answered):
                place += 1
            elif answered.get("type") != "reasoning":
                return None
        return items[place:] or None


def _stable(item: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if name not in _VOLATILE and value is not None}


class _NoRedirects(connect):
    """A key does not follow a redirect."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class ResponsesSocket:
    """The WebSocket of one conversation. It belongs to the event loop that opened it."""

    def __init__(self) -> None:
        self._connection: ClientConnection | None = None
        self._last: _LastAnswer | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, connect_timeout: float) -> Response:
        """Send a request and return the response once its first event has arrived. Raises a ProviderError."""
        try:
            return await self._post(url, headers, body, connect_timeout)
        except (NetworkError, OSError, UnicodeError) as error:
            self.abort()
            raise network_error(error, url) from None
        except BaseException:
            self.abort()
            raise

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes, connect_timeout: float) -> Response:
        request = _bodies.decode(body)
        request.pop("stream", None)
        items = _items.decode(request.pop("input"))
        is_reused = self._connection is not None and self._connection.state is State.OPEN
        if not is_reused:
            await self._open(url, headers, connect_timeout)
        try:
            first = await self._ask(request, items)
        except ConnectionClosed as closed:
            if not is_reused:  # one that was idle may have been closed meanwhile
                raise _broken() from closed
            first = None
        code = None if first is None else _error_code(first)
        if first is None or code == _EXPIRED:
            self.abort()
            await self._open(url, headers, connect_timeout)
        if first is None or code in (_EXPIRED, _FORGOTTEN):
            self._last = None
            try:
                first = await self._ask(request, items)
            except ConnectionClosed as closed:
                raise _broken() from closed
        return _SocketResponse(self, first, items).response

    async def _ask(self, request: Mapping[str, msgspec.Raw], items: list[msgspec.Raw]) -> bytes:
        """Send a request, without what the server holds already, and return its first event."""
        connection = self._connection
        assert connection is not None
        new = self._last.find_new(items) if self._last is not None else None
        message: JsonObject = {"type": "response.create", **request, "input": items}
        if self._last is not None and new is not None:
            message |= {"input": new, "previous_response_id": self._last.id}
        self._last = None
        await connection.send(encode(message), text=True)
        return await self.receive()

    async def receive(self) -> bytes:
        """Return the next event. Raises ConnectionClosed."""
        assert self._connection is not None
        return await self._connection.recv(decode=False)

    def remember(self, answer: _LastAnswer) -> None:
        self._last = answer

    async def _open(self, url: str, headers: Mapping[str, str], connect_timeout: float) -> None:
        self._last = None
        secure = url.startswith("https:")
        sent = {name: value for name, value in headers.items() if name.lower() not in _OF_HTTP}
        agent = next((sent.pop(name) for name in list(sent) if name.lower() == "user-agent"), None)
        try:
            self._connection = await _NoRedirects(
                f"ws{url.removeprefix('http')}",
                additional_headers=sent,
                user_agent_header=agent,
                ssl=tls_context() if secure else None,
                proxy=True if proxy_for(url) is not None else None,
                open_timeout=connect_timeout,
                max_size=_LARGEST,
                compression=None,
                logger=_MUTE,
            )
        except InvalidStatus as refusal:
            raise _refused(refusal) from None
        except TimeoutError as error:
            raise ConnectTimeout("", error) from None
        except InvalidURI:
            raise InvalidRequest(f"A WebSocket cannot be opened at {url}; check the base URL.") from None
        except InvalidHandshake:
            raise NotHttp("it does not answer the handshake of a WebSocket") from None
        except ssl.SSLCertVerificationError as error:
            raise UntrustedCertificate("", error) from None
        except OSError as error:
            raise Unreachable("", error) from None

    def abort(self) -> None:
        """Close the connection at once."""
        connection, self._connection, self._last = self._connection, None, None
        if connection is not None:
            connection.transport.abort()

    async def close(self) -> None:
        connection, self._connection, self._last = self._connection, None, None
        if connection is not None:
            await connection.close()


class _SocketResponse:
    """The events of one answer, framed as server-sent events."""

    def __init__(self, socket: ResponsesSocket, first: bytes, items: list[msgspec.Raw]) -> None:
        self._socket = socket
        self._unread: bytes | None = first
        self._input = items
        self._output: list[JsonObject] = []
        self._has_ended = False
        self.response = Response(
            200,
            {"content-type": "text/event-stream"},
            self._read,
            at_end=lambda: self._has_ended,
            release=self._release,
            close=self._close,
        )

    async def _read(self) -> bytes:
        if self._has_ended:
            return b""
        message, self._unread = self._unread, None
        if message is None:
            try:
                message = await self._socket.receive()
            except ConnectionClosed as closed:
                raise _broken() from closed
            except asyncio.CancelledError:
                self._close()
                raise
        self._follow(message)
        return b"data: " + message.replace(b"\n", b"\ndata: ") + b"\n\n"

    def _follow(self, message: bytes) -> None:
        """Note the items of the answer, and its end."""
        try:
            event = _events.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # the decoder reports it
        if event.type == "response.output_item.done" and event.item is not None:
            self._output.append(event.item)
        if event.type not in _ENDS:
            return
        self._has_ended = True
        if event.type == "error" and event.status is not None:
            headers = as_object((event.error or {}).get("headers"))
            raise error_from_response(event.status, {name: str(value) for name, value in headers.items()}, message)
        answer_id = (event.response or {}).get("id")
        if event.type == "response.completed" and isinstance(answer_id, str):
            self._socket.remember(_LastAnswer(answer_id, self._input, self._output))

    def _release(self) -> None:
        if not self._has_ended:  # the rest would be read as the next answer
            self._close()

    def _close(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._socket.abort()


def _error_code(message: bytes) -> str | None:
    """The code of an event that is an error; None for any other event."""
    try:
        event = _events.decode(message)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return str((event.error or {}).get("code")) if event.type == "error" else None


def _broken() -> ConnectionBroken:
    return ConnectionBroken("the WebSocket was closed")


def _refused(refusal: InvalidStatus) -> Exception:
    """The error of a server that answers the handshake with a status."""
    response = refusal.response
    if response.status_code < 300 or response.status_code in _NO_SOCKET:
        return InvalidRequest(
            f"The server does not open a WebSocket for Responses (HTTP {response.status_code}); "
            "remove `websocket` from the settings.",
            status=response.status_code,
        )
    headers = {name.lower(): value for name, value in response.headers.raw_items()}
    if 300 <= response.status_code < 400:
        return InvalidRequest(
            "The server redirects the WebSocket; a key does not follow a redirect. "
            "Set the base URL to where the API really is.",
            status=response.status_code,
        )
    return error_from_response(response.status_code, headers, bytes(response.body or b""))
