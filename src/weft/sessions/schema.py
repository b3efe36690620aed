"""The tables of a SQLite store, version by version. A database of any version is brought to today's when it is opened.

A migration that was released is never changed; what is needed next is a new one at the end.
"""

import sqlite3
from collections.abc import Sequence
from time import time

from weft.sessions.errors import StoreCorrupt, StoreError

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
)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a database to the newest version: each step whole or not at all."""
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found not in (0, APPLICATION_ID) or (found == 0 and _has_tables(connection)):
        raise StoreCorrupt("The file is a database of another program; name another file for the sessions.")
    connection.execute("BEGIN IMMEDIATE")  # two that open a new file at once do it one after the other
    try:
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


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
