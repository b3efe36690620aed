"""Copies the log of a session into a new one: completely or, after a crash, not at all.

The copy of an event has the same number, epoch, time, exchange, type and data, byte by byte. Only its `session` is
another one, and its `id`, which begins with the name of the session.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from heald.core.client_events import ResponseRequested
from heald.core.envelope import Event, is_event
from heald.core.events import FileAccepted, FileChanged
from heald.core.ids import new_id
from heald.core.messages import ToolResult
from heald.core.payload import Payload
from heald.sessions.history import SessionHistory
from heald.sessions.leases import Lease, new_holder
from heald.sessions.recovery import recover
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_errors import NoSuchBlob

_BATCH = 500

FinishLog = Callable[[Lease, SessionHistory], Awaitable[object]]
"""Writes the end of a copied log."""


class SessionCopies:
    """Creates sessions of a store from the events of other ones."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read_log(
        self, session: str, upto: int, files: Mapping[str, str] | None = None
    ) -> AsyncIterator[Event | bytes]:
        """Yield the initial files of a project, then each event after the contents that it names."""
        for digest in (files or {}).values():
            with suppress(NoSuchBlob):
                yield await self._store.blob(session, digest)
        async for event in iterate_events(self._store, session, upto=upto):
            for digest in contents_named(event.data):
                with suppress(NoSuchBlob):  # a file of a folder is not in the store
                    yield await self._store.blob(session, digest)
            yield event

    async def copy_contents(self, source: str, target: str, payloads: Sequence[Payload]) -> None:
        """Copy the contents that payloads name from one session to another."""
        for payload in payloads:
            for digest in contents_named(payload):
                with suppress(NoSuchBlob):
                    await self._store.put_blob(target, await self._store.blob(source, digest))

    async def create(
        self,
        info: SessionInfo,
        items: AsyncIterable[object],
        delegates: Sequence[SessionInfo] = (),
        *,
        finish_log: FinishLog | None = None,
    ) -> None:
        """Create a session from copied events and contents, and copies of delegates. An open exchange is closed as
        after a crash, unless `finish_log` writes the end of the log."""
        await self._store.create(info, draft=True)
        try:
            lease = await self._store.acquire(info.id, new_holder())
            history = SessionHistory(SessionSettings.of(info.settings))
            await self._copy(lease, items, history)
            if finish_log is None:
                await recover(self._store, lease, history, drop_waiting=True)
            else:
                await finish_log(lease, history)
            for delegate in delegates:
                await self._copy_delegate(delegate, info.id)
            await self._store.finish(lease)
            await self._store.release(lease)
        except BaseException:
            await self._store.delete(info.id)
            raise

    async def _copy_delegate(self, delegate: SessionInfo, parent: str) -> None:
        """Copy a delegate. It is deleted with its parent as long as that is a draft."""
        copy = msgspec.structs.replace(delegate, id=new_id("ses"), parent=parent)
        await self._store.create(copy)
        lease = await self._store.acquire(copy.id, new_holder())
        history = SessionHistory(SessionSettings())
        await self._copy(lease, self.read_log(delegate.id, delegate.last_seq), history)
        await recover(self._store, lease, history)
        await self._store.release(lease)
        for inner in await self._store.delegates(delegate.id):
            await self._copy_delegate(inner, copy.id)

    async def _copy(self, lease: Lease, items: AsyncIterable[object], history: SessionHistory) -> None:
        """Append copied events, and feed them to a history once they are stored. They keep their numbers and epochs,
        which are below the epoch of the writer."""
        events: list[Event] = []
        async for item in items:
            if isinstance(item, bytes):
                await self._store.put_blob(lease.session, item)
            elif is_event(item):
                events.append(_renamed(item, lease.session))
            if len(events) >= _BATCH:
                await self._append(lease, events, history)
                await self._store.renew(lease)  # a long copy is not abandoned
                events = []
        if events:
            await self._append(lease, events, history)

    async def _append(self, lease: Lease, events: Sequence[Event], history: SessionHistory) -> None:
        await self._store.append(lease, events)
        for event in events:
            history.feed(event)


def _renamed(event: Event, session: str) -> Event:
    return msgspec.structs.replace(event, session=session, id=f"{session}-{event.epoch}-{event.seq}")


def contents_named(payload: Payload) -> list[str]:
    """Return the digests of the contents that an event names."""
    named: list[str | None] = []
    if isinstance(payload, FileChanged):
        named = [payload.found, payload.hash]
    elif isinstance(payload, FileAccepted):
        named = [payload.hash]
    elif isinstance(payload, ToolResult) and payload.whole is not None:
        named = [payload.whole.blob]
    elif isinstance(payload, ResponseRequested):
        named = [payload.input]
    return [digest for digest in named if digest is not None]
