"""Sessions in one SQLite file, the embedded default.

One thread writes and one reads, so that neither waits for the other and no event loop for either. Appends that come
together share a transaction, hence one sync of the disk; each is acknowledged only after the commit. The deltas of a
message that still streams are acknowledged when they are in the journal of the process (`journaled_deltas`). Leases are
not synced: a loss of power ends the process that holds one.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from time import time
from typing import TypeVar

import msgspec

from heald.core.envelope import Event
from heald.core.json import JsonObject, encode
from heald.sessions.acquired_log import SHORT_LOG, AcquiredLog
from heald.sessions.database_thread import DatabaseThread
from heald.sessions.delta_journal import DeltaJournal
from heald.sessions.job_outcomes import GroupOutcome
from heald.sessions.journal_recovery import list_dead, recover_journal, recover_journals
from heald.sessions.journaled_deltas import JournaledDeltas, OnGroupStored, add_deltas
from heald.sessions.leases import LEASE_SECONDS, Lease, is_abandoned
from heald.sessions.news import News, deletion_news
from heald.sessions.session_info import SessionInfo, SessionPage, parse_cursor
from heald.sessions.sqlite_blobs import keep_blobs, read_blob
from heald.sessions.sqlite_changes import note_deletion
from heald.sessions.sqlite_commits import CommitLedger
from heald.sessions.sqlite_connection import open_connection
from heald.sessions.sqlite_damage import find_damage
from heald.sessions.sqlite_errors import translate_error
from heald.sessions.sqlite_log import LogWriter, PendingDeltas
from heald.sessions.sqlite_schema import migrate
from heald.sessions.sqlite_sharing import SqliteSharing
from heald.sessions.sqlite_statements import (
    configure_session,
    find_all_delegates,
    find_delegates,
    find_session,
    finish_draft,
    insert_session,
    list_digests,
    list_sessions,
    read_log,
    read_logs,
    rename_session,
    renew_lease,
    session_key,
)
from heald.sessions.store import PAGE, EncodedEvents, OnAppended
from heald.sessions.store_errors import NoSuchSession, SessionBusy, StoreError
from heald.sessions.stores import bad_store_url, refuse_news
from heald.sessions.work import Work

T = TypeVar("T")


class SqliteStore(SqliteSharing):
    """Stores sessions in a SQLite file. Several processes may open it; each session has one writer at a time.

    With `durable=False` commits are faster: a crash of the process loses nothing, a loss of power may.
    """

    def __init__(
        self, path: str | PathLike[str], *, patience: float = 5.0, durable: bool = True, node: str = ""
    ) -> None:
        make = partial(DatabaseThread, Path(path), patience=patience, durable=durable)
        self._log = LogWriter()
        self._groups: dict[asyncio.AbstractEventLoop, list[PendingDeltas]] = {}
        self._ledger = CommitLedger(Path(path))
        self._writer = make(writes=True, first=migrate, on_rollback=self._log.forget, ledger=self._ledger)
        self._writer.wait_open()
        self._reader = make(writes=False, first=lambda connection: connection.execute("PRAGMA query_only = ON"))
        try:
            self._reader.wait_open()
            super().__init__(Path(path), node)
            self._journals = Path(f"{path}-deltas")
            self._deltas = JournaledDeltas(
                DeltaJournal(self._journals / self._node),
                has_other_processes=lambda: self._others,
                run=lambda job: self._writer.submit(lambda _: job()),
                commit=self._submit_group,
            )
            if list_dead(self._journals, self._lock):
                self._recover(partial(open_connection, Path(path), patience=patience, durable=durable))
        except BaseException:
            self._writer.close()
            self._reader.close()
            raise

    def _recover(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Move the deltas of dead processes into their logs."""
        try:
            with closing(connect()) as connection:
                recover_journals(self._journals, self._lock, connection)
        except sqlite3.Error as error:
            raise translate_error(error) from None

    @property
    def missing_commits(self) -> int:
        """Commits that were stored and were not in the file any more when it was opened."""
        return self._ledger.missing

    async def find_damage(self) -> Sequence[str]:
        """Read the whole file and return what is damaged in it."""
        return await self._read(find_damage)

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        await self._write(partial(insert_session, info, draft))

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        await self._write(partial(finish_draft, lease, updated))

    async def abandoned(self) -> Sequence[str]:
        return await self._read(self._abandoned)

    async def info(self, session: str) -> SessionInfo:
        deltas = self._deltas.uncommitted(session)
        info = await self._read(partial(find_session, session))
        return msgspec.structs.replace(info, last_seq=max(info.last_seq, deltas[-1].seq)) if deltas else info

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        updated, last = parse_cursor(after) if after is not None else (float("inf"), "")
        return await self._read(partial(list_sessions, search.casefold(), max(limit, 1), updated, last, owner, kind))

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        return await self._read(partial(find_delegates, session))

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        await self._write(partial(rename_session, session, title, only_untitled))

    async def configure(self, session: str, settings: JsonObject) -> None:
        await self._write(partial(configure_session, session, encode(settings)))

    async def delete(self, session: str) -> None:
        await self._write(partial(self._delete, session))
        self._news.publish(deletion_news(session))

    # --- leases ------------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        lease = await self._write(partial(self._acquire, session, holder, seconds, force), is_synced=False)
        self._deltas.forget(lease)
        return lease

    async def acquire_log(self, session: str, holder: str, *, force: bool = False) -> AcquiredLog:
        acquired = await self._write(partial(self._acquire_log, session, holder, force), is_synced=False)
        self._deltas.forget(acquired.lease)
        return acquired

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        return await self._write(partial(renew_lease, lease, seconds), is_synced=False)

    async def release(self, lease: Lease) -> None:
        await self._write(partial(self._release, lease))
        self._deltas.forget(lease)

    # --- the log -----------------------------------------------------------------------------------------------------

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> EncodedEvents:
        encoded = await self._write(partial(self._log.append, lease, events, blobs or {}, work))
        self._on_appended(lease, events)
        return encoded

    def submit_events(
        self,
        lease: Lease,
        events: Sequence[Event],
        on_done: OnAppended,
        *,
        blobs: Mapping[str, bytes] | None = None,
        work: Work | None = None,
        title: str = "",
    ) -> None:
        """Append events, and call back when they are stored: at once if they are deltas that the journal stores. Others
        with nothing beside them wait for those of their moment, with which they share their statements."""
        loop = asyncio.get_running_loop()
        pending = PendingDeltas(lease, events, on_done, self._deltas.generation)
        if not (blobs or title or work is not None) and (encoded := self._deltas.store(pending, loop)) is not None:
            self._on_appended(lease, events)
            on_done(encoded, None)
            return
        self._deltas.commit()
        if blobs or title or work is not None:
            append = partial(self._append_with_title, lease, events, blobs or {}, work, title)
            outcome = GroupOutcome(loop, [partial(self._end_append, pending)])
            self._writer.submit_group(lambda connection: [append(connection)], [append], outcome)
            return
        group = self._groups.setdefault(loop, [])
        if not group:
            loop.call_soon(self._submit_moment, loop)
        group.append(pending)

    def _append_with_title(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes],
        work: Work | None,
        title: str,
        connection: sqlite3.Connection,
    ) -> EncodedEvents:
        encoded = self._log.append(lease, events, blobs, work, connection)
        if title:
            rename_session(lease.session, title, True, connection)
        return encoded

    def _submit_moment(self, loop: asyncio.AbstractEventLoop) -> None:
        self._submit_group(loop, self._groups.pop(loop), self._end_append)

    def _submit_group(
        self, loop: asyncio.AbstractEventLoop, group: Sequence[PendingDeltas], end: OnGroupStored
    ) -> None:
        outcome = GroupOutcome(loop, [partial(end, pending) for pending in group])
        parts = [partial(self._log.append, pending.lease, pending.events, {}, None) for pending in group]
        self._writer.submit_group(partial(self._log.append_group, group), parts, outcome)

    def _end_append(self, pending: PendingDeltas, value: EncodedEvents, error: Exception | None) -> None:
        if error is None:
            self._deltas.verify(pending.lease, pending.generation)
            self._on_appended(pending.lease, pending.events)
        pending.on_done(value, error)

    def _on_appended(self, lease: Lease, events: Sequence[Event]) -> None:
        if events:
            self._news.publish(News(topic="events", session=lease.session, seq=events[-1].seq, epoch=lease.epoch))

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        deltas = self._deltas.uncommitted(session)
        events = await self._read(partial(read_log, session, after, upto, limit))
        return add_deltas(events, deltas, after=after, upto=upto, limit=limit) if deltas else events

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        deltas = {session: self._deltas.uncommitted(session) for session in cursors}
        logs = await self._read(partial(read_logs, dict(cursors)))
        return {
            session: add_deltas(events, deltas[session], after=cursors[session]) if deltas[session] else events
            for session, events in logs.items()
        }

    # --- blobs -------------------------------------------------------------------------------------------------------

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        await self._write(lambda connection: keep_blobs(connection, session_key(connection, session), {digest: data}))
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        return await self._read(lambda connection: read_blob(connection, session_key(connection, session), digest))

    async def list_blobs(self, session: str) -> Sequence[str]:
        return await self._read(lambda connection: list_digests(connection, session_key(connection, session)))

    async def close(self) -> None:
        """Finish all queued jobs and close the file."""
        if not self._deltas.is_empty:
            with suppress(StoreError):  # each append has its own outcome
                await self._write(lambda _: None)
        self._deltas.close()
        await self._close_sharing()
        await asyncio.to_thread(self._reader.close)
        await asyncio.to_thread(self._writer.close)

    def _acquire(self, session: str, holder: str, seconds: float, force: bool, connection: sqlite3.Connection) -> Lease:
        row = connection.execute(
            "SELECT key, epoch, holder, node, expires FROM sessions WHERE id = ? AND NOT (draft AND holder <> '')",
            (session,),
        ).fetchone()
        if row is None:
            raise NoSuchSession(session)
        key, epoch, held_by, node, expires = row
        if not force and not self._is_free(held_by, node, expires):
            raise SessionBusy(f"The session {session!r} is open elsewhere; close it there, or wait.")
        self._recover_deltas(session, node, connection)
        lease = Lease(session=session, epoch=epoch + 1, holder=holder, expires=time() + seconds)
        connection.execute(
            "UPDATE sessions SET epoch = ?, holder = ?, node = ?, expires = ? WHERE key = ?",
            (epoch + 1, holder, self._node, lease.expires, key),
        )
        return lease

    def _acquire_log(self, session: str, holder: str, force: bool, connection: sqlite3.Connection) -> AcquiredLog:
        lease = self._acquire(session, holder, LEASE_SECONDS, force, connection)
        info = find_session(session, connection)
        if not info.last_seq:  # so it has no delegates either: each begins with a call
            return AcquiredLog(lease=lease, info=info, delegates=(), events=())
        delegates = find_all_delegates(session, connection)
        events = read_log(session, 0, None, PAGE, connection) if info.last_seq <= SHORT_LOG else None
        return AcquiredLog(lease=lease, info=info, delegates=delegates, events=events)

    def _release(self, lease: Lease, connection: sqlite3.Connection) -> None:
        if self._deltas.is_lost(lease.session):
            recover_journal(self._journals / self._node, self._log, connection, session=lease.session)
        connection.execute(
            "UPDATE sessions SET holder = '', node = '', expires = 0 WHERE id = ? AND epoch = ? AND holder = ?",
            (lease.session, lease.epoch, lease.holder),
        )

    def _recover_deltas(self, session: str, node: str, connection: sqlite3.Connection) -> None:
        """Move the deltas of a session's last writer into the log, before another one continues it."""
        if node:
            recover_journal(self._journals / node, self._log, connection, session=session)

    def _delete(self, session: str, connection: sqlite3.Connection) -> None:
        self._log.forget(session)
        key = session_key(connection, session)
        for delegate in find_delegates(session, connection):
            self._delete(delegate.id, connection)
        digests = connection.execute("SELECT digest FROM session_blobs WHERE session = ?", (key,)).fetchall()
        connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
        note_deletion(session, connection)
        connection.executemany(
            "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM session_blobs WHERE digest = ?1)",
            digests,
        )

    def _abandoned(self, connection: sqlite3.Connection) -> Sequence[str]:
        now = time()
        rows = connection.execute("SELECT id, holder, node, expires, updated FROM sessions WHERE draft")
        return [
            name
            for name, holder, node, expires, updated in rows
            if (self._is_free(holder, node, expires) if holder else is_abandoned("", expires, updated, now))
        ]

    async def _write(self, job: Callable[[sqlite3.Connection], T], *, is_synced: bool = True) -> T:
        self._deltas.commit()
        return await self._writer.submit(job, is_synced=is_synced)

    async def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._reader.submit(job)


def open_sqlite(url: str, *, node: str = "", news: str = "") -> SqliteStore:
    """Open `sqlite:///path`: three slashes begin a relative path, four an absolute one."""
    refuse_news(news)
    path = url.partition(":")[2]
    if not path.startswith("///") or len(path) == 3:
        raise bad_store_url(url, "sqlite:///app.db for a file, or sqlite:////srv/app.db for an absolute path")
    return SqliteStore(path[3:], node=node)
