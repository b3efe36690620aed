"""Stores a request for the process that claims the work of its session."""

from collections.abc import Awaitable, Callable

from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.events import ConversationQueued
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.sessions.history import read_history
from heald.sessions.leases import mark_dead, new_holder
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.sessions.store_errors import SessionBusy, StoreError


async def queue_request(
    store: Store,
    session: str,
    message: Message,
    *,
    client_request_id: str | None = None,
    output_schema: JsonObject | None = None,
    budget: JsonObject | None = None,
    admit: Callable[[], Awaitable[None]] | None = None,
) -> Event | None:
    """Store a request as queued, and release the session. Returns its event, whose `request` is the exchange; None if
    the session is not free, has work, or has the request already. `admit` raises if the request is not allowed."""
    try:
        lease = await store.acquire(session, new_holder())
    except SessionBusy:
        return None
    try:
        info = await store.info(session)
        history = await read_history(store, session, SessionSettings.of(info.settings))
        is_known = client_request_id is not None and client_request_id in history.requests
        if is_known or history.waiting or history.unfinished.exchange is not None:
            return None
        if admit is not None:
            await admit()
        bus = EventBus(session, seq=history.seq, epoch=lease.epoch)
        events: list[Event] = []
        bus.subscribe(events.append)
        bus.publish(ConversationQueued(1, new_id("ex"), message, client_request_id, None, output_schema, budget))
        await store.append(lease, events, work="waiting")
        return events[0]
    finally:
        try:
            await store.release(lease)
        except StoreError:
            mark_dead(lease.holder)
