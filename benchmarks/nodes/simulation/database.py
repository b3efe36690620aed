"""A database in memory that runs the statements of the PostgreSQL store, with the commits and locks that they rely on.

A statement is one commit. In a transaction, what is read is what was committed; the first change waits for other
transactions that have changed something, and everybody else waits for its end. PostgreSQL locks rows instead of all of
them, so an order of commits that is possible here is possible there.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.nodes.simulation.translated_sql import (
    TranslatedStatement,
    count_parameters,
    schema_statements,
    translate,
)
from heald.core.json import encode
from heald_nodes.postgres.chunks import notice_rows
from heald_nodes.postgres.notices import NO_NOTICE

Row = Sequence[Any]
_VALUES = {"NULL": None, "True": True, "False": False}
OnNotice = Callable[[str, str], None]
_WORK_TRIGGER = """CREATE TRIGGER work_began AFTER UPDATE OF work ON sessions
    WHEN old.work = 'idle' AND new.work <> 'idle' BEGIN SELECT note_work(); END"""


class SimulatedDatabase:
    """Tables, locks and listeners."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.jump = 0.0
        """By how much the clock of its machine has jumped."""
        self.started = clock()
        self.on_work: Callable[[], None] | None = None
        """Called after each statement with which a session has got work."""
        self._work_began = False
        self.errors: list[str] = []
        """Statements that the simulation cannot run."""
        self.listeners: dict[int, dict[str, OnNotice]] = {}
        """By the pid of a connection, its channels and what it calls. The first one is that of all nodes."""
        self._sqlite = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        self._cursor = self._sqlite.cursor()
        self._sqlite.execute("PRAGMA foreign_keys = ON")
        for statement in schema_statements():
            self._sqlite.execute(statement, self._server_values(0)[: count_parameters(statement)])
        self._sqlite.create_function("note_work", 0, self._note_work)
        self._sqlite.execute(_WORK_TRIGGER)
        self._sqlite.execute("BEGIN")
        self._writer: int | None = None
        self._writer_gone: asyncio.Future[None] | None = None
        self._locks: dict[tuple[object, ...], int] = {}
        self._lock_gone: dict[tuple[object, ...], asyncio.Future[None]] = {}
        self._notices: list[tuple[str, str]] = []
        self._pid = 0

    def clock(self) -> float:
        return self._clock() + self.jump

    def reset(self) -> None:
        """Empty all tables. All that a schedule does is one transaction of SQLite, which ends here."""
        self._sqlite.execute("ROLLBACK")
        self._sqlite.execute("BEGIN")
        self._pid = 0
        self.jump = 0.0
        self.started = self.clock() - 3600
        self._sqlite.execute("UPDATE service SET clock = 0, beat = ?", (self.clock(),))
        self._writer, self._writer_gone = None, None
        self._locks.clear()
        self._lock_gone.clear()
        self._notices.clear()
        self.listeners.clear()
        self.errors.clear()
        self._work_began = False

    def _server_values(self, pid: int) -> tuple[Any, ...]:
        return (self._clock() + self.jump, self.started, pid)

    def _note_work(self) -> None:
        self._work_began = True

    # --- connections -------------------------------------------------------------------------------------------------

    def add_backend(self) -> int:
        self._pid += 1
        self._sqlite.execute("INSERT INTO backends VALUES (?)", (self._pid,))
        return self._pid

    def remove_backend(self, pid: int) -> None:
        """A connection has ended: its transaction is rolled back, and it listens no more."""
        self.listeners.pop(pid, None)
        self.end_transaction(pid, commits=False)
        self._sqlite.execute("DELETE FROM backends WHERE pid = ?", (pid,))

    # --- statements --------------------------------------------------------------------------------------------------

    def must_wait(
        self,
        pid: int,
        query: str,
        statement: TranslatedStatement,
        arguments: Sequence[object],
        *,
        in_transaction: bool,
    ) -> Any:
        """Return a future that a statement has to wait for, or None if it can run. Changes in a transaction begin the
        period in which everybody else waits."""
        if statement.kind == "lock":
            lock = arguments if arguments else (query.replace("_shared", ""),)
            owner = self._locks.get(lock := tuple(lock))
            if "_shared" in query or owner == pid:
                return None  # nothing that is simulated takes the lock of blobs exclusively
            if owner is not None:
                return self._lock_gone[lock]
            self._locks[lock] = pid
            self._lock_gone[lock] = asyncio.get_running_loop().create_future()
            return None
        if self._writer is not None and self._writer != pid:
            return self._writer_gone if statement.writes or not in_transaction else None
        if in_transaction and (statement.writes or "FOR UPDATE" in query) and self._writer is None:
            self._writer, self._writer_gone = pid, asyncio.get_running_loop().create_future()
            self._sqlite.execute("SAVEPOINT writer")
        return None

    def end_transaction(self, pid: int, *, commits: bool) -> None:
        if self._writer == pid:
            if not commits:
                self._sqlite.execute("ROLLBACK TO writer")
            self._sqlite.execute("RELEASE writer")
            gone, self._writer, self._writer_gone = self._writer_gone, None, None
            if gone is not None and not gone.done():
                gone.set_result(None)
            if not commits:
                self._notices.clear()
            self._publish()
        for lock in [lock for lock, owner in self._locks.items() if owner == pid]:
            del self._locks[lock]
            gone = self._lock_gone.pop(lock)
            if not gone.done():
                gone.set_result(None)

    def run(self, pid: int, query: str, statement: TranslatedStatement, arguments: Sequence[object]) -> list[Row]:
        """Run a statement that need not wait."""
        try:
            rows = self._run(statement, arguments, self._server_values(pid))
        except sqlite3.Error as error:
            self.errors.append(f"a statement failed: {error}: {query}")
            raise
        if statement.writes:
            if self._work_began:
                self._work_began = False
                if self.on_work is not None:
                    self.on_work()
            if self._writer is None:
                self._publish()
        if statement.lists_folders:
            return [(row[0], _read_list(row[1]), *row[2:]) for row in rows]
        return rows

    def _run(self, statement: TranslatedStatement, arguments: Sequence[Any], values: tuple[Any, ...]) -> list[Row]:
        kind = statement.kind
        if kind == "plain":
            values += tuple([_to_json(value) if type(value) is list else value for value in arguments])
            rows = self._execute(statement.text, values[: statement.count])
            if statement.after:
                self._execute(statement.after, values[: statement.count_after])
            return rows
        if kind == "append":
            return self._append(statement, arguments, values)
        if kind == "notify":
            self._notices.append((str(arguments[0]), str(arguments[1])))
            return [(None,)]
        if kind == "pairs":
            selected: list[Row] = []
            for pair in sorted(zip(*arguments[:2], strict=True)):
                selected += self._execute(statement.text, (*pair, *arguments[2:])[: statement.count])
            return selected
        if kind == "payment":
            values = (*values, *arguments)
            paid = self._execute(statement.text, values[: statement.count])
            if paid:
                self._execute(statement.after, (*values, paid[0][0]))
            return []
        return [(None,)]

    def _execute(self, text: str, values: Sequence[Any]) -> list[Row]:
        return self._cursor.execute(text, values).fetchall()

    def _append(self, statement: TranslatedStatement, arguments: Sequence[Any], values: tuple[Any, ...]) -> list[Row]:
        """Append to the logs of sessions, and notify as the statement does."""
        columns = statement.columns
        stored: list[Row] = []
        parts: dict[tuple[str, int], dict[str, list[list[object]]]] = {}
        for row in zip(*map(_read_members, arguments), strict=True):
            changed = self._execute(statement.text, (*values, *row)[: statement.count])
            if not changed:
                continue
            key, session, epoch, last_seq = changed[0]
            stored.append((session, key, 1))
            before = row[columns["before"]]
            if before is None:
                continue
            if row[columns["chunk"]] is not None:
                self._cursor.execute(
                    "INSERT INTO chunks (session, last_seq, first_seq, codec, body) VALUES (?, ?, ?, ?, ?)",
                    (key, last_seq, row[columns["after"]] + 1, row[columns["chunk_codec"]], row[columns["chunk"]]),
                )
            part = row[columns["part"]]
            if part == NO_NOTICE:
                continue
            notice = parts.setdefault((row[columns["channel"]], part), {"e": [], "d": []})
            notice["e"].append([session, last_seq, epoch])
            if row[columns["carried"]]:
                rows = notice_rows(row[columns["codec"]], row[columns["body"]]).decode()
                notice["d"].append([session, last_seq, before + 1, f"{key}\n{rows}"])
        self._notices += [(channel, encode(notice).decode()) for (channel, _), notice in parts.items()]
        return stored

    def _publish(self) -> None:
        notices, self._notices = self._notices, []
        for channel, payload in notices:
            for listening in list(self.listeners.values()):
                for name in listening if channel else [*listening][:1]:
                    if channel in ("", name):
                        listening[name](name, payload)

    def read(self, query: str, *values: object) -> list[Row]:
        """Run a query of an observer."""
        return self._cursor.execute(query, values).fetchall()


class ObserverPool:
    """Runs queries at once, for whoever looks at the database from outside of the simulation."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database

    async def fetch(self, query: str, *arguments: object) -> list[Row]:
        return self._database.run(0, query, translate(query), arguments)


def _to_json(members: list[object]) -> str | None:
    """Return a list of names or keys as SQLite has it."""
    return encode(members).decode() if all(type(member) in (str, int) for member in members) else None


def _read_members(members: Any) -> Sequence[Any]:
    """Return the members of a list, whose numbers and truth values may be a text."""
    if type(members) is not str:
        return members
    return [_VALUES[word] if word in _VALUES else int(word) for word in members[1:-1].split(",")]


def _read_list(text: str) -> list[str]:
    return [name.strip('"') for name in text.strip("[]").split(",") if name]
