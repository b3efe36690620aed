"""Reads the part of a log that a stream needs before its first event."""

from collections.abc import Sequence

from heald.core.envelope import Event
from heald.core.events import ExchangeRequest
from heald.core.json import encode
from heald.sessions.store import PAGE, Store
from heald_server.dialects.dialect import Dialect
from heald_server.protocols.native.dialect import NativeDialect
from heald_server.streams.event_hub import BATCH_BYTES
from heald_server.streams.event_stream import LONG_LOG, TAIL_EVENTS


async def read_tail(store: Store, session: str, after: int, last: int) -> Sequence[bytes]:
    """Return the last events of a long log, from the start of an exchange on. Empty for a short log."""
    if last - after < LONG_LOG:
        return ()
    events = await store.read(session, after=last - TAIL_EVENTS, upto=last, limit=TAIL_EVENTS)
    written = [encode(event) for event in events]
    first, size = len(events), 0
    for number in reversed(range(len(events))):
        size += len(written[number])
        if size > BATCH_BYTES:
            break
        if isinstance(events[number].data, ExchangeRequest):
            first = number
    return written[first:]


async def catch_up(dialect: Dialect, store: Store, session: str, seq: int) -> Dialect:
    """Feed a dialect the exchange that is open at a cursor, so that it continues where the client left off."""
    if seq <= 0 or isinstance(dialect, NativeDialect):
        return dialect
    begin = await _begin_of_exchange(store, session, seq)
    while begin < seq and (events := await store.read(session, after=begin, upto=seq)):
        for event in events:
            dialect.feed(event)
        begin = events[-1].seq
    return dialect


async def _begin_of_exchange(store: Store, session: str, seq: int) -> int:
    """Return the seq before the last `exchange_request` up to a cursor."""
    upto = seq
    while upto > 0:
        after = max(upto - PAGE, 0)
        events: list[Event] = []
        while after < upto and (page := await store.read(session, after=after, upto=upto)):
            events += page
            after = page[-1].seq
        for event in reversed(events):
            if isinstance(event.data, ExchangeRequest):
                return event.seq - 1
        upto = max(upto - PAGE, 0)
    return 0
