"""Sessions in one SQLite file, the embedded default.

One thread writes and one reads, so that neither waits for the other and no event loop for either. Appends that come
together share a transaction, hence one sync of the disk; each is acknowledged only after the commit.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from time import time
from typing import TypeVar

from weft.core.envelope import Event
from weft.core.json import JsonObject, encode
from weft.sessions.crash_points import reach
from weft.sessions.database import DatabaseThread, GroupOutcome, migrate
from weft.sessions.shared import News, Work
from weft.sessions.sqlite_log import LogWriter, PendingDeltas, find_held, keep_blobs, read_blob, read_events
from weft.sessions.sqlite_sharing import SqliteSharing, deletion_news, note_deletion
from weft.sessions.store import (
    INFO_COLUMNS,
    LEASE_SECONDS,
    PAGE,
    EncodedEvents,
    Lease,
    NoSuchSession,
    OnAppended,
    SessionBusy,
    SessionExists,
    SessionInfo,
    SessionPage,
    is_abandoned,
    make_page,
    parse_cursor,
    read_info,
)

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
        self._writer = make(writes=True, first=migrate, on_rollback=self._log.forget)
        self._writer.wait_open()
        self._reader = make(writes=False, first=lambda connection: connection.execute("PRAGMA query_only = ON"))
        try:
            self._reader.wait_open()
            super().__init__(Path(path), node)
        except BaseException:
            self._writer.close()
            self._reader.close()
            raise

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        await self._write(partial(_create, info, draft))

    async def finish(self, lease: Lease) -> None:
        await self._write(partial(_finish, lease))

    async def abandoned(self) -> Sequence[str]:
        return await self._read(self._abandoned)

    async def info(self, session: str) -> SessionInfo:
        return await self._read(partial(_info, session))

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
        return await self._read(partial(_list, search.casefold(), max(limit, 1), updated, last, owner, kind))

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        return await self._read(partial(_delegates, session))

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        await self._write(partial(_rename, session, title, only_untitled))

    async def configure(self, session: str, settings: JsonObject) -> None:
        await self._write(partial(_configure, session, encode(settings)))

    async def delete(self, session: str) -> None:
        await self._write(partial(self._delete, session))
        self._news.publish(deletion_news(session))

    # --- leases ------------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        return await self._write(partial(self._acquire, session, holder, seconds, force))

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        return await self._write(partial(_renew, lease, seconds))

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

    def submit_deltas(self, lease: Lease, events: Sequence[Event], on_done: OnAppended) -> None:
        """Append deltas, and call back when they are stored. Those of one moment share their statements."""
        loop = asyncio.get_running_loop()
        group = self._groups.setdefault(loop, [])
        if not group:
            loop.call_soon(self._submit_group, loop)
        group.append(PendingDeltas(lease, events, on_done))

    def _submit_group(self, loop: asyncio.AbstractEventLoop) -> None:
        group = self._groups.pop(loop)
        outcome = GroupOutcome(loop, [partial(self._end_append, each) for each in group])
        parts = [partial(self._log.append, each.lease, each.events, {}, None) for each in group]
        self._writer.submit_group(partial(self._log.append_group, group), parts, outcome)

    def _end_append(self, pending: PendingDeltas, value: EncodedEvents, error: Exception | None) -> None:
        if error is None:
            self._on_appended(pending.lease, pending.events)
        pending.on_done(value, error)

    def _on_appended(self, lease: Lease, events: Sequence[Event]) -> None:
        reach("append.after")
        if events:
            self._news.publish(News(topic="events", session=lease.session, seq=events[-1].seq, epoch=lease.epoch))

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return await self._read(partial(_events, session, after, upto, limit))

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        return await self._read(partial(_events_of_many, dict(cursors)))

    # --- blobs -------------------------------------------------------------------------------------------------------

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        await self._write(lambda connection: keep_blobs(connection, _key(connection, session), {digest: data}))
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        return await self._read(lambda connection: read_blob(connection, _key(connection, session), digest))

    async def list_blobs(self, session: str) -> Sequence[str]:
        return await self._read(lambda connection: _digests(connection, _key(connection, session)))

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
        key = _key(connection, session)
        for delegate in _delegates(session, connection):
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

    async def _write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._writer.submit(job)

    async def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._reader.submit(job)


# --- jobs, run in the threads ---------------------------------------------------------------------------------------


def _create(info: SessionInfo, draft: bool, connection: sqlite3.Connection) -> None:
    now = time()
    title = (info.title, info.title.casefold())
    head = (info.id, info.owner, info.kind, *title, info.created or now, info.updated or now, info.epoch)
    try:
        connection.execute(
            "INSERT INTO sessions (id, owner, kind, title, title_key, created, updated, epoch, last_seq, holder,"
            " expires, parent, parent_seq, cause, settings, draft)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, ?, ?, ?, ?, ?)",
            (*head, info.parent, info.parent_seq, info.cause, encode(info.settings), draft),
        )
    except sqlite3.IntegrityError:
        raise SessionExists(f"There is a session {info.id!r} already; choose another id.") from None


def _finish(lease: Lease, connection: sqlite3.Connection) -> None:
    key, _ = find_held(connection, lease)
    connection.execute("UPDATE sessions SET draft = 0 WHERE key = ?", (key,))


def _info(session: str, connection: sqlite3.Connection) -> SessionInfo:
    row = connection.execute(f"SELECT {INFO_COLUMNS} FROM sessions WHERE id = ? AND NOT draft", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return read_info(row)


def _list(
    search: str,
    limit: int,
    updated: float,
    last: str,
    owner: str | None,
    kind: str | None,
    connection: sqlite3.Connection,
) -> SessionPage:
    rows = connection.execute(
        f"SELECT {INFO_COLUMNS} FROM sessions WHERE (updated < ?1 OR (updated = ?1 AND id > ?2))"
        " AND instr(title_key, ?3) AND NOT draft AND cause IS NULL AND (?5 IS NULL OR owner = ?5)"
        " AND (?6 IS NULL OR kind = ?6) ORDER BY updated DESC, id LIMIT ?4",
        (updated, last, search, limit + 1, owner, kind),
    )
    return make_page([read_info(row, is_listed=True) for row in rows], limit)


def _delegates(session: str, connection: sqlite3.Connection) -> Sequence[SessionInfo]:
    rows = connection.execute(
        f"SELECT {INFO_COLUMNS} FROM sessions WHERE parent = ? AND cause IS NOT NULL ORDER BY created, key", (session,)
    )
    return [read_info(row) for row in rows]


def _key(connection: sqlite3.Connection, session: str) -> int:
    row = connection.execute("SELECT key FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return row[0]


def _rename(session: str, title: str, only_untitled: bool, connection: sqlite3.Connection) -> None:
    key = _key(connection, session)
    connection.execute(
        "UPDATE sessions SET title = ?1, title_key = ?2 WHERE key = ?3 AND (title = '' OR NOT ?4)",
        (title, title.casefold(), key, only_untitled),
    )


def _configure(session: str, settings: bytes, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE sessions SET settings = ? WHERE key = ?", (settings, _key(connection, session)))


def _renew(lease: Lease, seconds: float, connection: sqlite3.Connection) -> Lease:
    key, _ = find_held(connection, lease)
    expires = time() + seconds
    connection.execute("UPDATE sessions SET expires = ? WHERE key = ?", (expires, key))
    return Lease(session=lease.session, epoch=lease.epoch, holder=lease.holder, expires=expires)


def _events(session: str, after: int, upto: int | None, limit: int, connection: sqlite3.Connection) -> Sequence[Event]:
    return read_events(connection, _key(connection, session), after=after, upto=upto, limit=limit)


def _events_of_many(cursors: Mapping[str, int], connection: sqlite3.Connection) -> Mapping[str, Sequence[Event]]:
    found: dict[str, Sequence[Event]] = {}
    for session, after in cursors.items():
        with suppress(NoSuchSession):
            found[session] = _events(session, after, None, PAGE, connection)
    return found


def _digests(connection: sqlite3.Connection, key: int) -> Sequence[str]:
    rows = connection.execute("SELECT digest FROM session_blobs WHERE session = ? ORDER BY digest", (key,))
    return [digest for (digest,) in rows]
