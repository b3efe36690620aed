"""Checks whether a session can be read."""

from collections.abc import Callable

from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events

READINGS = 3
"""How often a log with a problem is read: a server may thin it out, or append to it, while it is read."""


async def check_session(store: Store, info: SessionInfo, feed: Callable[[Event], object] = id) -> str | None:
    """Read a session as opening it does, and call `feed` with each event. Returns the problem, if there is one."""
    try:
        whole = info if info.cause is not None else await store.info(info.id)
        SessionSettings.of(whole.settings)
        seq = 0
        async for event in iterate_events(store, info.id):
            seq = event.seq
            feed(event)
        if seq < whole.last_seq:
            return f"its log ends at event {seq}, not at {whole.last_seq}"
        for digest in await store.list_blobs(info.id):
            await store.blob(info.id, digest)
    except HealdError as error:
        return str(error).rstrip(".")
    return None
