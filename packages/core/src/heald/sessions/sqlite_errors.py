"""The errors of SQLite, as those of a store."""

import sqlite3

from heald.sessions.store_errors import DamagedFile, StoreError, StoreFull, StoreLocked


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
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or (name == "SQLITE_ERROR" and _lacks_parts(error)):
        return DamagedFile("The file of the sessions is damaged or is not a database; put a backup in its place.")
    if name.startswith("SQLITE_READONLY"):
        return StoreError("The sessions cannot be written; give the folder and its files write permission.")
    return StoreError(f"The sessions could not be stored or read ({name or type(error).__name__}); check the disk.")


def _lacks_parts(error: sqlite3.Error) -> bool:
    """Return whether the file lacks tables or columns that the migrations made: its schema is damaged."""
    return str(error).startswith(("no such table", "no such column", "malformed"))
