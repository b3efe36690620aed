"""The tables of a PostgreSQL store, their migrations, and the conditions that several queries share; and its
connections: a pool that outlives restarts of the server, and errors in plain words.

A migration runs once for all nodes, under a lock. Each one names the oldest schema whose Weft can still work with it,
so that the nodes of a cluster can be replaced one by one.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from weft.core.json import JsonObject
from weft.sessions.postgres.address import with_password, without_password
from weft.sessions.postgres.driver import LOST, Connection, Pool, Row, asyncpg, is_lost
from weft.sessions.shared import NODE_SECONDS
from weft.sessions.store import StoreError, StoreFull

PARTITIONS = 16
_LOCK = 0x57454654  # "WEFT"
_LOST_SECONDS = NODE_SECONDS / 2
_RESTART_SECONDS = 2 * NODE_SECONDS


@dataclass(frozen=True, slots=True)
class PostgresMigration:
    """Statements that bring the schema to a version."""

    version: int
    readable_by: int
    """The oldest schema version whose Weft may still read and write."""
    statements: tuple[str, ...]


NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The clock of the database. The clocks of nodes are in events only."""

_FIRST = (
    """
    CREATE TABLE sessions (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text NOT NULL UNIQUE,
        owner text NOT NULL,
        kind text NOT NULL,
        title text NOT NULL,
        title_key text NOT NULL,
        created float8 NOT NULL,
        updated float8 NOT NULL,
        last_seq bigint NOT NULL DEFAULT 0,
        epoch bigint NOT NULL,
        holder text NOT NULL DEFAULT '',
        node text NOT NULL DEFAULT '',
        expires float8 NOT NULL DEFAULT 0,
        not_before float8 NOT NULL DEFAULT 0,
        work text NOT NULL DEFAULT 'idle',
        folder text,
        parent text,
        parent_seq bigint,
        cause text,
        settings bytea NOT NULL,
        draft boolean NOT NULL,
        thinned bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 70)
    """,
    "CREATE INDEX sessions_by_update ON sessions (updated DESC, id)",
    "CREATE INDEX sessions_by_owner ON sessions (owner, updated DESC, id)",
    "CREATE INDEX sessions_by_parent ON sessions (parent) WHERE cause IS NOT NULL",
    "CREATE INDEX sessions_by_work ON sessions (work, node) WHERE work <> 'idle'",
    """
    CREATE TABLE chunks (
        session bigint NOT NULL,
        last_seq bigint NOT NULL,
        first_seq bigint NOT NULL,
        codec smallint NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (session, last_seq)
    ) PARTITION BY HASH (session)
    """,
    *(
        f"CREATE TABLE chunks_{number} PARTITION OF chunks FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        for number in range(PARTITIONS)
    ),
    *(f"ALTER TABLE chunks_{number} ALTER COLUMN body SET STORAGE EXTERNAL" for number in range(PARTITIONS)),
    "CREATE TABLE blobs (digest text PRIMARY KEY, data bytea NOT NULL)",
    """
    CREATE TABLE session_blobs (
        session bigint NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
        digest text NOT NULL,
        PRIMARY KEY (session, digest)
    )
    """,
    "CREATE INDEX session_blobs_by_digest ON session_blobs (digest)",
    """
    CREATE TABLE nodes (
        name text PRIMARY KEY,
        expires float8 NOT NULL,
        folders text[] NOT NULL,
        room integer NOT NULL,
        version text NOT NULL
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE commands (
        id text PRIMARY KEY,
        session text NOT NULL,
        body bytea NOT NULL,
        expires float8 NOT NULL,
        accepted_by text,
        reply bytea
    )
    """,
    "CREATE INDEX commands_by_session ON commands (session) WHERE reply IS NULL",
    """
    CREATE TABLE spent (
        owner text NOT NULL,
        minute bigint NOT NULL,
        tokens bigint NOT NULL,
        usd float8 NOT NULL,
        unpriced boolean NOT NULL,
        PRIMARY KEY (owner, minute)
    )
    """,
    "CREATE TABLE records (kind text NOT NULL, name text NOT NULL, data bytea NOT NULL, PRIMARY KEY (kind, name))",
)

MIGRATIONS = (
    PostgresMigration(1, 1, _FIRST),
    PostgresMigration(2, 1, ("ALTER TABLE nodes ADD COLUMN backend integer NOT NULL DEFAULT 0",)),
)
KNOWN = MIGRATIONS[-1].version


async def read_version(connection: Connection) -> tuple[int, int]:
    """Return the version of the schema, and the oldest version whose Weft may use it. 0 for an empty database."""
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0, 0
    row = await connection.fetchrow("SELECT version, readable_by FROM schema_version ORDER BY version DESC LIMIT 1")
    return (row[0], row[1]) if row is not None else (0, 0)


async def migrate_schema(connection: Connection) -> int:
    """Bring the schema to the newest known version, in one transaction. Returns its version."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))", _LOCK)
        version, readable_by = await read_version(connection)
        check_version(version, readable_by)
        if version == 0:
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version"
                " (version integer PRIMARY KEY, readable_by integer NOT NULL, applied timestamptz NOT NULL)"
            )
        for migration in MIGRATIONS:
            if migration.version <= version:
                continue
            for statement in migration.statements:
                await connection.execute(statement)
            await connection.execute(
                "INSERT INTO schema_version VALUES ($1, $2, now())", migration.version, migration.readable_by
            )
        return max(version, KNOWN)


def check_version(version: int, readable_by: int) -> None:
    if readable_by > KNOWN:
        raise StoreError(
            f"The sessions were written by a newer Weft (schema {version}; this one knows {KNOWN}); "
            "install the newer one."
        )


_ALIVE = f"""EXISTS (SELECT 1 FROM nodes n WHERE n.name = s.node AND n.expires > {NOW}
    AND (n.backend = 0 OR n.expires > {NOW} + {NODE_SECONDS - _LOST_SECONDS}
        OR EXISTS (SELECT 1 FROM pg_stat_get_activity(n.backend))))"""
"""A node is dead `NODE_SECONDS` after its last heartbeat, or half of that if the connection of its heartbeats is closed
too, as it is when its process was killed."""
_JUDGED = f"extract(epoch FROM pg_postmaster_start_time())::float8 + {_RESTART_SECONDS} < {NOW}"
"""After a restart of the database every node needs the time for a heartbeat before it can be judged dead."""
NODE_DEAD = f"(s.node <> '' AND $1::boolean AND {_JUDGED} AND NOT {_ALIVE})"
"""The node of a session is dead. The first parameter of the query is whether this node may judge others."""
FREE = f"(s.holder = '' OR s.expires <= {NOW} OR {NODE_DEAD})"
CLAIMABLE = f"""(s.work <> 'idle' AND NOT s.draft AND s.cause IS NULL AND s.not_before <= {NOW}
    AND CASE WHEN s.holder = '' THEN s.node = '' OR {NODE_DEAD} ELSE s.expires <= {NOW} OR {NODE_DEAD} END)"""


def folder_of(settings: JsonObject) -> str | None:
    """Return the name of the folder that a session works in, if it works in one."""
    folder = settings.get("workspace")
    return folder if isinstance(folder, str) else None


# --- connections -----------------------------------------------------------------------------------------------------


T = TypeVar("T")

PATIENCE = 30.0
"""Seconds that a query waits for a database that restarts."""
_CONNECT_SECONDS = 10.0
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class StoreUnreachable(StoreError):
    """The database does not answer."""

    happened = "The database could not be reached"


class ConnectionPool:
    """Opens connections on demand. The schema is migrated before the first query."""

    def __init__(self, url: str, *, size: int = 8, patience: float = PATIENCE) -> None:
        self._url = with_password(url)
        self.name = without_password(url)
        """The address without its password."""
        self.schema = ""
        """The schema of the tables, known after the first connection."""
        self._size = size
        self.patience = patience
        self._pool: Pool | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def open(self) -> Pool:
        """Return the pool, connected."""
        if self._pool is not None:
            return self._pool
        async with self._opening:
            if self._closed:
                raise StoreError("The store is closed; open it again.")
            if self._pool is None:
                self._pool = await self._connect()
            return self._pool

    async def connect_alone(self) -> Connection:
        """Open a connection outside of the pool."""
        return await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS)

    async def run(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a query that may be repeated: if its connection breaks it is run on a new one, until patience ends."""
        until = monotonic() + self.patience
        pause = _FIRST_PAUSE
        while True:
            try:
                async with self.connection() as connection:
                    return await query(connection)
            except Exception as error:
                if not is_lost(error) or monotonic() + pause > until or self._closed:
                    raise translate_error(error, self.name) from None
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def fetch(self, query: str, *arguments: object) -> Sequence[Row]:
        """Run one statement that may be repeated, and return its rows."""
        return await self.run(lambda connection: connection.fetch(query, *arguments))

    async def fetchrow(self, query: str, *arguments: object) -> Row | None:
        return await self.run(lambda connection: connection.fetchrow(query, *arguments))

    async def fetchval(self, query: str, *arguments: object) -> Any:
        return await self.run(lambda connection: connection.fetchval(query, *arguments))

    async def execute(self, query: str, *arguments: object) -> None:
        await self.run(lambda connection: connection.execute(query, *arguments))

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """Borrow a connection, without repeating anything."""
        pool = await self.open()
        async with pool.acquire() as connection:
            yield connection

    async def close(self) -> None:
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(*LOST):
                async with asyncio.timeout(5):
                    await pool.close()

    async def _connect(self) -> Pool:
        pool: Pool = await asyncpg.create_pool(
            self._url, min_size=0, max_size=self._size, timeout=_CONNECT_SECONDS, command_timeout=30.0
        )
        try:
            async with pool.acquire() as connection:
                await migrate_schema(connection)
                self.schema = await connection.fetchval("SELECT current_schema()")
        except BaseException:
            pool.terminate()
            raise
        return pool


def translate_error(error: Exception, name: str) -> Exception:
    """Translate an error of the database into a StoreError. Other errors stay as they are."""
    if isinstance(error, asyncpg.DiskFullError):
        return StoreFull("The database has no room left; make room, then open the session again.")
    if isinstance(error, asyncpg.InvalidPasswordError | asyncpg.InvalidAuthorizationSpecificationError):
        return StoreError(f"The database at {name} refuses the user or password; check WEFT_STORE_PASSWORD.")
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return StoreError(f"There is no such database at {name}; create it with createdb.")
    if is_lost(error):
        return StoreUnreachable(f"The database at {name} cannot be reached ({_reason(error)}); check that it runs.")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"The database could not store or read ({type(error).__name__}); see its log.")
    return error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
