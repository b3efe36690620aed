"""The logs of the agents that work for a session."""

from collections.abc import Mapping, Sequence

from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.core.messages import ToolCall
from heald.sessions.history import read_history
from heald.sessions.leases import Lease, new_holder
from heald.sessions.recovery import recover
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import EncodedEvents, Store
from heald.sessions.titles import make_title


class DelegateLogs:
    """Stores the events of the agents that work for one session, each in a log of its own."""

    def __init__(self, store: Store, info: SessionInfo) -> None:
        self._store = store
        self._info = info
        self._leases: dict[str, Lease] = {}
        self._callers: dict[str, str] = {}  # the session that made a call, by call

    async def append(self, session: str, events: Sequence[Event], blobs: Mapping[str, bytes]) -> EncodedEvents:
        lease = self._leases.get(session) or await self._begin(session, events[0])
        encoded = await self._store.append(lease, events, blobs)
        for event in events:
            if isinstance(event.data, ToolCall):
                self._callers[event.data.id] = session
        if isinstance(events[-1].data, ExchangeResponse):
            del self._leases[session]
            await self._store.release(lease)
        return encoded

    async def _begin(self, session: str, first: Event) -> Lease:
        request = first.data
        cause = request.cause if isinstance(request, ExchangeRequest) else None
        title = make_title(request.message) if isinstance(request, ExchangeRequest) else ""
        info = SessionInfo(
            id=session,
            owner=self._info.owner,
            title=title,
            parent=self._callers.get(cause or "", self._info.id),
            cause=cause or "",
        )
        await self._store.create(info)
        self._leases[session] = lease = await self._store.acquire(session, new_holder())
        return lease


async def close_delegates(store: Store, delegates: Sequence[SessionInfo]) -> None:
    """Close what a crashed writer left open in the logs of its delegates. The caller holds the lease of the session."""
    for info in delegates:
        last = await store.read(info.id, after=info.last_seq - 1)
        if last and isinstance(last[-1].data, ExchangeResponse):
            continue
        lease = await store.acquire(info.id, new_holder(), force=True)
        await recover(store, lease, await read_history(store, info.id, SessionSettings()))
        await store.release(lease)
