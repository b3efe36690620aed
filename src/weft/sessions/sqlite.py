"""Sessions in one SQLite file, the embedded default.

One thread writes and one reads, so that neither waits for the other and no event loop for either. Appends that come
together share a transaction, hence one sync of the disk; each is acknowledged only after the commit.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from time import time
from typing import Any, TypeVar

from weft.core.envelope import Event
from weft.core.json import JsonObject, as_object, encode, loads
from weft.sessions.crash_points import reach
from weft.sessions.database import DatabaseThread, migrate
from weft.sessions.event_codec import decode_stored, encode_stored
from weft.sessions.shared import News, Work
from weft.sessions.sqlite_sharing import SqliteSharing, deletion_news, note_deletion
from weft.sessions.store import (
    LEASE_SECONDS,
    PAGE,
    Fenced,
    Lease,
    NoSuchBlob,
    NoSuchSession,
    SessionBusy,
    SessionExists,
    SessionInfo,
    SessionPage,
    StoreCorrupt,
    check_blobs,
    check_next,
    is_abandoned,
    make_page,
    parse_cursor,
)

T = TypeVar("T")

_INFO = "id, owner, kind, title, created, updated, last_seq, epoch, parent, parent_seq, cause, work, settings"
_PAGE_BYTES = 4 * 1024 * 1024
"""The size in bytes at which a page of events is full."""


class SqliteStore(SqliteSharing):
    """Stores sessions in a SQLite file. Several processes may open it; each session has one writer at a time.

    With `durable=False` commits are faster: a crash of the process loses nothing, a loss of power may.
    """

    def __init__(
        self, path: str | PathLike[str], *, patience: float = 5.0, durable: bool = True, node: str = ""
    ) -> None:
        make = partial(DatabaseThread, Path(path), patience=patience, durable=durable)
        self._writer = make(writes=True, first=migrate)
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
        await self._write(partial(_delete, session))
        self._news.publish(deletion_news(session))

    # --- leases ------------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        return await self._write(partial(self._acquire, session, holder, seconds, force))

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        return await self._write(partial(_renew, lease, seconds))

    async def release(self, lease: Lease) -> None:
        await self._write(partial(_release, lease))

    # --- the log -----------------------------------------------------------------------------------------------------

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> Sequence[bytes]:
        encoded = await self._write(partial(_append, lease, events, blobs or {}, work))
        reach("append.after")
        if events:
            self._news.publish(News(topic="events", session=lease.session, seq=events[-1].seq, epoch=lease.epoch))
        return encoded

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return await self._read(partial(_events, session, after, upto, limit))

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        return await self._read(partial(_events_of_many, dict(cursors)))

    # --- blobs -------------------------------------------------------------------------------------------------------

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        await self._write(lambda connection: _keep(connection, _key(connection, session), {digest: data}))
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        return await self._read(lambda connection: _blob(connection, _key(connection, session), digest))

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
    key, _ = _held(connection, lease)
    connection.execute("UPDATE sessions SET draft = 0 WHERE key = ?", (key,))


def _info(session: str, connection: sqlite3.Connection) -> SessionInfo:
    row = connection.execute(f"SELECT {_INFO} FROM sessions WHERE id = ? AND NOT draft", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return _info_of(row)


def _info_of(row: Sequence[Any], *, is_listed: bool = False) -> SessionInfo:
    *head, settings = row
    names = _INFO.split(", ")[:-1]
    try:
        parsed = as_object(loads(settings))
    except ValueError:
        if is_listed:  # one damaged session does not hide the others
            return SessionInfo(**dict(zip(names, head, strict=True)))
        raise StoreCorrupt("The settings of the session are damaged; put a backup of its file in place.") from None
    return SessionInfo(**dict(zip(names, head, strict=True)), settings=parsed)


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
        f"SELECT {_INFO} FROM sessions WHERE (updated < ?1 OR (updated = ?1 AND id > ?2)) AND instr(title_key, ?3)"
        f" AND NOT draft AND cause IS NULL AND (?5 IS NULL OR owner = ?5)"
        " AND (?6 IS NULL OR kind = ?6) ORDER BY updated DESC, id LIMIT ?4",
        (updated, last, search, limit + 1, owner, kind),
    )
    return make_page([_info_of(row, is_listed=True) for row in rows], limit)


def _delegates(session: str, connection: sqlite3.Connection) -> Sequence[SessionInfo]:
    rows = connection.execute(
        f"SELECT {_INFO} FROM sessions WHERE parent = ? AND cause IS NOT NULL ORDER BY created, key", (session,)
    )
    return [_info_of(row) for row in rows]


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


def _delete(session: str, connection: sqlite3.Connection) -> None:
    key = _key(connection, session)
    for delegate in _delegates(session, connection):
        _delete(delegate.id, connection)
    digests = connection.execute("SELECT digest FROM session_blobs WHERE session = ?", (key,)).fetchall()
    connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
    note_deletion(session, connection)
    connection.executemany(
        "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM session_blobs WHERE digest = ?1)", digests
    )


def _held(connection: sqlite3.Connection, lease: Lease) -> tuple[int, int]:
    """Return the session's key and last seq. Raises Fenced if the lease is not the newest."""
    row = connection.execute(
        "SELECT key, last_seq, epoch, holder FROM sessions WHERE id = ?", (lease.session,)
    ).fetchone()
    if row is None:
        raise NoSuchSession(lease.session)
    key, last_seq, epoch, holder = row
    if (epoch, holder) != (lease.epoch, lease.holder):
        raise Fenced(f"The session {lease.session!r} was opened elsewhere; what runs here may write it no more.")
    return key, last_seq


def _renew(lease: Lease, seconds: float, connection: sqlite3.Connection) -> Lease:
    key, _ = _held(connection, lease)
    expires = time() + seconds
    connection.execute("UPDATE sessions SET expires = ? WHERE key = ?", (expires, key))
    return Lease(session=lease.session, epoch=lease.epoch, holder=lease.holder, expires=expires)


def _release(lease: Lease, connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE sessions SET holder = '', node = '', expires = 0 WHERE id = ? AND epoch = ? AND holder = ?",
        (lease.session, lease.epoch, lease.holder),
    )


def _append(
    lease: Lease,
    events: Sequence[Event],
    blobs: Mapping[str, bytes],
    work: Work | None,
    connection: sqlite3.Connection,
) -> Sequence[bytes]:
    key, last_seq = _held(connection, lease)
    check_next(lease, last_seq, events)
    check_blobs(blobs)
    reach("append.before")
    _keep(connection, key, blobs)
    encoded: list[bytes] = []
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", _rows(connection, key, events, encoded))
    last = events[-1].seq if events else last_seq
    connection.execute(
        "UPDATE sessions SET last_seq = ?, updated = ?, work = coalesce(?, work) WHERE key = ?",
        (last, time(), work, key),
    )
    reach("append.commit")
    return encoded


def _rows(
    connection: sqlite3.Connection, key: int, events: Sequence[Event], encoded: list[bytes]
) -> Iterable[tuple[int, int, bytes, bytes | None]]:
    for event in events:
        form = encode_stored(event)
        if form.blobs:
            _keep(connection, key, form.blobs)
        encoded.append(form.json)
        yield key, event.seq, form.body, form.refs
        reach("append.between")


def _keep(connection: sqlite3.Connection, key: int, blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        connection.execute("INSERT INTO session_blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (key, digest))
        connection.execute("INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data))


def _events(session: str, after: int, upto: int | None, limit: int, connection: sqlite3.Connection) -> Sequence[Event]:
    key = _key(connection, session)
    rows = connection.execute(
        "SELECT body, refs FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (key, after, upto if upto is not None else 2**62, limit),
    )
    found: list[Event] = []
    size = 0
    for seq, (body, refs) in enumerate(rows, max(after, 0) + 1):
        found.append(_event(seq, body, refs, lambda digest: _blob(connection, key, digest)))
        size += len(body)
        if size > _PAGE_BYTES:
            break
    return found


def _events_of_many(cursors: Mapping[str, int], connection: sqlite3.Connection) -> Mapping[str, Sequence[Event]]:
    found: dict[str, Sequence[Event]] = {}
    for session, after in cursors.items():
        with suppress(NoSuchSession):
            found[session] = _events(session, after, None, PAGE, connection)
    return found


def _event(seq: int, body: bytes, refs: bytes | None, blob: Callable[[str], bytes]) -> Event:
    try:
        event = decode_stored(body, refs, blob)
        if event.seq == seq:
            return event
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, NoSuchBlob):
        pass
    raise StoreCorrupt(f"The log of the session is damaged at event {seq}; put a backup of its file in place.")


def _digests(connection: sqlite3.Connection, key: int) -> Sequence[str]:
    rows = connection.execute("SELECT digest FROM session_blobs WHERE session = ? ORDER BY digest", (key,))
    return [digest for (digest,) in rows]


def _blob(connection: sqlite3.Connection, key: int, digest: str) -> bytes:
    row = connection.execute(
        "SELECT data FROM blobs NATURAL JOIN session_blobs WHERE session = ? AND digest = ?", (key, digest)
    ).fetchone()
    if row is None:
        raise NoSuchBlob(digest)
    return row[0]
