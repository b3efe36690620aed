"""Connections to a PostgreSQL store: asyncpg, as far as the store uses it, with types; a pool that outlives restarts of
the server and migrates the schema; and errors in plain words."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import Any, Protocol, TypeVar

from weft.core.errors import ConfigurationError
from weft.sessions.postgres.address import with_password, without_password
from weft.sessions.postgres.schema import KNOWN, MIGRATIONS, check_version
from weft.sessions.store import StoreError, StoreFull

PATIENCE = 30.0
"""Seconds that a query waits for a database that restarts."""
_CONNECT_SECONDS = 10.0
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_LOCK = 0x57454654  # "WEFT"

T = TypeVar("T")


def _load_driver() -> Any:
    try:
        return import_module("asyncpg")
    except ImportError:
        raise ConfigurationError(
            "A store in PostgreSQL needs asyncpg; install it with: pip install 'weft[postgres]'."
        ) from None


asyncpg: Any = _load_driver()

Row = Sequence[Any]
Listener = Callable[[Any, int, str, str], object]


class PostgresConnection(Protocol):
    """A connection to the database."""

    async def execute(self, query: str, *arguments: object) -> str: ...

    async def executemany(self, command: str, args: Sequence[Sequence[object]]) -> None: ...

    async def fetch(self, query: str, *arguments: object) -> Sequence[Row]: ...

    async def fetchrow(self, query: str, *arguments: object) -> Row | None: ...

    async def fetchval(self, query: str, *arguments: object) -> Any: ...

    def transaction(self) -> AbstractAsyncContextManager[object]: ...

    async def add_listener(self, channel: str, callback: Listener) -> None: ...

    def is_closed(self) -> bool: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...


class Pool(Protocol):
    """Connections that are shared."""

    def acquire(self) -> AbstractAsyncContextManager[PostgresConnection]: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...


LOST: tuple[type[BaseException], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    OSError,
    TimeoutError,
)
"""Errors of a connection that broke or could not be made: the query may be repeated on another one."""


def is_lost(error: BaseException) -> bool:
    """Whether an error means that the connection, and not the query, has failed."""
    return isinstance(error, LOST) and not isinstance(error, ValueError)  # a ValueError is a wrong argument


class StoreUnreachable(StoreError):
    """The database does not answer."""

    happened = "The database could not be reached"


class PostgresPool:
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

    async def connect_alone(self) -> PostgresConnection:
        """Open a connection outside of the pool."""
        return await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS)

    async def run(self, query: Callable[[PostgresConnection], Awaitable[T]]) -> T:
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
    async def connection(self) -> AsyncGenerator[PostgresConnection]:
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


async def read_version(connection: PostgresConnection) -> tuple[int, int]:
    """Return the version of the schema, and the oldest version whose Weft may use it. 0 for an empty database."""
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0, 0
    row = await connection.fetchrow("SELECT version, readable_by FROM schema_version ORDER BY version DESC LIMIT 1")
    return (row[0], row[1]) if row is not None else (0, 0)


async def migrate_schema(connection: PostgresConnection) -> int:
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
