"""Finds events that are worth a notification in stored logs."""

from collections.abc import AsyncIterator

from heald.core.envelope import Event
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import PAGE, Store, iterate_delegates
from heald.sessions.store_errors import NoSuchSession
from heald_notify.notification import EVENT_TYPES

_LISTED = 200


async def scan_logs(
    store: Store, since: float, until: float = float("inf"), *, owner: str | None = None, session: str | None = None
) -> AsyncIterator[tuple[SessionInfo, Event]]:
    """Yield the events of a time in the logs of all sessions, of an owner or of one session, with the session that a
    person sees."""
    async for info in _changed_sessions(store, since, owner, session):
        logs = [info, *[delegate async for delegate in iterate_delegates(store, info.id)]]
        for log in logs:
            for event in await _read_events(store, log, since):
                if event.time <= until:
                    yield info, event


async def _changed_sessions(
    store: Store, since: float, owner: str | None, session: str | None
) -> AsyncIterator[SessionInfo]:
    if session is not None:
        yield await store.info(session)
        return
    after: str | None = None
    while True:
        page = await store.list(limit=_LISTED, after=after, owner=owner)
        for info in page.sessions:  # the last changed first
            if info.updated < since:
                return
            yield info
        after = page.next
        if after is None:
            return


async def _read_events(store: Store, info: SessionInfo, since: float) -> list[Event]:
    """Read a log backwards, as far as its events are not older."""
    events: list[Event] = []
    end = info.last_seq
    while end > 0:
        start = max(0, end - PAGE)
        try:
            page = await store.read(info.id, after=start, upto=end)
        except NoSuchSession:
            return []
        events = [event for event in page if event.type in EVENT_TYPES and event.time >= since] + events
        if not page or page[0].time < since:
            break
        end = start
    return events
