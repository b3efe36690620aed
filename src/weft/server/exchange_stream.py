"""Streams one exchange to the client that asked for it, up to its end or to where it waits for this client; or follows
it in the log, from any event on."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from starlette.requests import Request

from weft.core.envelope import Event
from weft.core.events import ExchangeResponse
from weft.dialects.dialect import CUT_SHORT, NOT_STORED, Dialect, ExchangeDialect, Frame
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.event_hub import EncodedEvent
from weft.server.event_stream import EventStream
from weft.server.guard import Caller
from weft.server.sse import EventStreamResponse, closing_frames
from weft.sessions.store import SessionInfo

_HEARTBEAT = b": heartbeat\n"
"""A comment without a blank line: some readers take that line for the end of an event without data."""


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
        self.headers["X-Weft-Session"] = info.id
        self.headers["X-Weft-Exchange"] = frames.part.exchange
        self._frames = frames
        self._on_disconnect = on_disconnect
        self._on_end = on_end

    def _encode(self, entries: Sequence[EncodedEvent]) -> bytes:
        if not entries:
            return _HEARTBEAT
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
    watching = asyncio.create_task(_wait_for_disconnect(request, stream))
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


async def _wait_for_disconnect(request: Request, stream: EventStream) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    stream.stop()


async def follow_exchange(
    context: ServerContext, info: SessionInfo, exchange: str, after: int = 0
) -> AsyncGenerator[Event]:
    """Yield the events of an exchange with a seq above `after`. The last one is its `exchange_response`."""
    stream = EventStream(context.sessions.store, context.open_sessions.hub, info.id, after)
    async with aclosing(stream.batches(context.settings.heartbeat_seconds)) as batches:
        async for entries in batches:
            for entry in entries:
                if entry.event.exchange != exchange:
                    continue
                yield entry.event
                if isinstance(entry.event.data, ExchangeResponse):
                    return
