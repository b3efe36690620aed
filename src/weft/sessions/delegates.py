"""Agents that work for a session: each conversation of theirs is a session too, whose parent is the one it works for.

They are listed with their parent only, go with it when it is deleted, and are closed with it after a crash.
"""

from collections.abc import AsyncIterator, Mapping, Sequence

from weft.core.envelope import Event
from weft.core.events import ExchangeRequest, ExchangeResponse
from weft.core.tools import ToolCall
from weft.sessions.lease import Lease, this_holder
from weft.sessions.past import read_past, recover
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.sessions.title import title_of


class Delegates:
    """Stores what is heard of the agents that work for one session."""

    def __init__(self, store: Store, info: SessionInfo) -> None:
        self._store = store
        self._info = info
        self._leases: dict[str, Lease] = {}
        self._askers: dict[str, str] = {}  # by call, the session that made it

    async def append(self, session: str, events: Sequence[Event], blobs: Mapping[str, bytes]) -> None:
        lease = self._leases.get(session) or await self._begin(session, events[0])
        await self._store.append(lease, events, blobs)
        for event in events:
            if isinstance(event.data, ToolCall):
                self._askers[event.data.id] = session
        if isinstance(events[-1].data, ExchangeResponse):
            del self._leases[session]
            await self._store.release(lease)

    async def _begin(self, session: str, first: Event) -> Lease:
        request = first.data
        cause = request.cause if isinstance(request, ExchangeRequest) else None
        title = title_of(request.message) if isinstance(request, ExchangeRequest) else ""
        info = SessionInfo(
            id=session,
            owner=self._info.owner,
            title=title,
            parent=self._askers.get(cause or "", self._info.id),
            cause=cause or "",
        )
        await self._store.create(info)
        self._leases[session] = lease = await self._store.acquire(session, this_holder())
        return lease


async def delegates_of(store: Store, session: str) -> AsyncIterator[SessionInfo]:
    """All that worked for a session, and for those that did."""
    for info in await store.delegates(session):
        yield info
        async for inner in delegates_of(store, info.id):
            yield inner


async def close_delegates(store: Store, session: str) -> None:
    """Close what a dead writer left open. Whoever calls this has the session."""
    async for info in delegates_of(store, session):
        last = await store.read(info.id, after=info.last_seq - 1)
        if last and isinstance(last[-1].data, ExchangeResponse):
            continue
        lease = await store.acquire(info.id, this_holder(), force=True)
        await recover(store, lease, await read_past(store, info.id, SessionSettings()))
        await store.release(lease)
