"""A connection to a SQLite file."""

import os
import sqlite3
from pathlib import Path


def open_connection(path: Path, *, patience: float, durable: bool) -> sqlite3.Connection:
    """Open a connection with the pragmas of Heald. Transactions are begun and ended explicitly."""
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
