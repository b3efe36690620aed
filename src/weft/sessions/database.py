"""The SQLite file: its tables, and one thread that owns a connection."""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any, TypeVar

from weft.sessions.store import StoreCorrupt, StoreError, StoreFull, StoreLocked

T = TypeVar("T")

Job = Callable[[sqlite3.Connection], Any]

GROUP = 256
"""The maximum number of jobs in one transaction."""


def open_connection(path: Path, *, patience: float, durable: bool) -> sqlite3.Connection:
    """Open a connection with the pragmas of Weft. Transactions are begun and ended explicitly."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # readable by its owner only
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not block each other
        # In WAL mode NORMAL survives the death of the process, only FULL that of the machine as well.
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")  # deleting a session deletes its events
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may be untrusted
        connection.execute("PRAGMA journal_size_limit = 16777216")  # a large WAL shrinks again
        connection.execute("PRAGMA temp_store = MEMORY")  # no conversation data in /tmp
    except BaseException:
        connection.close()
        raise
    return connection


class JobOutcome:
    """The outcome of a job, for a future of an event loop. The outcomes of a transaction wake their loop once."""

    __slots__ = ("_error", "_future", "_value", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        self.loop = loop
        self._future = future
        self._value: Any = None
        self._error: Exception | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._future.cancelled()

    def set(self, value: Any, error: Exception | None = None) -> None:
        self._value, self._error = value, error

    def resolve(self) -> None:
        """Resolve the future. Called in its loop."""
        if self._future.done():
            return
        if self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._value)


class GroupOutcome:
    """The outcomes of a job for several callers: each is called back with its value or its error."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, callbacks: Sequence[Callable[[Any, Exception | None], object]]
    ) -> None:
        self.loop = loop
        self.is_cancelled = False
        self._callbacks = callbacks
        self._values: Sequence[Any] = ()

    def set(self, value: Sequence[Any]) -> None:
        """Set the value of each caller; an exception is its error."""
        self._values = value

    def resolve(self) -> None:
        for callback, value in zip(self._callbacks, self._values, strict=True):
            is_error = isinstance(value, Exception)
            callback(None if is_error else value, value if is_error else None)


Outcome = JobOutcome | GroupOutcome
QueuedJob = tuple[Job, Outcome, Sequence[Job]]
"""A job, its outcome, and its parts if it is a group: they run alone if the group fails."""


def _resolve_all(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        outcome.resolve()


def _post(outcomes: Sequence[Outcome]) -> None:
    """Resolve the outcomes in their loops. A loop that is closed waits for nothing."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.loop, []).append(outcome)
    for loop, own in by_loop.items():
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve_all, own)


class DatabaseThread:
    """A thread that owns a connection and runs jobs in order. A writer groups waiting jobs into one transaction."""

    def __init__(
        self,
        path: Path,
        *,
        writes: bool,
        patience: float,
        durable: bool,
        first: Job,
        on_rollback: Callable[[], object] = lambda: None,
    ) -> None:
        self._path = path
        self._writes = writes
        self._patience = patience
        self._durable = durable
        self._on_rollback = on_rollback
        self._jobs: queue.SimpleQueue[QueuedJob | None] = queue.SimpleQueue()
        self._closed = False
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._live, args=(first,), name=f"weft-store-{'writer' if writes else 'reader'}", daemon=True
        )
        self._thread.start()

    def wait_open(self) -> None:
        """Wait until the connection is open. Raises the error if it cannot be opened."""
        self._ready.result()

    def submit(self, job: Callable[[sqlite3.Connection], T]) -> "asyncio.Future[T]":
        """Queue a job. A job may run twice if another one in its transaction fails."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if self._closed:
            future.set_exception(StoreError("The store is closed; open it again."))
        else:
            self._jobs.put((job, JobOutcome(loop, future), ()))
        return future

    def submit_group(self, job: Job, parts: Sequence[Job], outcome: GroupOutcome) -> None:
        """Queue a job that returns a list of values. If it fails, its parts run instead, each in its transaction."""
        if not self._closed:
            self._jobs.put((job, outcome, parts))
            return
        outcome.set([StoreError("The store is closed; open it again.") for _ in parts])
        outcome.loop.call_soon(outcome.resolve)

    def close(self) -> None:
        """Finish all queued jobs and end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    # --- in the thread -------------------------------------------------------------------------------------------

    def _live(self, first: Job) -> None:
        try:
            connection = open_connection(self._path, patience=self._patience, durable=self._durable)
        except (sqlite3.Error, OSError) as error:
            self._ready.set_exception(translate_error(error))
            return
        try:
            try:
                first(connection)
            except (sqlite3.Error, StoreError) as error:
                self._ready.set_exception(translate_error(error))
                return
            self._ready.set_result(None)
            while jobs := self._next():
                self._run(connection, jobs)
        finally:
            connection.close()  # the last connection merges the WAL into the database

    def _next(self) -> list[QueuedJob]:
        """Wait for jobs. Returns an empty list at the end."""
        item = self._jobs.get()
        jobs: list[QueuedJob] = []
        while item is not None:
            if not item[1].is_cancelled:
                jobs.append(item)
            if len(jobs) >= GROUP or (jobs and self._jobs.empty()):
                return jobs
            item = self._jobs.get()
        self._jobs.put(None)
        return jobs

    def _run(self, connection: sqlite3.Connection, jobs: list[QueuedJob]) -> None:
        try:
            values = self._transaction(connection, [job for job, _, _ in jobs])
        except Exception as error:
            if len(jobs) == 1:
                self._run_parts(connection, jobs[0], translate_error(error))
                return
            for job in jobs:  # each in its own transaction, so that one error affects one job
                self._run(connection, [job])
            return
        for (_, outcome, _), value in zip(jobs, values, strict=True):
            outcome.set(value)
        _post([outcome for _, outcome, _ in jobs])

    def _run_parts(self, connection: sqlite3.Connection, failed: QueuedJob, error: Exception) -> None:
        """Report the error of a job, or run the parts of a group, each alone."""
        _, outcome, parts = failed
        if isinstance(outcome, JobOutcome):
            outcome.set(None, error)
        else:
            outcome.set([self._run_part(connection, part) for part in parts])
        _post([outcome])

    def _run_part(self, connection: sqlite3.Connection, part: Job) -> Any:
        try:
            return self._transaction(connection, [part])[0]
        except Exception as error:
            return translate_error(error)

    def _transaction(self, connection: sqlite3.Connection, jobs: list[Job]) -> list[Any]:
        connection.execute("BEGIN IMMEDIATE" if self._writes else "BEGIN")
        try:
            values = [job(connection) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._on_rollback()
            raise
        return values


def translate_error(error: Exception) -> Exception:
    """Translate an error of the database into a StoreError. Other errors stay as they are."""
    if isinstance(error, OSError):
        return StoreError(f"The sessions cannot be opened ({error.strerror}); check the folder and its permissions.")
    if not isinstance(error, sqlite3.Error):
        return error
    name = getattr(error, "sqlite_errorname", "") or ""
    if name == "SQLITE_FULL":
        return StoreFull("There is no room left to store the session; make room, then open the session again.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreLocked("Another process keeps the sessions locked; end it, then open the session again.")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreCorrupt("The file of the sessions is damaged or no database; put a backup in its place.")
    if name.startswith("SQLITE_READONLY"):
        return StoreError("The sessions cannot be written; give the folder and its files write permission.")
    return StoreError(f"The sessions could not be stored or read ({name or type(error).__name__}); check the disk.")


Migration = tuple[str, ...]

APPLICATION_ID = 0x57454654  # "WEFT"

MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE sessions (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            title_key TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            last_seq INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            holder TEXT NOT NULL,
            expires REAL NOT NULL,
            parent TEXT,
            parent_seq INTEGER,
            settings BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX sessions_by_update ON sessions (updated DESC, id)",
        """
        CREATE TABLE events (
            session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            body BLOB NOT NULL,
            refs BLOB,
            PRIMARY KEY (session, seq)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE blobs (digest TEXT NOT NULL UNIQUE, data BLOB NOT NULL) STRICT",
        """
        CREATE TABLE session_blobs (
            session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
            digest TEXT NOT NULL,
            PRIMARY KEY (session, digest)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX session_blobs_by_digest ON session_blobs (digest)",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX sessions_by_owner ON sessions (owner, updated DESC, id)",
    ),
    ("ALTER TABLE sessions ADD COLUMN draft INTEGER NOT NULL DEFAULT 0",),
    ("ALTER TABLE sessions ADD COLUMN kind TEXT NOT NULL DEFAULT ''",),
    (
        "ALTER TABLE sessions ADD COLUMN cause TEXT",
        "CREATE INDEX sessions_by_parent ON sessions (parent) WHERE cause IS NOT NULL",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN work TEXT NOT NULL DEFAULT 'idle'",
        "ALTER TABLE sessions ADD COLUMN node TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE sessions ADD COLUMN not_before REAL NOT NULL DEFAULT 0",
        """
        UPDATE sessions SET work = 'running' WHERE last_seq > 0 AND NOT EXISTS (
            SELECT 1 FROM events WHERE session = key AND seq = last_seq AND (
                instr(body, CAST('"type":"exchange_response"' AS BLOB))
                OR instr(body, CAST('"type":"session_rewound"' AS BLOB))
                OR instr(body, CAST('"type":"file_accepted"' AS BLOB))
            )
        )
        """,
        "CREATE INDEX sessions_by_work ON sessions (work) WHERE work <> 'idle'",
        "CREATE TABLE nodes (name TEXT PRIMARY KEY, info BLOB NOT NULL) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE commands (
            id TEXT PRIMARY KEY,
            session TEXT NOT NULL,
            body BLOB NOT NULL,
            expires REAL NOT NULL,
            accepted_by TEXT NOT NULL,
            reply BLOB
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE spent (
            owner TEXT NOT NULL,
            minute INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            usd REAL NOT NULL,
            unpriced INTEGER NOT NULL,
            PRIMARY KEY (owner, minute)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE records (
            kind TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE deletions (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL) STRICT",
        "CREATE TABLE record_changes (kind TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    ("ALTER TABLE sessions ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0",),
    (),  # a row of `events` may hold a run of deltas, which an earlier Weft cannot read
)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Migrate a database to the newest version in one transaction."""
    connection.execute("BEGIN IMMEDIATE")  # serialises two processes that open a new file
    try:
        if _is_foreign(connection):
            raise StoreCorrupt("The file is a database of another program; name another file for the sessions.")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied REAL NOT NULL) STRICT"
        )
        version = connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()[0]
        if version > len(migrations):
            raise StoreError(
                f"The sessions were written by a newer Weft (schema {version}; this one knows {len(migrations)}); "
                "install the newer one."
            )
        for number, statements in enumerate(migrations[version:], version + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT INTO schema_version VALUES (?, ?)", (number, time()))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _is_foreign(connection: sqlite3.Connection) -> bool:
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found == 0:
        return connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
    return found != APPLICATION_ID
