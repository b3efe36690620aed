"""The tables of a SQLite store, and their migrations."""

import sqlite3
from collections.abc import Sequence
from time import time

from heald.sessions.store_errors import StoreCorrupt, StoreError

Migration = tuple[str, ...]

APPLICATION_ID = 0x4845414C  # "HEAL"
_FORMER_ID = 0x57454654
"""The id of files from before the project got its name. Their tables are the same."""

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
    (),  # a row of `events` may hold a run of deltas, which an earlier Heald cannot read
    (),  # ids in events are called `message_id` and `call_id`, which an earlier Heald cannot read
    (
        "CREATE TABLE commits (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL) STRICT",
        "INSERT INTO commits VALUES (1, 0)",
    ),
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
                f"The sessions were written by a newer Heald (schema {version}; this one knows {len(migrations)}); "
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
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == 0:
        return connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
    return application not in (APPLICATION_ID, _FORMER_ID)
