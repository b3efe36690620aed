"""Closes the exchange that a crashed writer left open in a log."""

from collections.abc import Sequence

from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.events import ConversationDequeued, ConversationQueued, SessionResumed
from heald.sessions.history import SessionHistory
from heald.sessions.leases import Lease
from heald.sessions.store import Store

_COPIED = "The session was copied without what waited."


async def recover(store: Store, lease: Lease, history: SessionHistory, *, drop_waiting: bool = False) -> list[Event]:
    """Close the exchange that a crashed writer left open, in one transaction. Returns the new events.

    Queued requests stay for the next writer, or are dropped in a copy of the session.
    """
    dropped = list(history.waiting) if drop_waiting else []
    if history.unfinished.exchange is None and not dropped:
        return []
    return await _close_exchange(store, lease, history, dropped)


async def _close_exchange(
    store: Store, lease: Lease, history: SessionHistory, dropped: Sequence[ConversationQueued]
) -> list[Event]:
    events: list[Event] = []
    bus = EventBus(lease.session, seq=history.seq, epoch=lease.epoch)
    bus.subscribe(events.append)
    bus.publish(SessionResumed(history.seq))
    bus.publish_all(ConversationDequeued(queued.request, _COPIED) for queued in dropped)
    bus.exchange = history.unfinished.exchange
    bus.publish_all(history.unfinished.closing_payloads())
    for event in events:
        history.feed(event)
    await store.append(lease, events, work="waiting" if history.waiting else "idle")
    return events
