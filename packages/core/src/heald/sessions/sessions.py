"""The sessions of a store: created, listed, forked, exported, imported and deleted."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.ids import new_id
from heald.sessions.archive import ArchiveHead, export_lines, read_archive
from heald.sessions.delegate_logs import close_delegates
from heald.sessions.delegate_usage import add_delegate_usage
from heald.sessions.fork_change import ForkChange
from heald.sessions.history import read_history
from heald.sessions.leases import new_holder
from heald.sessions.one_node import as_shared
from heald.sessions.recovery import recover
from heald.sessions.session import Session
from heald.sessions.session_copies import SessionCopies
from heald.sessions.session_fork import fork_session
from heald.sessions.session_info import SessionInfo, SessionPage
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, list_delegates
from heald.sessions.store_errors import NoSuchSession, SessionBusy

Names = list[str]

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

    async def fork(
        self,
        session: str,
        at: int | None = None,
        *,
        title: str | None = None,
        change: ForkChange | None = None,
        by: str = "",
    ) -> SessionInfo:
        """Create a session with the log of another one up to an event, the last one by default.

        Without a `change`, an exchange that is open at the event is closed in the fork as after a crash, and an event
        inside the end of a turn stands for the one before the end. With one, the fork waits to be opened, and continues
        from there then; see `ForkChange`. `parent_seq` is the last event that both have. `by` is who forks it, for the
        log.
        """
        if change is not None and change.model is not None and not isinstance(change.model, str):
            raise ConfigurationError("A stored session names its model; give the name, or fork an open session.")
        return await fork_session(self.store, session, at, title=title, change=change, by=by)

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
        await SessionCopies(self.store).create(info, items)
        return await self.store.info(info.id)

    async def _recover(self, name: str) -> bool:
        try:
            lease = await self.store.acquire(name, new_holder())
        except (SessionBusy, NoSuchSession):
            return False  # it runs, or was deleted meanwhile
        try:
            info = await self.store.info(name)
            history = await read_history(self.store, name, SessionSettings.of(info.settings))
            if history.unfinished.repeatable or history.unfinished.is_forked:
                return False
            await close_delegates(self.store, await list_delegates(self.store, name))
            if (unfinished := history.unfinished).exchange is not None:
                await add_delegate_usage(self.store, name, unfinished.call_ids, unfinished.tracker)
            elif not history.waiting:
                await self.store.append(lease, [], work="idle")  # its log was not known when the work was stored
            return bool(await recover(self.store, lease, history))
        finally:
            await self.store.release(lease)
