"""Follows one exchange of a session in its log, from any event on, while it runs or after its end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from weft.core.envelope import Event
from weft.core.events import ExchangeResponse
from weft.server.context import ServerContext
from weft.server.event_stream import EventStream
from weft.sessions.store import SessionInfo


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
