"""A WebSocket connection of uvicorn with bounded frames."""

import logging
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from heald_server.access.rate_limiter import RateLimiter
from heald_server.http.request_scope import SECURITY_HEADERS

PINGS_PER_SECOND = 20
FRAGMENTS_PER_MESSAGE = 4096
_CHUNK = 4096
_MAX_AFTER_CLOSE = 64 * 1024
"""Bytes that are read after our close frame, in search of the client's."""

_POLICY = 1008
_INVALID_TEXT = 1007

_log = logging.getLogger("heald_server.frames")
_log.setLevel(logging.WARNING)  # the library logs every header below that, tokens included


class _Handshake(ServerProtocol):
    """Adds the security headers to the response that rejects an upgrade."""

    def reject(self, status: Any, text: str) -> Response:
        response = super().reject(status, text)
        response.headers.update({name.decode(): value.decode() for name, value in SECURITY_HEADERS})
        return response


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Bounds what the application never sees: pings, fragments, and frames that arrive faster than they are read."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=_log)
        writers: dict[str, Any] = {"message_writer": SocketWriter(self)}
        self.app_state = self.app_state | writers
        self._pings = RateLimiter(PINGS_PER_SECOND)
        self._pending = bytearray()
        self._after_close = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self.app_state["connection"].close()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._pending += data
        self._feed()

    async def receive(self) -> Any:
        message = await super().receive()
        self._feed()
        return message

    def _feed(self) -> None:
        """Parse a chunk at a time, and only while the application keeps up."""
        while self._pending and not self.read_paused and not self.transport.is_closing():
            chunk = bytes(self._pending[:_CHUNK])
            del self._pending[:_CHUNK]
            if self.close_sent:
                self._after_close += len(chunk)
            if self._after_close > _MAX_AFTER_CLOSE:
                self._pending.clear()
                return
            super().data_received(chunk)

    def handle_ping(self) -> None:
        if self.close_sent:
            return
        if self._pings.allows():
            super().handle_ping()
        else:
            self._end(_POLICY, "Too many pings.")

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < FRAGMENTS_PER_MESSAGE:
            super().handle_cont(event)
        elif not self.close_sent:
            self._end(_POLICY, "Too many fragments.")

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent:
            text = b"".join(self.frames)
            self.frames = [text]
            try:
                text.decode()
            except UnicodeDecodeError:
                self._end(_INVALID_TEXT, "A text is written in UTF-8.")
                return
        super().send_receive_event_to_app()

    async def send(self, message: Any) -> None:
        if self.close_sent and self.initial_response is None:
            raise ClientDisconnected  # closed by this class, before the application could know
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # a rejection completes it too

    def _end(self, code: int, reason: str) -> None:
        self.frames = []
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.conn.close_sent is None:
            self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()


class SocketWriter:
    """Writes messages to a socket without ASGI: for streams that send many times a second."""

    def __init__(self, protocol: WebSocketProtocol) -> None:
        self._protocol = protocol

    @property
    def is_ready(self) -> bool:
        """Whether the socket is open, and its client reads what was written."""
        protocol = self._protocol
        is_open = protocol.conn.state is State.OPEN and not protocol.close_sent and not protocol.disconnected
        return is_open and protocol.writable.is_set() and not protocol.transport.is_closing()

    def write(self, texts: Sequence[str]) -> None:
        """Write each text as a message, all at once."""
        protocol = self._protocol
        for text in texts:
            protocol.conn.send_text(text.encode())
        protocol.transport.write(b"".join(protocol.conn.data_to_send()))
