"""Sessions in one SQLite file, the embedded default.

One thread writes and one reads, so that neither waits for the other and no event loop for either. Appends that come
together share a transaction, hence one sync of the disk; each is acknowledged only after the commit. Leases are not
synced: a loss of power ends the process that holds one.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from time import time
from typing import TypeVar

from heald.core.envelope import Event
from heald.core.json import JsonObject, encode
from heald.sessions.database_thread import DatabaseThread
from heald.sessions.job_outcomes import GroupOutcome
from heald.sessions.leases import LEASE_SECONDS, Lease, is_abandoned
from heald.sessions.news import News, deletion_news
from heald.sessions.session_info import SessionInfo, SessionPage, parse_cursor
from heald.sessions.sqlite_blobs import keep_blobs, read_blob
from heald.sessions.sqlite_changes import note_deletion
from heald.sessions.sqlite_commits import CommitLedger
from heald.sessions.sqlite_damage import find_damage
from heald.sessions.sqlite_log import LogWriter, PendingDeltas
from heald.sessions.sqlite_schema import migrate
from heald.sessions.sqlite_sharing import SqliteSharing
from heald.sessions.sqlite_statements import (
    configure_session,
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
from heald.sessions.store_errors import NoSuchSession, SessionBusy
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
        except BaseException:
            self._writer.close()
            self._reader.close()
            raise

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
        return await self._read(partial(find_session, session))

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
        return await self._write(partial(self._acquire, session, holder, seconds, force), is_synced=False)

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        return await self._write(partial(renew_lease, lease, seconds), is_synced=False)

    async def release(self, lease: Lease) -> None:
        await self._execute(
            "UPDATE sessions SET holder = '', node = '', expires = 0 WHERE id = ? AND epoch = ? AND holder = ?",
            *(lease.session, lease.epoch, lease.holder),
        )

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
        """Append events, and call back when they are stored. Those with nothing beside them wait for the others of
        their moment, with which they share their statements."""
        loop = asyncio.get_running_loop()
        pending = PendingDeltas(lease, events, on_done)
        if blobs or title or work is not None:
            append = partial(self._append_with_title, lease, events, blobs or {}, work, title)
            outcome = GroupOutcome(loop, [partial(self._end_append, pending)])
            self._writer.submit_group(lambda connection: [append(connection)], [append], outcome)
            return
        group = self._groups.setdefault(loop, [])
        if not group:
            loop.call_soon(self._submit_group, loop)
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

    def _submit_group(self, loop: asyncio.AbstractEventLoop) -> None:
        group = self._groups.pop(loop)
        outcome = GroupOutcome(loop, [partial(self._end_append, pending) for pending in group])
        parts = [partial(self._log.append, pending.lease, pending.events, {}, None) for pending in group]
        self._writer.submit_group(partial(self._log.append_group, group), parts, outcome)

    def _end_append(self, pending: PendingDeltas, value: EncodedEvents, error: Exception | None) -> None:
        if error is None:
            self._on_appended(pending.lease, pending.events)
        pending.on_done(value, error)

    def _on_appended(self, lease: Lease, events: Sequence[Event]) -> None:
        if events:
            self._news.publish(News(topic="events", session=lease.session, seq=events[-1].seq, epoch=lease.epoch))

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return await self._read(partial(read_log, session, after, upto, limit))

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        return await self._read(partial(read_logs, dict(cursors)))

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
        lease = Lease(session=session, epoch=epoch + 1, holder=holder, expires=time() + seconds)
        connection.execute(
            "UPDATE sessions SET epoch = ?, holder = ?, node = ?, expires = ? WHERE key = ?",
            (epoch + 1, holder, self._node, lease.expires, key),
        )
        return lease

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
