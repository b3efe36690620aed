"""The sessions of a store: created, listed, forked, exported, imported and deleted."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from heald.core.client_events import ResponseRequested
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import FileAccepted, FileChanged
from heald.core.ids import new_id
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.sessions.archive import ArchiveHead, export_lines, read_archive
from heald.sessions.delegate_logs import close_delegates
from heald.sessions.delegate_usage import add_delegate_usage
from heald.sessions.history import read_history
from heald.sessions.leases import Lease, new_holder
from heald.sessions.one_node import as_shared
from heald.sessions.recovery import recover
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo, SessionPage
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_errors import NoSuchBlob, NoSuchSession, SessionBusy
from heald.sessions.unfinished_exchange import UnfinishedExchange

_BATCH = 500
Names = list[str]
Events = list[Event]

_ALL = 1_000_000


class Sessions:
    """The sessions of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def create(
        self, *, title: str = "", session: str | None = None, owner: str = "", kind: str = "", **settings: Any
    ) -> SessionInfo:
        """Create a session. Settings are those of `SessionSettings`; the first request is the default title."""
        stored = SessionSettings.of(SessionSettings(**settings).data())
        info = SessionInfo(id=session or new_id("ses"), owner=owner, kind=kind, title=title, settings=stored.data())
        await self.store.create(info)
        return await self.store.info(info.id)

    async def open(self, session: str, *, force: bool = False, **options: Any) -> Session:
        """Open a session. See `Session.open`."""
        return await Session.open(self.store, session, force=force, **options)

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        """List sessions whose title contains the text, the last changed first: all, or those of an owner or a kind."""
        return await self.store.list(search=search, limit=limit, after=after, owner=owner, kind=kind)

    async def rename(self, session: str, title: str) -> None:
        await self.store.rename(session, title)

    async def delete(self, session: str) -> None:
        """Delete a session with its log and the blobs that no other session has. Its writer is fenced."""
        await self.store.delete(session)

    async def recover(self) -> Names:
        """Close the exchanges that crashed processes left open, and delete their unfinished copies. Returns the ids of
        the closed sessions.

        A session with a call that may be repeated, or with queued requests, continues when it is opened. Only sessions
        with open work are read.
        """
        await self.delete_drafts()
        return [name for name in await as_shared(self.store).claim_work(_ALL) if await self._recover(name)]

    async def delete_drafts(self) -> None:
        """Delete the unfinished copies of crashed processes."""
        for draft in await self.store.abandoned():
            with suppress(NoSuchSession):
                await self.store.delete(draft)

    async def fork(self, session: str, at: int | None = None, *, title: str | None = None) -> SessionInfo:
        """Create a session with the log of another one up to an event.

        An exchange that is open at the event is closed in the fork as after a crash. An event inside the end of a turn
        stands for the one before the end.
        """
        info = await self.store.info(session)
        at = info.last_seq if at is None else at
        if not 0 <= at <= info.last_seq:
            raise HealdError(f"The log has the events 1 to {info.last_seq}; there is no {at} to fork at.")
        open_at = UnfinishedExchange()
        calls: set[str] = set()
        async for event in iterate_events(self.store, session, upto=at):
            open_at.feed(event)
            if isinstance(event.data, ToolCall):
                calls.add(event.data.id)
        at = open_at.last_whole_seq
        stored = SessionSettings.of(info.settings)
        dropped = [(after, min(upto, at)) for after, upto in stored.dropped if after < at]
        fork = SessionInfo(
            id=new_id("ses"),
            owner=info.owner,
            kind=info.kind,
            title=title if title is not None else info.title,
            parent=session,
            parent_seq=at,
            epoch=info.epoch,
            settings=msgspec.structs.replace(stored, dropped=dropped, always=[]).data(),
        )
        delegates = [delegate for delegate in await self.store.delegates(session) if delegate.cause in calls]
        await self._fill(fork, self._with_contents(session, at, stored.files), delegates)
        return await self.store.info(fork.id)

    def export(self, session: str) -> AsyncIterator[bytes]:
        """Yield the session as the lines of an archive file."""
        return export_lines(self.store, session)

    async def import_from(self, file: BinaryIO, *, owner: str = "", **settings: Any) -> SessionInfo:
        """Create a session from an archive. Tools, permissions and folder are as given here, never as in the file."""
        items = read_archive(file)
        head = await anext(items)
        assert isinstance(head, ArchiveHead)
        named = SessionSettings(model=head.model, dropped=head.dropped)
        stored = SessionSettings.of(msgspec.structs.replace(named, **settings).data())
        info = SessionInfo(
            id=new_id("ses"),
            owner=owner,
            title=head.title[:200],
            created=head.created,
            epoch=head.epoch,
            settings=stored.data(),
        )
        await self._fill(info, items)
        return await self.store.info(info.id)

    # --- copying -----------------------------------------------------------------------------------------------------

    async def _with_contents(
        self, session: str, upto: int, files: Mapping[str, str] | None = None
    ) -> AsyncIterator[Event | bytes]:
        """Yield the initial files of a project, then each event after the contents that it names."""
        for digest in (files or {}).values():
            with suppress(NoSuchBlob):
                yield await self.store.blob(session, digest)
        async for event in iterate_events(self.store, session, upto=upto):
            for digest in _contents_named(event.data):
                with suppress(NoSuchBlob):  # a file of a folder is not in the store
                    yield await self.store.blob(session, digest)
            yield event

    async def _fill(
        self, info: SessionInfo, items: AsyncIterable[object], delegates: Sequence[SessionInfo] = ()
    ) -> None:
        """Create a session from copied events: completely or, after a crash, not at all."""
        await self.store.create(info, draft=True)
        try:
            lease = await self.store.acquire(info.id, new_holder())
            await self._copy(lease, items)
            history = await read_history(self.store, info.id, SessionSettings.of(info.settings))
            await recover(self.store, lease, history, drop_waiting=True)
            for delegate in delegates:
                await self._copy_delegate(delegate, info.id)
            await self.store.finish(lease)
            await self.store.release(lease)
        except BaseException:
            await self.store.delete(info.id)
            raise

    async def _copy_delegate(self, delegate: SessionInfo, parent: str) -> None:
        """Copy a delegate. It is deleted with its parent as long as that is a draft."""
        copy = msgspec.structs.replace(delegate, id=new_id("ses"), parent=parent)
        await self.store.create(copy)
        lease = await self.store.acquire(copy.id, new_holder())
        await self._copy(lease, self._with_contents(delegate.id, delegate.last_seq))
        await recover(self.store, lease, await read_history(self.store, copy.id, SessionSettings()))
        await self.store.release(lease)
        for inner in await self.store.delegates(delegate.id):
            await self._copy_delegate(inner, copy.id)

    async def _copy(self, lease: Lease, items: AsyncIterable[object]) -> None:
        """Append copied events. They keep their numbers and epochs, which are below the epoch of the writer."""
        events: Events = []
        async for item in items:
            if isinstance(item, bytes):
                await self.store.put_blob(lease.session, item)
            elif isinstance(item, Event):
                events.append(_renamed(item, lease.session))
            if len(events) >= _BATCH:
                await self.store.append(lease, events)
                await self.store.renew(lease)  # a long copy is not abandoned
                events = []
        if events:
            await self.store.append(lease, events)

    async def _recover(self, name: str) -> bool:
        try:
            lease = await self.store.acquire(name, new_holder())
        except (SessionBusy, NoSuchSession):
            return False  # it runs, or was deleted meanwhile
        try:
            info = await self.store.info(name)
            history = await read_history(self.store, name, SessionSettings.of(info.settings))
            if history.unfinished.repeatable:
                return False
            await close_delegates(self.store, name)
            if (unfinished := history.unfinished).exchange is not None:
                await add_delegate_usage(self.store, name, unfinished.call_ids, unfinished.tracker)
            elif not history.waiting:
                await self.store.append(lease, [], work="idle")  # its log was not known when the work was stored
            return bool(await recover(self.store, lease, history))
        finally:
            await self.store.release(lease)


def _renamed(event: Event, session: str) -> Event:
    return msgspec.structs.replace(event, session=session, id=f"{session}-{event.epoch}-{event.seq}")


def _contents_named(payload: Payload) -> list[str]:
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
