"""A pool of connections that outlives restarts of the database server, and migrates the schema."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

from heald.sessions.store_errors import StoreError
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.driver import DriverPool, PostgresConnection, Row, asyncpg
from heald_nodes.postgres.driver_errors import LOST, is_lost, translate_error
from heald_nodes.postgres.migration import migrate_schema, read_version

PATIENCE = 30.0
"""Seconds that a query waits for a database that restarts."""
_CONNECT_SECONDS = 10.0
_QUERY_SECONDS = 30.0
_QUERY_SECONDS_WITH_STANDBY = 10.0
"""A query that gets no answer for so long may be answered by a server that has taken over."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0

T = TypeVar("T")


class BorrowedConnection:
    """A connection of a pool for the duration of a block."""

    __slots__ = ("_borrowed", "_connection", "_pool")

    def __init__(self, pool: "PostgresPool") -> None:
        self._pool = pool

    async def __aenter__(self) -> PostgresConnection:
        self._borrowed = (await self._pool.open()).acquire()
        self._connection = await self._borrowed.__aenter__()
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, TimeoutError):
            self._connection.terminate()  # the pool would wait for the end of the query
        await self._borrowed.__aexit__(kind, error, traceback)


class PostgresPool:
    """Opens connections on demand. The schema is migrated before the first query."""

    def __init__(
        self, address: PostgresAddress, *, size: int = 8, patience: float = PATIENCE, plans_once: bool = False
    ) -> None:
        """With `plans_once` a statement is planned once for each connection, and not for its parameters."""
        self.address = address
        self.name = address.name
        """The address without its password."""
        self.schema = ""
        """The schema of the tables, known after the first connection."""
        self.service = ""
        """The name of the service that these tables belong to, known after the first connection."""
        self.readable_by = 0
        """The oldest schema whose Heald may use these tables, as it was at the first connection."""
        self.is_utf8 = False
        """Whether the database stores every text."""
        self._size = size
        self._plans_once = plans_once
        self.patience = patience
        self._pool: DriverPool | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def open(self) -> DriverPool:
        """Return the pool, connected."""
        if self._pool is not None:
            return self._pool
        async with self._opening:
            if self._closed:
                raise StoreError("The store is closed; open it again.")
            if self._pool is None:
                self._pool = await self._connect()
            return self._pool

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

    def connection(self) -> BorrowedConnection:
        """Borrow a connection for a block, without repeating anything."""
        return BorrowedConnection(self)

    async def close(self) -> None:
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(*LOST):
                async with asyncio.timeout(5):
                    await pool.close()

    async def _connect(self) -> DriverPool:
        pool: DriverPool = await asyncpg.create_pool(
            min_size=0,
            max_size=self._size,
            connect=self.address.connect,
            timeout=_CONNECT_SECONDS,
            command_timeout=_QUERY_SECONDS_WITH_STANDBY if self.address.has_standby else _QUERY_SECONDS,
            reset=_keep_settings,
            init=self._set_plans,
        )
        try:
            async with pool.acquire() as connection:
                await self._prepare(connection)
        except BaseException:
            pool.terminate()
            raise
        return pool

    async def _set_plans(self, connection: PostgresConnection) -> None:
        if self._plans_once and not self.address.is_pooled:  # a pooler gives the session to others
            await connection.execute("SET plan_cache_mode = force_generic_plan")

    async def _prepare(self, connection: PostgresConnection) -> None:
        """Migrate the schema, and read what is known after the first connection."""
        await migrate_schema(connection)
        self.schema = await connection.fetchval("SELECT current_schema()")
        self.service = await connection.fetchval("SELECT name FROM service")
        _, self.readable_by = await read_version(connection)
        self.is_utf8 = await connection.fetchval("SELECT getdatabaseencoding() = 'UTF8'")


async def _keep_settings(connection: PostgresConnection) -> None:
    """Reset nothing: no query of the store changes a setting, listens, or keeps a lock beyond its transaction, and the
    driver's own reset costs a statement for each of ours."""
