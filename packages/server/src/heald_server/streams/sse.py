"""Server-sent events: the log of a session from a cursor on."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from heald.core.json import JsonObject, encode
from heald.sessions.session_info import SessionInfo
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.dialects.dialect import Dialect
from heald_server.dialects.registry import open_dialect
from heald_server.http.bounded_http import ChunkWriter
from heald_server.http.errors import ApiError
from heald_server.http.stall_timeout import StallTimeout
from heald_server.streams.cursor import read_cursor
from heald_server.streams.dialect_encoder import DialectEncoder
from heald_server.streams.event_hub import EncodedEvent
from heald_server.streams.event_stream import EventStream
from heald_server.streams.log_tail import catch_up
from heald_server.streams.stream_end import abort_connection, closing_frames, goodbye_frame, wait_for_disconnect
from heald_server.streams.stream_frames import reset_frame

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_HEARTBEAT = b": heartbeat\n\n"

_log = logging.getLogger("heald_server.streams.sse")


async def stream_events(context: ServerContext, caller: Caller, info: SessionInfo, request: Request) -> Response:
    """The response to `GET /sessions/{id}/events`."""
    dialect = open_dialect(request.query_params.get("dialect", "native"), info.id)
    last_event_id = request.headers.get("last-event-id", request.query_params.get("after"))
    cursor = read_cursor(last_event_id, info)
    head = b"retry: 1000\n\n"
    seq = cursor.seq
    if cursor.bad is not None:
        if dialect.name != "native":
            raise ApiError("invalid_cursor", "The cursor cannot be served; repeat the request without one.")
        frame, seq = await reset_frame(context.sessions.store, info, cursor.bad)
        head += _event("reset", frame)
    await catch_up(dialect, context.sessions.store, info.id, seq)
    return EventStreamResponse(context, caller, info, dialect, seq, head)


class EventStreamResponse(Response):
    """Streams the events of a session until the client disconnects."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        info: SessionInfo,
        dialect: Dialect,
        seq: int,
        head: bytes = b"",
    ) -> None:
        super().__init__(headers={**HEADERS, **dialect.headers}, media_type=dialect.content_type)
        del self.headers["content-length"]
        self._context = context
        self._caller = caller
        self._session = info.id
        self._encoder = DialectEncoder(dialect)
        self._stream = EventStream(context.sessions.store, context.open_sessions.hub, info.id, seq)
        self._head = head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        stall_timeout = StallTimeout(scope, self._context.settings.limits.stall_seconds)
        with self._context.streaming(self._caller, self._stream):
            await self._begin(send)
            writer: ChunkWriter | None = scope.get("state", {}).get("body_writer")  # of Heald's own server
            if writer is not None and scope["http_version"] == "1.1":
                self._stream.push = partial(self._push, writer)
            disconnected = asyncio.create_task(wait_for_disconnect(receive, self._stream))
            try:
                await self._stream_events(send, stall_timeout)
            except TimeoutError:
                self._stream.stop("slow")
                _log.warning("a slow reader was dropped", extra={"session": self._session, "seq": self._stream.seq})
                await abort_connection(scope)  # it does not read, so it gets no closing frames
                return
            finally:
                disconnected.cancel()
                await asyncio.wait([disconnected])
                self._on_stream_end()
            await self._send_end(send)

    async def _begin(self, send: Send) -> None:
        """Send the head of the response."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

    async def _stream_events(self, send: Send, stall_timeout: StallTimeout) -> None:
        await self._write(send, stall_timeout, self._head)
        heartbeat = self._context.settings.heartbeat_seconds
        async with aclosing(self._stream.batches(heartbeat)) as batches:
            async for entries in batches:
                body = self._encode(entries)
                if _log.isEnabledFor(logging.DEBUG):
                    _log.debug("%s", body.decode(), extra={"session": self._session})
                await self._write(send, stall_timeout, body)
                if self._is_done():
                    return

    def _push(self, writer: ChunkWriter, entries: Sequence[EncodedEvent]) -> bool:
        """Write events to the connection at once, unless its client is slow."""
        if not writer.is_ready or _log.isEnabledFor(logging.DEBUG):
            return False
        body = self._encode(entries)
        if body:
            writer.write(body)
        if self._is_done():
            self._stream.stop()
        return True

    async def _send_end(self, send: Send) -> None:
        body = self._closing()
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await send({"type": "http.response.body", "body": body, "more_body": False})

    def _encode(self, entries: Sequence[EncodedEvent]) -> bytes:
        """Encode a batch of events. An empty batch is a heartbeat."""
        return self._encoder.sse(entries, self._session) if entries else _HEARTBEAT

    def _is_done(self) -> bool:
        return False

    def _closing(self) -> bytes:
        """Close what the dialect has open, and name the cursor to resume from."""
        body = b""
        reason, dialect = self._stream.end_reason, self._encoder.dialect
        if reason in (None, "store"):
            body = b"".join(dialect.sse(frame) for frame in closing_frames(dialect, reason))
        return body + self._goodbye()

    def _goodbye(self) -> bytes:
        reason = self._stream.end_reason
        if reason is None or self._encoder.dialect.name != "native":
            return b""
        return _event("goodbye", goodbye_frame(self._session, reason, self._stream.seq))

    def _on_stream_end(self) -> None:
        """Called once the last batch is written, or the client has disconnected."""

    async def _write(self, send: Send, stall_timeout: StallTimeout, body: bytes) -> None:
        """Write to the client. Raises `TimeoutError` if it accepts no data for too long."""
        if body:
            await stall_timeout.send(lambda: send({"type": "http.response.body", "body": body, "more_body": True}))


def _event(name: str, data: JsonObject) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(data))
