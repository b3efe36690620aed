"""One exchange as a response: a stream of server-sent events, its frames at once, or its events."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.sessions.session_info import SessionInfo
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.frame import Frame
from heald_server.dialects.texts import CUT_SHORT, NOT_STORED
from heald_server.http.bounded_http import ChunkWriter
from heald_server.http.errors import ApiError
from heald_server.http.stall_timeout import StallTimeout
from heald_server.streams.event_hub import EncodedEvent
from heald_server.streams.event_stream import EventStream
from heald_server.streams.exchange_frames import ExchangeFrames
from heald_server.streams.sse import EventStreamResponse
from heald_server.streams.stream_end import closing_frames, wait_for_disconnect

_EXCHANGE_HEARTBEAT = b": heartbeat\n"
"""A comment without a blank line: some readers treat that line as the end of an event without data."""


class ExchangeStreamResponse(EventStreamResponse):
    """Server-sent events of a part of an exchange. `on_disconnect` is called if the client goes before the end.

    `failure` returns the response for an exchange that failed before it had any output. With it the head is held back
    until there is output, or for one heartbeat, so that a failure has a status.
    """

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        info: SessionInfo,
        frames: ExchangeFrames,
        *,
        on_disconnect: Callable[[], object] | None = None,
        on_end: Callable[[], object] | None = None,
        failure: Callable[[dict[str, str]], Response | None] | None = None,
    ) -> None:
        head = b"".join(frames.dialect.sse(frame) for frame in frames.begin())
        super().__init__(context, caller, info, frames.dialect, frames.part.begin, head)
        self._stream.is_response = True
        self.headers["X-Heald-Session"] = info.id
        self.headers["X-Heald-Exchange"] = frames.part.exchange
        self._frames = frames
        self._on_disconnect = on_disconnect
        self._on_end = on_end
        self._failure = failure
        self._has_begun = False
        self._must_begin = failure is None
        self._held = b""

    async def _begin(self, send: Send) -> None:
        if self._must_begin and not self._has_begun:
            self._has_begun = True
            await super()._begin(send)

    async def _write(self, send: Send, stall_timeout: StallTimeout, body: bytes) -> None:
        dialect = self._frames.dialect
        if isinstance(dialect, ExchangeDialect) and dialect.has_output:
            self._must_begin = True
        await self._begin(send)
        if not self._has_begun:
            self._held += body
            return
        body, self._held = self._held + body, b""
        await super()._write(send, stall_timeout, body)

    def _push(self, writer: ChunkWriter, entries: Sequence[EncodedEvent]) -> bool:
        return self._has_begun and not self._held and super()._push(writer, entries)

    async def _send_end(self, send: Send) -> None:
        if not self._has_begun and self._failure is not None and self._frames.is_done:
            named = {name: value for name, value in self.headers.items() if name.startswith("x-heald-")}
            response = self._failure(named)
            if response is not None:
                await send(
                    {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
                )
                await send({"type": "http.response.body", "body": response.body})
                return
        self._must_begin = True
        await self._begin(send)
        await super()._send_end(send)

    def _encode(self, entries: Sequence[EncodedEvent]) -> bytes:
        if not entries:
            self._must_begin = True
            return _EXCHANGE_HEARTBEAT
        return b"".join(self._frames.dialect.sse(frame) for frame in self._frames.feed(entries))

    def _is_done(self) -> bool:
        return self._frames.is_done

    def _closing(self) -> bytes:
        held, self._held = self._held, b""
        if self._frames.is_done:
            return held
        dialect = self._frames.dialect
        frames = closing_frames(dialect, self._stream.end_reason)
        return held + b"".join(dialect.sse(frame) for frame in frames) + self._goodbye()

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
    watching = asyncio.create_task(wait_for_disconnect(request.receive, stream))
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
