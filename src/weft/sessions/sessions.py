"""All sessions of a store: made, found, copied, carried elsewhere, and thrown away."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.events import FileAccepted, FileChanged
from weft.core.ids import new_id
from weft.core.payload import Payload
from weft.core.tools import ToolCall
from weft.sessions.archive import Head, archive, unarchive
from weft.sessions.delegates import close_delegates
from weft.sessions.errors import NoSuchBlob, NoSuchSession, SessionBusy
from weft.sessions.lease import Lease, this_holder
from weft.sessions.past import read_past, recover
from weft.sessions.recovery import Unfinished
from weft.sessions.session import Session
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, SessionPage, Store, events_of

_BATCH = 500
Names = list[str]
Events = list[Event]

_QUIET = frozenset({"exchange_response", "session_rewound", "file_accepted"})


class Sessions:
    """The sessions of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def create(
        self, *, title: str = "", session: str | None = None, owner: str = "", kind: str = "", **settings: Any
    ) -> SessionInfo:
        """A new session. Settings are those of `SessionSettings`; without a title it gets one by its first request."""
        kept = SessionSettings.of(SessionSettings(**settings).data())
        info = SessionInfo(id=session or new_id("ses"), owner=owner, kind=kind, title=title, settings=kept.data())
        await self.store.create(info)
        return await self.store.info(info.id)

    async def open(self, session: str, *, force: bool = False, **options: Any) -> Session:
        """Go on with a session. See `Session.open`."""
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
        """Those whose title holds the text, the last changed first: all, or those of an owner or a kind."""
        return await self.store.list(search=search, limit=limit, after=after, owner=owner, kind=kind)

    async def rename(self, session: str, title: str) -> None:
        await self.store.rename(session, title)

    async def delete(self, session: str) -> None:
        """With its log, and with the blobs that no other session has. Whoever has it open can write no more."""
        await self.store.delete(session)

    async def recover(self, left: Names | None = None) -> Names:
        """Close what dead processes left open, in all sessions, and throw away what they left half copied. Gives those
        that were closed.

        A session with a call that may be run again, or with requests that wait, goes on when it is opened. Whoever is
        about to do that gives `left`: they are added to it and not touched.
        """
        for draft in await self.store.abandoned():
            with suppress(NoSuchSession):
                await self.store.delete(draft)
        recovered: Names = []
        cursor: str | None = None
        while True:
            page = await self.store.list(limit=200, after=cursor)
            recovered += [info.id for info in page.sessions if await self._recover(info, left)]
            cursor = page.next
            if cursor is None:
                return recovered

    async def fork(self, session: str, at: int | None = None, *, title: str | None = None) -> SessionInfo:
        """A new session that has the log of this one up to an event, and goes on by itself.

        What is open at the event is closed in the fork as after a crash; an event inside the end of a turn stands for
        the one before that.
        """
        info = await self.store.info(session)
        at = info.last_seq if at is None else at
        if not 0 <= at <= info.last_seq:
            raise WeftError(f"The log has the events 1 to {info.last_seq}; there is no {at} to fork at.")
        open_at = Unfinished()
        calls: set[str] = set()
        async for event in events_of(self.store, session, upto=at):
            open_at.feed(event)
            if isinstance(event.data, ToolCall):
                calls.add(event.data.id)
        at = open_at.whole_upto
        kept = SessionSettings.of(info.settings)
        dropped = [(after, min(upto, at)) for after, upto in kept.dropped if after < at]
        fork = SessionInfo(
            id=new_id("ses"),
            owner=info.owner,
            kind=info.kind,
            title=title if title is not None else info.title,
            parent=session,
            parent_seq=at,
            epoch=info.epoch,
            settings=msgspec.structs.replace(kept, dropped=dropped, always=[]).data(),
        )
        delegates = [delegate for delegate in await self.store.delegates(session) if delegate.cause in calls]
        await self._fill(fork, self._with_contents(session, at, kept.files), delegates)
        return await self.store.info(fork.id)

    def export(self, session: str) -> AsyncIterator[bytes]:
        """The session as the lines of one file."""
        return archive(self.store, session)

    async def import_from(self, file: BinaryIO, *, owner: str = "", **settings: Any) -> SessionInfo:
        """A new session from an exported one. Tools, permissions and folder are as given here, never as in the file."""
        items = unarchive(file)
        head = await anext(items)
        assert isinstance(head, Head)
        named = SessionSettings(model=head.model, dropped=head.dropped)
        kept = SessionSettings.of(msgspec.structs.replace(named, **settings).data())
        info = SessionInfo(
            id=new_id("ses"),
            owner=owner,
            title=head.title[:200],
            created=head.created,
            epoch=head.epoch,
            settings=kept.data(),
        )
        await self._fill(info, items)
        return await self.store.info(info.id)

    # --- copying -----------------------------------------------------------------------------------------------------

    async def _with_contents(
        self, session: str, upto: int, files: Mapping[str, str] | None = None
    ) -> AsyncIterator[Event | bytes]:
        """The events, and the contents of a project's files: those that it began with, and those that events name."""
        for digest in (files or {}).values():
            with suppress(NoSuchBlob):
                yield await self.store.blob(session, digest)
        async for event in events_of(self.store, session, upto=upto):
            for digest in _contents_named(event.data):
                with suppress(NoSuchBlob):  # a file of a folder: it is there and not here
                    yield await self.store.blob(session, digest)
            yield event

    async def _fill(
        self, info: SessionInfo, items: AsyncIterable[object], delegates: Sequence[SessionInfo] = ()
    ) -> None:
        """Make a session of copied events: whole or not at all, whenever the process dies."""
        await self.store.create(info, draft=True)
        try:
            lease = await self.store.acquire(info.id, this_holder())
            await self._copy(lease, items)
            past = await read_past(self.store, info.id, SessionSettings.of(info.settings))
            await recover(self.store, lease, past, drop_waiting=True)
            for delegate in delegates:
                await self._copy_delegate(delegate, info.id)
            await self.store.finish(lease)
            await self.store.release(lease)
        except BaseException:
            await self.store.delete(info.id)
            raise

    async def _copy_delegate(self, delegate: SessionInfo, parent: str) -> None:
        """It is nobody's but its parent's, and goes with it as long as that is a draft."""
        copy = msgspec.structs.replace(delegate, id=new_id("ses"), parent=parent)
        await self.store.create(copy)
        lease = await self.store.acquire(copy.id, this_holder())
        await self._copy(lease, self._with_contents(delegate.id, delegate.last_seq))
        await recover(self.store, lease, await read_past(self.store, copy.id, SessionSettings()))
        await self.store.release(lease)
        for inner in await self.store.delegates(delegate.id):
            await self._copy_delegate(inner, copy.id)

    async def _copy(self, lease: Lease, items: AsyncIterable[object]) -> None:
        """Events keep their numbers and epochs; the writer's epoch is above them all."""
        events: Events = []
        async for item in items:
            if isinstance(item, bytes):
                await self.store.put_blob(lease.session, item)
            elif isinstance(item, Event):
                events.append(_renamed(item, lease.session))
            if len(events) >= _BATCH:
                await self.store.append(lease, events)
                await self.store.renew(lease)  # a long copy is not an abandoned one
                events = []
        if events:
            await self.store.append(lease, events)

    async def _recover(self, info: SessionInfo, left: Names | None) -> bool:
        last = await self.store.read(info.id, after=info.last_seq - 1)
        if not last or last[-1].type in _QUIET:
            return False
        try:
            lease = await self.store.acquire(info.id, this_holder())
        except SessionBusy:
            return False  # it runs
        try:
            past = await read_past(self.store, info.id, SessionSettings.of(info.settings))
            if left is not None and (past.unfinished.repeatable or past.waiting):
                left.append(info.id)
                return False
            if past.unfinished.repeatable:
                return False
            await close_delegates(self.store, info.id)
            return bool(await recover(self.store, lease, past))
        finally:
            await self.store.release(lease)


def _renamed(event: Event, session: str) -> Event:
    return msgspec.structs.replace(event, session=session, id=f"{session}-{event.epoch}-{event.seq}")


def _contents_named(payload: Payload) -> list[str]:
    """The digests of contents that an event tells of."""
    named: list[str | None] = []
    if isinstance(payload, FileChanged):
        named = [payload.found, payload.hash]
    elif isinstance(payload, FileAccepted):
        named = [payload.hash]
    return [digest for digest in named if digest is not None]
