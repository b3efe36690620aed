"""A thread that owns a connection to a SQLite file."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from heald.sessions.job_outcomes import GroupOutcome, JobOutcome, Outcome, post_outcomes
from heald.sessions.sqlite_commits import CommitLedger
from heald.sessions.sqlite_connection import open_connection
from heald.sessions.sqlite_errors import translate_error
from heald.sessions.store_errors import StoreError

T = TypeVar("T")

Job = Callable[[sqlite3.Connection], Any]

GROUP = 256
"""The maximum number of jobs in one transaction."""
QueuedJob = tuple[Job, Outcome, Sequence[Job], bool]
"""A job, its outcome, its parts if it is a group, which run alone if the group fails, and whether it is synced."""


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
        ledger: CommitLedger | None = None,
    ) -> None:
        self._path = path
        self._writes = writes
        self._patience = patience
        self._durable = durable
        self._on_rollback = on_rollback
        self._ledger = ledger
        self._jobs: queue.SimpleQueue[QueuedJob | None] = queue.SimpleQueue()
        self._closed = False
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._live, args=(first,), name=f"heald-store-{'writer' if writes else 'reader'}", daemon=True
        )
        self._thread.start()

    def wait_open(self) -> None:
        """Wait until the connection is open. Raises the error if it cannot be opened."""
        self._ready.result()

    def submit(self, job: Callable[[sqlite3.Connection], T], *, is_synced: bool = True) -> "asyncio.Future[T]":
        """Queue a job. A job may run twice if another one in its transaction fails.

        A commit whose jobs need not be synced does not wait for the disk. The next synced one takes it along: a loss of
        power never leaves a later commit without the earlier ones.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if self._closed:
            future.set_exception(StoreError("The store is closed; open it again."))
        else:
            self._jobs.put((job, JobOutcome(loop, future), (), is_synced))
        return future

    def submit_group(self, job: Job, parts: Sequence[Job], outcome: GroupOutcome) -> None:
        """Queue a job that returns a list of values. If it fails, its parts run instead, each in its transaction."""
        if not self._closed:
            self._jobs.put((job, outcome, parts, True))
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
                if self._ledger is not None:
                    self._ledger.open(connection)
            except (sqlite3.Error, StoreError) as error:
                self._ready.set_exception(translate_error(error))
                return
            self._ready.set_result(None)
            while jobs := self._next():
                self._run(connection, jobs)
        finally:
            if self._ledger is not None:
                self._ledger.close()
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
            values = self._transaction(connection, [job for job, _, _, _ in jobs], any(job[3] for job in jobs))
        except Exception as error:
            if len(jobs) == 1:
                self._run_parts(connection, jobs[0], translate_error(error))
                return
            for job in jobs:  # each in its own transaction, so that one error affects one job
                self._run(connection, [job])
            return
        for (_, outcome, _, _), value in zip(jobs, values, strict=True):
            outcome.set(value)
        post_outcomes([outcome for _, outcome, _, _ in jobs])

    def _run_parts(self, connection: sqlite3.Connection, failed: QueuedJob, error: Exception) -> None:
        """Report the error of a job, or run the parts of a group, each alone."""
        _, outcome, parts, _ = failed
        if isinstance(outcome, JobOutcome):
            outcome.set(None, error)
        else:
            outcome.set([self._run_part(connection, part) for part in parts])
        post_outcomes([outcome])

    def _run_part(self, connection: sqlite3.Connection, part: Job) -> Any:
        try:
            return self._transaction(connection, [part])[0]
        except Exception as error:
            return translate_error(error)

    def _transaction(self, connection: sqlite3.Connection, jobs: list[Job], is_synced: bool = True) -> list[Any]:
        if is_synced or not self._durable:
            return self._commit(connection, jobs, self._ledger)
        connection.execute("PRAGMA synchronous = NORMAL")
        try:
            return self._commit(connection, jobs, None)  # a loss of power may lose what the ledger would count
        finally:
            connection.execute("PRAGMA synchronous = FULL")

    def _commit(self, connection: sqlite3.Connection, jobs: list[Job], ledger: CommitLedger | None) -> list[Any]:
        connection.execute("BEGIN IMMEDIATE" if self._writes else "BEGIN")
        changes = connection.total_changes
        try:
            values = [job(connection) for job in jobs]
            if connection.total_changes == changes:
                ledger = None
            if ledger is not None:
                ledger.count(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._on_rollback()
            raise
        if ledger is not None:
            ledger.record()
        return values
