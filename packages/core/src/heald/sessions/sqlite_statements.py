"""The statements of a SQLite store for sessions, leases and blobs. They run in the threads of the database."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import time

from heald.core.envelope import Event
from heald.core.json import encode
from heald.sessions.leases import Lease
from heald.sessions.session_info import INFO_COLUMNS, SessionInfo, SessionPage, make_page, read_info
from heald.sessions.sqlite_log import find_held, read_events
from heald.sessions.store import PAGE
from heald.sessions.store_errors import NoSuchSession, SessionExists


def insert_session(info: SessionInfo, draft: bool, connection: sqlite3.Connection) -> None:
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


def finish_draft(lease: Lease, updated: float | None, connection: sqlite3.Connection) -> None:
    key, _ = find_held(connection, lease)
    connection.execute("UPDATE sessions SET draft = 0, updated = coalesce(?, updated) WHERE key = ?", (updated, key))


def find_session(session: str, connection: sqlite3.Connection) -> SessionInfo:
    row = connection.execute(f"SELECT {INFO_COLUMNS} FROM sessions WHERE id = ? AND NOT draft", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return read_info(row)


def list_sessions(
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


def find_delegates(session: str, connection: sqlite3.Connection) -> Sequence[SessionInfo]:
    rows = connection.execute(
        f"SELECT {INFO_COLUMNS} FROM sessions WHERE parent = ? AND cause IS NOT NULL ORDER BY created, key", (session,)
    )
    return [read_info(row) for row in rows]


def find_all_delegates(session: str, connection: sqlite3.Connection) -> Sequence[SessionInfo]:
    """Return the sessions that worked for a session, directly or for one another."""
    delegates: list[SessionInfo] = []
    for info in find_delegates(session, connection):
        delegates += (info, *find_all_delegates(info.id, connection))
    return delegates


def session_key(connection: sqlite3.Connection, session: str) -> int:
    row = connection.execute("SELECT key FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return row[0]


def rename_session(session: str, title: str, only_untitled: bool, connection: sqlite3.Connection) -> None:
    key = session_key(connection, session)
    connection.execute(
        "UPDATE sessions SET title = ?1, title_key = ?2 WHERE key = ?3 AND (title = '' OR NOT ?4)",
        (title, title.casefold(), key, only_untitled),
    )


def configure_session(session: str, settings: bytes, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE sessions SET settings = ? WHERE key = ?", (settings, session_key(connection, session)))


def renew_lease(lease: Lease, seconds: float, connection: sqlite3.Connection) -> Lease:
    key, _ = find_held(connection, lease)
    expires = time() + seconds
    connection.execute("UPDATE sessions SET expires = ? WHERE key = ?", (expires, key))
    return Lease(session=lease.session, epoch=lease.epoch, holder=lease.holder, expires=expires)


def read_log(session: str, after: int, upto: int | None, limit: int, connection: sqlite3.Connection) -> Sequence[Event]:
    return read_events(connection, session_key(connection, session), after=after, upto=upto, limit=limit)


def read_logs(cursors: Mapping[str, int], connection: sqlite3.Connection) -> Mapping[str, Sequence[Event]]:
    logs: dict[str, Sequence[Event]] = {}
    for session, after in cursors.items():
        with suppress(NoSuchSession):
            logs[session] = read_log(session, after, None, PAGE, connection)
    return logs


def list_digests(connection: sqlite3.Connection, key: int) -> Sequence[str]:
    rows = connection.execute("SELECT digest FROM session_blobs WHERE session = ? ORDER BY digest", (key,))
    return [digest for (digest,) in rows]
