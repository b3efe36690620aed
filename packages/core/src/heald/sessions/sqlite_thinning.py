"""Thins out the logs of idle sessions in a SQLite store.

A log is read and packed in the thread that reads, so that appends do not wait; the thread that writes only replaces its
rows. The file does not shrink: the room that becomes free is used for later events.
"""

import sqlite3
from collections.abc import Sequence
from time import time
from typing import Any

import msgspec

from heald.core.envelope import Event
from heald.core.json import encode
from heald.sessions.event_codec import DeltaRun, encode_stored, thin_out
from heald.sessions.event_rows import MAX_RUN, EventRows
from heald.sessions.sqlite_blobs import keep_blobs
from heald.sessions.sqlite_log import read_events
from heald.sessions.store import PAGE
from heald.sessions.store_errors import StoreCorrupt

_FREE = "work = 'idle' AND holder = '' AND thinned < last_seq AND NOT draft"


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
            page = read_events(connection, key, after=thinned + len(events), upto=last_seq, limit=PAGE)
            if not page:
                return None
            events += page
    except StoreCorrupt:
        return None  # `heald store check` names it
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
