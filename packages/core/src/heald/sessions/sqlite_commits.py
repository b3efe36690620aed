"""Counts the commits of a SQLite file, in the file and beside it, so that a lost WAL is noticed.

The newest commits of a file are only in its WAL, `….db-wal`. Without the WAL SQLite opens an older state and reports
nothing. Each commit therefore has a number. The file `….db-commits` holds the number of the last one. It is written
after the commit, so it is never ahead of what was stored. It is not synced: a loss of power may leave it behind, which
hides a loss and never invents one.
"""

import logging
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

_BYTES = 8
_log = logging.getLogger("heald.sessions")


class CommitLedger:
    """The number of the last commit of a file, as all processes that use the file know it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._record = path.with_name(f"{path.name}-commits")
        self._fd = -1
        self._number = 0
        self.missing = 0
        """Commits that were stored and were not in the file any more when it was opened."""

    def open(self, connection: sqlite3.Connection) -> None:
        """Compare the file with its record, and report what is missing. Called once, by the thread that writes."""
        with suppress(OSError):  # a folder that cannot be written is reported by the store
            self._fd = os.open(self._record, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        recorded = self._read()  # before the file, which is never behind it
        (number,) = connection.execute("SELECT number FROM commits").fetchone()
        self.missing = max(recorded - number, 0)
        if self.missing == 0:
            return
        _log.warning("%s", describe_missing(self._path.name, self.missing))
        self._write(number)

    def count(self, connection: sqlite3.Connection) -> None:
        """Number the transaction that is about to be committed."""
        connection.execute("UPDATE commits SET number = number + 1")
        (self._number,) = connection.execute("SELECT number FROM commits").fetchone()

    def record(self) -> None:
        """Record the commit that was just made. Another process may have recorded a later one."""
        if self._number > self._read():
            self._write(self._number)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _read(self) -> int:
        with suppress(OSError):
            data = os.pread(self._fd, _BYTES, 0) if self._fd >= 0 else b""
            return int.from_bytes(data, "big") if len(data) == _BYTES else 0
        return 0

    def _write(self, number: int) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.pwrite(self._fd, number.to_bytes(_BYTES, "big"), 0)


def describe_missing(name: str, commits: int) -> str:
    """Return one sentence about commits that a file lacks."""
    return (
        f"{name} lacks the last {commits:,} commits that were stored in it: its -wal file was removed, or an older "
        "copy was put in its place; restore a newer backup if you have one."
    )
