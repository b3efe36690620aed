"""Appends to the log of a SQLite store and reads it. Its functions run in the threads of the database.

The appends of several sessions that come at one moment are a group: three statements for all of them. Between two
statements a thread waits for its turn, so a statement for each session would cost more than the storing itself.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Any

import msgspec

from heald.core.envelope import Event
from heald.core.json import as_list, loads
from heald.sessions.append_checks import check_blobs, check_next
from heald.sessions.event_rows import EventRow, RowPacker, RowReader
from heald.sessions.leases import Lease
from heald.sessions.sqlite_blobs import keep_blobs, read_blob
from heald.sessions.store import EncodedEvents, OnAppended
from heald.sessions.store_errors import Fenced, NoSuchSession, StoreError
from heald.sessions.work import Work

_TOUCH_SECONDS = 0.5
"""Deltas change the time of a session's last update only if it is older: that time is in two indexes."""
_ROWS = 100
"""Rows that one statement inserts at most."""


class PendingDeltas(msgspec.Struct):
    """Deltas of one session that wait for their group."""

    lease: Lease
    events: Sequence[Event]
    on_done: OnAppended
    generation: bytes
    """That of the journal of this process before they were stored."""


class LogWriter:
    """Appends events. It belongs to the thread that writes."""

    def __init__(self) -> None:
        self._packer = RowPacker()

    def forget(self, session: str | None = None) -> None:
        """Forget what was appended to a session, or to all: it was rolled back or deleted."""
        self._packer.forget(session)

    def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes],
        work: Work | None,
        connection: sqlite3.Connection,
    ) -> EncodedEvents:
        """Add events and blobs to a session. Raises Fenced if the lease is not the newest."""
        key, last_seq = find_held(connection, lease)
        check_next(lease, last_seq, events)
        check_blobs(blobs)
        keep_blobs(connection, key, blobs)
        packed = self._packer.pack(lease.session, events)
        keep_blobs(connection, key, packed.blobs)
        _insert_rows(connection, [value for row in packed.rows for value in (key, *row)])
        last = events[-1].seq if events else last_seq
        connection.execute(
            "UPDATE sessions SET last_seq = ?, updated = ?, work = coalesce(?, work) WHERE key = ?",
            (last, time(), work, key),
        )
        return packed.json

    def append_group(
        self, group: Sequence[PendingDeltas], connection: sqlite3.Connection
    ) -> Sequence[EncodedEvents | StoreError]:
        """Add the deltas of several sessions. Returns for each the JSON of its events, or why it was refused."""
        ends = _find_ends(connection, {pending.lease.session for pending in group})
        now = time()
        outcomes: list[EncodedEvents | StoreError] = []
        values: list[object] = []
        grown: dict[bool, dict[int, int]] = {False: {}, True: {}}  # the last seq by key, with and without a new time
        for pending in group:
            lease, events = pending.lease, pending.events
            try:
                end = ends.get(lease.session)
                check_held(lease, end)
                assert end is not None
                check_next(lease, end.last_seq, events)
            except StoreError as error:
                outcomes.append(error)
                continue
            packed = self._packer.pack(lease.session, events)
            keep_blobs(connection, end.key, packed.blobs)
            for row in packed.rows:
                values += (end.key, *row)
            end.last_seq = events[-1].seq
            grown[now - end.updated > _TOUCH_SECONDS][end.key] = end.last_seq
            outcomes.append(packed.json)
        _insert_rows(connection, values)
        for touches, ends_by_key in grown.items():
            if ends_by_key:
                change = ", updated = ?" if touches else ""
                connection.execute(
                    f"UPDATE sessions SET last_seq = v.column2{change}"
                    f" FROM (VALUES {_places(2, len(ends_by_key))}) AS v WHERE key = v.column1",
                    [*([now] if touches else []), *(part for pair in ends_by_key.items() for part in pair)],
                )
        return outcomes


class _End(msgspec.Struct):
    """The end of a session's log, and who may write there."""

    key: int
    last_seq: int
    epoch: int
    holder: str
    updated: float


def _find_ends(connection: sqlite3.Connection, sessions: Iterable[str]) -> dict[str, _End]:
    names = list(sessions)
    (ends,) = connection.execute(
        "SELECT json_group_array(json_array(id, key, last_seq, epoch, holder, updated)) FROM sessions"
        f" WHERE id IN ({', '.join('?' * len(names))})",
        names,
    ).fetchone()
    return {name: _End(*rest) for name, *rest in as_list(loads(ends))}


def _places(columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return ", ".join([row] * rows)


def _insert_rows(connection: sqlite3.Connection, values: Sequence[object]) -> None:
    """Insert rows of the log, from their values one after the other."""
    for start in range(0, len(values), 4 * _ROWS):
        part = values[start : start + 4 * _ROWS]
        connection.execute(f"INSERT INTO events VALUES {_places(4, len(part) // 4)}", part)


def find_held(connection: sqlite3.Connection, lease: Lease) -> tuple[int, int]:
    """Return the session's key and last seq. Raises Fenced if the lease is not the newest."""
    row: Any = connection.execute(
        "SELECT key, last_seq, epoch, holder, updated FROM sessions WHERE id = ?", (lease.session,)
    ).fetchone()
    end = _End(*row) if row is not None else None
    check_held(lease, end)
    assert end is not None
    return end.key, end.last_seq


def check_held(lease: Lease, end: _End | None) -> None:
    if end is None:
        raise NoSuchSession(lease.session)
    if (end.epoch, end.holder) != (lease.epoch, lease.holder):
        raise Fenced(f"The session {lease.session!r} was opened elsewhere; what runs here may write it no more.")


def read_events(
    connection: sqlite3.Connection, key: int, *, after: int, upto: int | None, limit: int
) -> Sequence[Event]:
    """Return the events of a session after a seq, in order and complete, at most a page."""
    rows = connection.execute(
        "SELECT seq, body, refs FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?", (key, after, limit)
    )
    if upto is not None and upto <= after:
        return []
    reader = RowReader(_row_finder(connection, key), lambda digest: read_blob(connection, key, digest))
    return reader.read(rows, after=after, upto=upto, limit=limit)


def _row_finder(connection: sqlite3.Connection, key: int) -> Callable[[int], EventRow | None]:
    query = "SELECT seq, body, refs FROM events WHERE session = ? AND seq = ?"
    return lambda seq: connection.execute(query, (key, seq)).fetchone()
