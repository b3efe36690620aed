"""Server-sent events: a session's log from a cursor on, or one exchange, up to its end or to where it waits
for the client."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from weft.core.envelope import Event
from weft.core.events import ExchangeResponse
from weft.core.json import JsonObject, encode
from weft.dialects.dialect import CUT_SHORT, NOT_STORED, Dialect, ExchangeDialect, Frame
from weft.dialects.registry import open_dialect
from weft.server.connections import ChunkWriter, Patience
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.event_hub import EncodedEvent
from weft.server.event_stream import DialectEncoder, EndReason, EventStream, catch_up
from weft.server.guard import Caller
from weft.server.stream_frames import read_cursor, reset_frame
from weft.sessions.store import SessionInfo

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_HEARTBEAT = b": heartbeat\n\n"
_EXCHANGE_HEARTBEAT = b": heartbeat\n"
"""A comment without a blank line: some readers take that line for the end of an event without data."""

_log = logging.getLogger("weft.server.sse")


async def stream_events(context: ServerContext, caller: Caller, info: SessionInfo, request: Request) -> Response:
    """The response to `GET /sessions/{id}/events`."""
    dialect = open_dialect(request.query_params.get("dialect", "native"), info.id)
    given = request.headers.get("last-event-id", request.query_params.get("after"))
    cursor = read_cursor(given, info)
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
        patience = Patience(scope, self._context.settings.limits.stall_seconds)
        with self._context.streaming(self._caller, self._stream):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            writer: ChunkWriter | None = scope.get("state", {}).get("body_writer")  # of Weft's own server
            if writer is not None and scope["http_version"] == "1.1":
                self._stream.push = partial(self._push, writer)
            disconnected = asyncio.create_task(_wait_for_disconnect(receive, self._stream))
            try:
                await self._stream_events(send, patience)
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

    async def _stream_events(self, send: Send, patience: Patience) -> None:
        await self._write(send, patience, self._head)
        heartbeat = self._context.settings.heartbeat_seconds
        async with aclosing(self._stream.batches(heartbeat)) as batches:
            async for entries in batches:
                body = self._encode(entries)
                if _log.isEnabledFor(logging.DEBUG):
                    _log.debug("%s", body.decode(), extra={"session": self._session})
                await self._write(send, patience, body)
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
        """Called once the last batch is written, or the client is gone."""

    async def _write(self, send: Send, patience: Patience, body: bytes) -> None:
        """Write to the client. Raises `TimeoutError` if it accepts no data for too long."""
        if body:
            await patience.send(lambda: send({"type": "http.response.body", "body": body, "more_body": True}))


def closing_frames(dialect: Dialect, reason: EndReason | None) -> list[Frame]:
    """The frames that close what a dialect has open, with an error if the events could not be stored."""
    return dialect.close(NOT_STORED) if reason == "store" else dialect.close()


def goodbye_frame(session: str, reason: EndReason, seq: int) -> JsonObject:
    return {"type": "goodbye", "session": session, "reason": reason, "resume": seq}


def _event(name: str, data: JsonObject) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(data))


async def abort_connection(scope: Scope) -> None:
    """Close a connection without sending what is buffered. Does nothing under servers that do not support it."""
    abort = scope.get("state", {}).get("abort_connection")
    if abort is not None:
        abort()
        await asyncio.sleep(0)  # lets the server process the close


async def _wait_for_disconnect(receive: Receive, stream: EventStream) -> None:
    """Stop the stream when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.stop()


# --- one exchange ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExchangePart:
    """The part of an exchange that one response holds."""

    exchange: str
    begin: int
    """The seq after which it begins."""
    pause_from: int | None = None
    """The response ends where the exchange waits for the client, from this seq on; None: only where it ends."""
    is_continued: bool = False
    """An earlier response held the beginning."""
    answered: frozenset[str] = frozenset()
    """The calls that the client has just answered: until they end there is no pause."""


class ExchangeFrames:
    """The frames of a part of an exchange, in one dialect."""

    def __init__(self, dialect: Dialect, part: ExchangePart) -> None:
        self.dialect = dialect
        self.part = part
        self.is_done = False
        """The last frame was returned."""

    def begin(self) -> list[Frame]:
        """The frames that begin the response."""
        dialect = self.dialect
        if self.part.is_continued and isinstance(dialect, ExchangeDialect):
            return dialect.resume()
        return []

    def feed(self, entries: Sequence[EncodedEvent]) -> list[Frame]:
        frames: list[Frame] = []
        for entry in entries:
            event = entry.event
            if self.is_done:
                break
            if event.exchange == self.part.exchange:
                frames += self.dialect.feed(event)
            if event.type == "text_delta":
                continue  # no exchange ends or waits there
            if event.exchange == self.part.exchange and event.type == "exchange_response":
                self.is_done = True
                frames += self.dialect.close()
            elif self._is_pause(event.seq):
                self.is_done = True
                frames += self._pause()
        return frames

    def _is_pause(self, seq: int) -> bool:
        dialect, first = self.dialect, self.part.pause_from
        if first is None or seq < first or not isinstance(dialect, ExchangeDialect):
            return False
        return dialect.is_waiting and not dialect.waiting_calls & self.part.answered

    def _pause(self) -> list[Frame]:
        return self.dialect.pause() if isinstance(self.dialect, ExchangeDialect) else []


class ExchangeStreamResponse(EventStreamResponse):
    """Server-sent events of a part of an exchange. `on_disconnect` is called if the client goes before the end."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        info: SessionInfo,
        frames: ExchangeFrames,
        *,
        on_disconnect: Callable[[], object] | None = None,
        on_end: Callable[[], object] | None = None,
    ) -> None:
        head = b"".join(frames.dialect.sse(frame) for frame in frames.begin())
        super().__init__(context, caller, info, frames.dialect, frames.part.begin, head)
        self._stream.is_response = True
        self.headers["X-Weft-Session"] = info.id
        self.headers["X-Weft-Exchange"] = frames.part.exchange
        self._frames = frames
        self._on_disconnect = on_disconnect
        self._on_end = on_end

    def _encode(self, entries: Sequence[EncodedEvent]) -> bytes:
        if not entries:
            return _EXCHANGE_HEARTBEAT
        return b"".join(self._frames.dialect.sse(frame) for frame in self._frames.feed(entries))

    def _is_done(self) -> bool:
        return self._frames.is_done

    def _closing(self) -> bytes:
        if self._frames.is_done:
            return b""
        dialect = self._frames.dialect
        frames = closing_frames(dialect, self._stream.end_reason)
        return b"".join(dialect.sse(frame) for frame in frames) + self._goodbye()

    def _on_stream_end(self) -> None:
        if not self._frames.is_done and self._stream.end_reason is None and self._on_disconnect is not None:
            self._on_disconnect()
        if self._frames.is_done and self._on_end is not None:
            self._on_end()


async def collect_frames(
    request: Request, context: ServerContext, caller: Caller, info: SessionInfo, frames: ExchangeFrames
) -> list[Frame] | None:
    """Read all frames of a part of an exchange. Returns None if the client closed the connection."""
    stream = EventStream(context.sessions.store, context.open_sessions.hub, info.id, frames.part.begin)
    stream.is_response = True
    watching = asyncio.create_task(_wait_for_disconnect(request.receive, stream))
    collected = frames.begin()
    try:
        with context.streaming(caller, stream):
            async with aclosing(stream.batches(context.settings.heartbeat_seconds)) as batches:
                async for entries in batches:
                    collected += frames.feed(entries)
                    if frames.is_done:
                        break
    finally:
        watching.cancel()
        await asyncio.wait([watching])
    if frames.is_done:
        return collected
    if stream.end_reason is None:
        return None
    why = NOT_STORED if stream.end_reason == "store" else CUT_SHORT
    raise ApiError("unavailable", why, headers={"Retry-After": "5"})


async def follow_exchange(
    context: ServerContext, info: SessionInfo, exchange: str, after: int = 0
) -> AsyncGenerator[Event]:
    """Yield the events of an exchange with a seq above `after`. The last one is its `exchange_response`, unless the
    server stops before it, the session is deleted, or its store fails."""
    stream = EventStream(context.sessions.store, context.open_sessions.hub, info.id, after)
    stream.is_response = True
    with context.ending(stream):
        async with aclosing(stream.batches(context.settings.heartbeat_seconds)) as batches:
            async for entries in batches:
                for entry in entries:
                    if entry.event.exchange != exchange:
                        continue
                    yield entry.event
                    if isinstance(entry.event.data, ExchangeResponse):
                        return
