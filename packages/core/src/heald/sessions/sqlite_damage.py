"""Checks whether a SQLite file is damaged."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

MOST_PROBLEMS = 5


def find_damage(connection: sqlite3.Connection) -> Sequence[str]:
    """Read the whole file and return what is damaged, at most `MOST_PROBLEMS` lines."""
    try:
        rows = connection.execute(f"PRAGMA quick_check({MOST_PROBLEMS})").fetchall()
    except sqlite3.DatabaseError as error:
        if not (getattr(error, "sqlite_errorname", "") or "").startswith("SQLITE_CORRUPT"):
            raise
        return [str(error)]
    lines = [line for (text,) in rows for line in str(text).splitlines()]
    return [] if lines == ["ok"] else lines[:MOST_PROBLEMS]


def check_file(path: Path, *, seconds: float) -> Sequence[str] | None:
    """Check a file without changing it. Returns None if that takes longer than `seconds`."""
    until = monotonic() + seconds
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1.0)
    except sqlite3.Error as error:
        return [str(error)]
    try:
        connection.set_progress_handler(lambda: monotonic() > until, 100_000)
        return find_damage(connection)
    except sqlite3.OperationalError as error:
        return None if monotonic() > until else [str(error)]
    except sqlite3.Error as error:
        return [str(error)]
    finally:
        connection.close()
