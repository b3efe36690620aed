"""Appends to the log of a SQLite store and reads it. Its functions run in the threads of the database.

The appends of several sessions that come at one moment are a group: three statements for all of them. Between two
statements a thread waits for its turn, so a statement for each session would cost more than the storing itself.

The logs of sessions that nobody has written for a while are thinned out. A log is read and packed in the thread that
reads, so that appends do not wait; the thread that writes only replaces its rows. The file does not shrink: the room
that becomes free is used for later events.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Any

import msgspec

from weft.core.envelope import Event
from weft.core.json import as_list, encode, loads
from weft.sessions.crash_points import reach
from weft.sessions.event_codec import DeltaRun, encode_stored, thin_out
from weft.sessions.event_rows import MAX_RUN, EventRow, EventRows, RowPacker, RowReader
from weft.sessions.shared import Work
from weft.sessions.store import (
    PAGE,
    EncodedEvents,
    Fenced,
    Lease,
    NoSuchBlob,
    NoSuchSession,
    OnAppended,
    StoreCorrupt,
    StoreError,
    check_blobs,
    check_next,
)

_TOUCH_SECONDS = 0.5
"""Deltas change the time of a session's last update only if it is older: that time is in two indexes."""
_ROWS = 100
"""Rows that one statement inserts at most."""
_FREE = "work = 'idle' AND holder = '' AND thinned < last_seq AND NOT draft"


class PendingDeltas(msgspec.Struct):
    """Deltas of one session that wait for their group."""

    lease: Lease
    events: Sequence[Event]
    on_done: OnAppended


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
        reach("append.before")
        keep_blobs(connection, key, blobs)
        packed = self._packer.pack(lease.session, events)
        keep_blobs(connection, key, packed.blobs)
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", _with_key(key, packed.rows))
        last = events[-1].seq if events else last_seq
        connection.execute(
            "UPDATE sessions SET last_seq = ?, updated = ?, work = coalesce(?, work) WHERE key = ?",
            (last, time(), work, key),
        )
        reach("append.commit")
        return packed.json

    def append_group(
        self, group: Sequence[PendingDeltas], connection: sqlite3.Connection
    ) -> Sequence[EncodedEvents | StoreError]:
        """Add the deltas of several sessions. Returns for each the JSON of its events, or why it was refused."""
        ends = _find_ends(connection, {each.lease.session for each in group})
        now = time()
        outcomes: list[EncodedEvents | StoreError] = []
        values: list[object] = []
        grown: dict[bool, dict[int, int]] = {False: {}, True: {}}  # the last seq by key, with and without a new time
        reach("append.before")
        for each in group:
            lease, events = each.lease, each.events
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
        for start in range(0, len(values), 4 * _ROWS):
            part = values[start : start + 4 * _ROWS]
            connection.execute(f"INSERT INTO events VALUES {_places(4, len(part) // 4)}", part)
            reach("append.between")
        for touches, ends_by_key in grown.items():
            if ends_by_key:
                change = ", updated = ?" if touches else ""
                connection.execute(
                    f"UPDATE sessions SET last_seq = v.column2{change}"
                    f" FROM (VALUES {_places(2, len(ends_by_key))}) AS v WHERE key = v.column1",
                    [*([now] if touches else []), *(part for pair in ends_by_key.items() for part in pair)],
                )
        reach("append.commit")
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
    (found,) = connection.execute(
        "SELECT json_group_array(json_array(id, key, last_seq, epoch, holder, updated)) FROM sessions"
        f" WHERE id IN ({', '.join('?' * len(names))})",
        names,
    ).fetchone()
    return {name: _End(*rest) for name, *rest in as_list(loads(found))}


def _places(columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return ", ".join([row] * rows)


def _with_key(key: int, rows: Iterable[EventRow]) -> Iterable[tuple[int, int, bytes, bytes | None]]:
    for row in rows:
        yield key, *row
        reach("append.between")


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


def keep_blobs(connection: sqlite3.Connection, key: int, blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        connection.execute("INSERT INTO session_blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (key, digest))
        connection.execute("INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data))


def read_blob(connection: sqlite3.Connection, key: int, digest: str) -> bytes:
    row = connection.execute(
        "SELECT data FROM blobs NATURAL JOIN session_blobs WHERE session = ? AND digest = ?", (key, digest)
    ).fetchone()
    if row is None:
        raise NoSuchBlob(digest)
    return row[0]


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


class ThinnedLog(msgspec.Struct, frozen=True):
    """The rows that replace those of a session behind `thinned`, up to `last_seq`."""

    key: int
    thinned: int
    last_seq: int
    packed: EventRows | None
    """None for a damaged log, which stays as it is."""


def pack_thinned(seconds: float, limit: int, connection: sqlite3.Connection) -> list[ThinnedLog]:
    """Return the thinned logs of at most `limit` idle sessions that were not changed for `seconds`."""
    rows: list[Any] = connection.execute(
        f"SELECT key, thinned, last_seq FROM sessions WHERE {_FREE} AND updated < ? ORDER BY updated LIMIT ?",
        (time() - seconds, limit),
    ).fetchall()
    return [ThinnedLog(key, thinned, last, _pack(connection, key, thinned, last)) for key, thinned, last in rows]


def _pack(connection: sqlite3.Connection, key: int, thinned: int, last_seq: int) -> EventRows | None:
    events: list[Event] = []
    try:
        while thinned + len(events) < last_seq:
            found = read_events(connection, key, after=thinned + len(events), upto=last_seq, limit=PAGE)
            if not found:
                return None
            events += found
    except StoreCorrupt:
        return None  # `weft store check` names it
    return _pack_runs(thin_out(events))


def _pack_runs(runs: Sequence[DeltaRun]) -> EventRows:
    """Return a row for each event, and rows that hold only the number of the empty deltas behind it."""
    packed = EventRows([], [], {})
    for run in runs:
        form = encode_stored(run.event)
        packed.rows.append((run.event.seq, form.body, form.refs))
        packed.blobs.update(form.blobs)
        for start in range(0, run.empty, MAX_RUN):
            count = min(MAX_RUN, run.empty - start)
            packed.rows.append((run.event.seq + start + count, encode([run.event.seq, count]), None))
    return packed


def replace_rows(log: ThinnedLog, connection: sqlite3.Connection) -> bool:
    """Replace the rows of a session by thinner ones, unless somebody has come to write it."""
    changed = connection.execute(
        f"UPDATE sessions SET thinned = last_seq WHERE key = ? AND thinned = ? AND last_seq = ? AND {_FREE}",
        (log.key, log.thinned, log.last_seq),
    )
    if changed.rowcount == 0:
        return False
    if log.packed is not None:
        connection.execute("DELETE FROM events WHERE session = ? AND seq > ?", (log.key, log.thinned))
        rows = [(log.key, *row) for row in log.packed.rows]
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        keep_blobs(connection, log.key, log.packed.blobs)
    return True
