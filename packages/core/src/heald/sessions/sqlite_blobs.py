"""The blobs of a SQLite store."""

import sqlite3
from collections.abc import Mapping

from heald.sessions.store_errors import NoSuchBlob


def keep_blobs(connection: sqlite3.Connection, key: int, blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        connection.execute("INSERT INTO session_blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (key, digest))
        connection.execute("INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data))


def read_blob(connection: sqlite3.Connection, key: int, digest: str) -> bytes:
    row = connection.execute(
        "SELECT data FROM blobs NATURAL JOIN session_blobs WHERE session = ? AND digest = ?", (key, digest)
    ).fetchone()
    if row is None:
        raise NoSuchBlob(digest)
    return row[0]
