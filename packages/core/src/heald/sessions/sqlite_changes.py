"""Finds what other processes have changed in a SQLite file."""

import sqlite3
from collections.abc import Sequence
from time import time

from heald.sessions.news import News, deletion_news

_DELETIONS = 1000  # how many are stored for other processes to see
_OVERLAP_SECONDS = 2.0  # two processes may commit in another order than their times of update


class SeenChanges:
    """Finds what other processes have changed in the file since the last time."""

    def __init__(self) -> None:
        self._version = -1
        self._since = 0.0
        self._sessions: dict[str, tuple[int, int]] = {}  # last seq and epoch of those that changed lately
        self._records: dict[str, int] = {}
        self._deletion = 0  # the number of the last one

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin with the file as it is."""
        self._version = _data_version(connection)
        self._since = time() - _OVERLAP_SECONDS
        self._sessions = dict(self._changed(connection))
        self._records = dict(connection.execute("SELECT kind, number FROM record_changes"))
        (self._deletion,) = connection.execute("SELECT coalesce(max(number), 0) FROM deletions").fetchone()

    def find(self, node: str, connection: sqlite3.Connection) -> Sequence[News]:
        version = _data_version(connection)
        if version == self._version:
            return ()
        self._version = version
        changed = dict(self._changed(connection))
        news = [
            News(topic="events", session=name, seq=at[0], epoch=at[1])
            for name, at in changed.items()
            if self._sessions.get(name) != at
        ]
        self._sessions = changed
        self._since = time() - _OVERLAP_SECONDS
        records = dict(connection.execute("SELECT kind, number FROM record_changes"))
        news += [News(topic="records", name=kind) for kind, at in records.items() if self._records.get(kind) != at]
        self._records = records
        deleted = connection.execute(
            "SELECT number, session FROM deletions WHERE number > ? ORDER BY number", (self._deletion,)
        ).fetchall()
        self._deletion = deleted[-1][0] if deleted else self._deletion
        news += [deletion_news(session) for _, session in deleted]
        waiting = {session for _, session, _, accepted_by in waiting_commands(node, connection) if not accepted_by}
        return news + [News(topic="commands", session=session) for session in waiting]

    def _changed(self, connection: sqlite3.Connection) -> list[tuple[str, tuple[int, int]]]:
        rows = connection.execute("SELECT id, last_seq, epoch FROM sessions WHERE updated >= ?", (self._since,))
        return [(name, (last_seq, epoch)) for name, last_seq, epoch in rows]


def note_deletion(session: str, connection: sqlite3.Connection) -> None:
    """Record a deletion for other processes."""
    connection.execute("INSERT INTO deletions (session) VALUES (?)", (session,))
    connection.execute("DELETE FROM deletions WHERE number <= (SELECT max(number) FROM deletions) - ?", (_DELETIONS,))


def waiting_commands(node: str, connection: sqlite3.Connection) -> list[tuple[str, str, bytes, str]]:
    """Return the commands without a reply for the sessions that a node holds, with the nodes that accepted them."""
    return connection.execute(
        "SELECT c.id, c.session, c.body, c.accepted_by FROM commands c JOIN sessions s ON s.id = c.session"
        " WHERE s.node = ?1 AND s.holder <> '' AND c.reply IS NULL AND c.accepted_by <> ?1 AND c.expires > ?2",
        (node, time()),
    ).fetchall()


def _data_version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA data_version").fetchone()[0]
