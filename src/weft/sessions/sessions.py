"""All sessions of a store: made, found, copied, carried elsewhere, and thrown away."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.events import FileChanged
from weft.core.ids import new_id
from weft.sessions.archive import Head, archive, unarchive
from weft.sessions.errors import NoSuchBlob, SessionBusy
from weft.sessions.lease import Lease, this_holder
from weft.sessions.past import read_past, recover
from weft.sessions.recovery import Unfinished
from weft.sessions.session import Session
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, SessionPage, Store, events_of

_BATCH = 500
Names = list[str]
Events = list[Event]

_QUIET = frozenset({"exchange_response", "session_resumed"})


class Sessions:
    """The sessions of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def create(
        self, *, title: str = "", session: str | None = None, owner: str = "", **settings: Any
    ) -> SessionInfo:
        """A new session. Settings are those of `SessionSettings`; without a title it gets one by its first request."""
        kept = SessionSettings.of(SessionSettings(**settings).data())
        info = SessionInfo(id=session or new_id("ses"), owner=owner, title=title, settings=kept.data())
        await self.store.create(info)
        return await self.store.info(info.id)

    async def open(self, session: str, *, force: bool = False, **options: Any) -> Session:
        """Go on with a session. See `Session.open`."""
        return await Session.open(self.store, session, force=force, **options)

    async def list(
        self, *, search: str = "", limit: int = 50, after: str | None = None, owner: str | None = None
    ) -> SessionPage:
        """Those whose title holds the text, the last changed first: all, or those of an owner."""
        return await self.store.list(search=search, limit=limit, after=after, owner=owner)

    async def rename(self, session: str, title: str) -> None:
        await self.store.rename(session, title)

    async def delete(self, session: str) -> None:
        """With its log, and with the blobs that no other session has. Whoever has it open can write no more."""
        await self.store.delete(session)

    async def recover(self) -> Names:
        """Close what dead processes left open, in all sessions. Gives those where something was."""
        recovered: Names = []
        cursor: str | None = None
        while True:
            page = await self.store.list(limit=200, after=cursor)
            recovered += [info.id for info in page.sessions if await self._recover(info)]
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
        async for event in events_of(self.store, session, upto=at):
            open_at.feed(event)
        at = open_at.whole_upto
        kept = SessionSettings.of(info.settings)
        dropped = [(after, min(upto, at)) for after, upto in kept.dropped if after < at]
        fork = SessionInfo(
            id=new_id("ses"),
            owner=info.owner,
            title=title if title is not None else info.title,
            parent=session,
            parent_seq=at,
            epoch=info.epoch,
            settings=msgspec.structs.replace(kept, dropped=dropped).data(),
        )
        await self._fill(fork, self._with_contents(session, at))
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

    async def _with_contents(self, session: str, upto: int) -> AsyncIterator[Event | bytes]:
        """The events, and the contents that those of a project's files name."""
        async for event in events_of(self.store, session, upto=upto):
            if isinstance(event.data, FileChanged) and event.data.hash is not None:
                with suppress(NoSuchBlob):  # a file of a folder: it is there and not here
                    yield await self.store.blob(session, event.data.hash)
            yield event

    async def _fill(self, info: SessionInfo, items: AsyncIterable[object]) -> None:
        """Make a session of copied events: whole or not at all."""
        await self.store.create(info)
        try:
            lease = await self.store.acquire(info.id, this_holder())
            await self._copy(lease, items)
            past = await read_past(self.store, info.id, SessionSettings.of(info.settings))
            await recover(self.store, lease, past)
            await self.store.release(lease)
        except BaseException:
            await self.store.delete(info.id)
            raise

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
                events = []
        if events:
            await self.store.append(lease, events)

    async def _recover(self, info: SessionInfo) -> bool:
        last = await self.store.read(info.id, after=info.last_seq - 1)
        if not last or last[-1].type in _QUIET:
            return False
        try:
            lease = await self.store.acquire(info.id, this_holder())
        except SessionBusy:
            return False  # it runs
        try:
            past = await read_past(self.store, info.id, SessionSettings.of(info.settings))
            return bool(await recover(self.store, lease, past))
        finally:
            await self.store.release(lease)


def _renamed(event: Event, session: str) -> Event:
    return msgspec.structs.replace(event, session=session, id=f"{session}-{event.epoch}-{event.seq}")
