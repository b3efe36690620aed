"""WebSocket frames, before they are messages: what no application would ever see of a client is bounded here.

Pings are answered without being asked for, and fragments are kept until the last one comes. Neither may come faster
than a client has reason to send them, or without end; and no flood of frames is read faster than it is taken.
"""

import logging
from typing import Any

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent  # pyright: ignore[reportPrivateImportUsage]
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.server import ServerProtocol

from weft.server.headers import SECURITY
from weft.server.limits import Pace

PINGS_PER_SECOND = 20
FRAGMENTS_PER_MESSAGE = 4096
_PIECE = 4096
_LATE = 64 * 1024
"""Bytes among which a client's answer to our close is looked for."""
_POLICY = 1008
_NO_TEXT = 1007

_log = logging.getLogger("weft.server.frames")
_log.setLevel(logging.WARNING)  # below that it would write every header down, tokens too


class _Handshake(ServerProtocol):
    """What is wrong with an upgrade is said with the headers that all our answers have."""

    def reject(self, status: Any, text: str) -> Response:
        response = super().reject(status, text)
        response.headers.update({name.decode(): value.decode() for name, value in SECURITY})
        return response


class Frames(WebSocketsSansIOProtocol):
    """A connection that ends when its client sends frames for their own sake."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=_log)
        self._pings = Pace(PINGS_PER_SECOND)
        self._pending = bytearray()
        self._late = 0

    def data_received(self, data: bytes) -> None:
        self._pending += data
        self._feed()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._feed()
        return message

    def _feed(self) -> None:
        """Read on, a little at a time and not before what was read is taken: a flood keeps only itself busy."""
        while self._pending and not self.read_paused and not self.transport.is_closing():
            piece = bytes(self._pending[:_PIECE])
            del self._pending[:_PIECE]
            if self.close_sent:
                self._late += len(piece)
            if self._late > _LATE:
                self._pending.clear()
                return
            super().data_received(piece)

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
                self._end(_NO_TEXT, "A text is written in UTF-8.")
                return
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and self.initial_response is None:
            raise ClientDisconnected  # it was closed here, before the application could know
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # a refusal is an answer too

    def _end(self, code: int, reason: str) -> None:
        self.frames = []
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.conn.close_sent is None:
            self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
