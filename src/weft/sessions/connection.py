"""A SQLite connection in a thread of its own, so that no event loop ever waits for a disk."""

import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from weft.sessions.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked

T = TypeVar("T")

Job = Callable[[sqlite3.Connection], Any]

GROUP = 256
"""Jobs that one transaction may hold."""


def connect(path: Path, *, patience: float, durable: bool) -> sqlite3.Connection:
    """A connection as all of ours are. Transactions are begun and ended by hand."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # conversations are their owner's alone
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for one another
        # In WAL mode NORMAL survives the death of the process, only FULL that of the machine as well.
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")  # a session takes its events along
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from elsewhere
        connection.execute("PRAGMA journal_size_limit = 16777216")  # a WAL that grew once does not stay that large
        connection.execute("PRAGMA temp_store = MEMORY")  # nothing of a conversation in /tmp
    except BaseException:
        connection.close()
        raise
    return connection


class Connection:
    """Runs jobs in order. A writer puts those that wait into one transaction, so that they share one commit."""

    def __init__(self, path: Path, *, writes: bool, patience: float, durable: bool, first: Job) -> None:
        self._path = path
        self._writes = writes
        self._patience = patience
        self._durable = durable
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        self._closed = False
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._live, args=(first,), name=f"weft-store-{'writer' if writes else 'reader'}", daemon=True
        )
        self._thread.start()

    def opened(self) -> None:
        """Wait until the connection stands. Raises why it does not."""
        self._ready.result()

    def submit(self, job: Callable[[sqlite3.Connection], T]) -> "Future[T]":
        """Let a job run. A job may be run twice if another one in its transaction fails."""
        future: Future[T] = Future()
        if self._closed:
            future.set_exception(StoreError("The store is closed; open it again."))
        else:
            self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Let all that waits be done, and end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    # --- in the thread -------------------------------------------------------------------------------------------

    def _live(self, first: Job) -> None:
        try:
            connection = connect(self._path, patience=self._patience, durable=self._durable)
        except (sqlite3.Error, OSError) as error:
            self._ready.set_exception(explain(error))
            return
        try:
            try:
                first(connection)
            except (sqlite3.Error, StoreError) as error:
                self._ready.set_exception(explain(error))
                return
            self._ready.set_result(None)
            while jobs := self._next():
                self._run(connection, jobs)
        finally:
            connection.close()  # the last one to leave folds the WAL into the database

    def _next(self) -> list[tuple[Job, Future[Any]]]:
        """What waits, at least one job; nothing at the end."""
        item = self._jobs.get()
        jobs: list[tuple[Job, Future[Any]]] = []
        while item is not None:
            if item[1].set_running_or_notify_cancel():
                jobs.append(item)
            if len(jobs) >= GROUP or (jobs and self._jobs.empty()):
                return jobs
            item = self._jobs.get()
        self._jobs.put(None)
        return jobs

    def _run(self, connection: sqlite3.Connection, jobs: list[tuple[Job, Future[Any]]]) -> None:
        try:
            values = self._transaction(connection, [job for job, _ in jobs])
        except Exception as error:
            if len(jobs) == 1:
                jobs[0][1].set_exception(explain(error))
                return
            for job in jobs:  # each by itself, so that one's fault is not another's
                self._run(connection, [job])
            return
        for (_, future), value in zip(jobs, values, strict=True):
            future.set_result(value)

    def _transaction(self, connection: sqlite3.Connection, jobs: list[Job]) -> list[Any]:
        connection.execute("BEGIN IMMEDIATE" if self._writes else "BEGIN")
        try:
            values = [job(connection) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return values


def explain(error: Exception) -> Exception:
    """A database's error in our words. What is ours already stays."""
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
