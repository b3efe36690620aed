"""A connection that its user keeps: to borrow one for each commit costs half as much as the commit."""

from time import monotonic
from types import TracebackType

from heald_nodes.postgres.driver import PostgresConnection, asyncpg
from heald_nodes.postgres.pool import BorrowedConnection, PostgresPool

IDLE_SECONDS = 60.0
"""A connection that was not used for so long is not used again: a firewall may have forgotten it."""


class KeptConnection:
    """A connection of a pool, for one block after the other. After a block that ended with an error, the next one gets
    it from the pool anew, which replaces it if it broke."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._borrowed: BorrowedConnection | None = None
        self._connection: PostgresConnection | None = None
        self._used = 0.0

    async def __aenter__(self) -> PostgresConnection:
        if self._connection is not None and self._must_be_replaced(self._connection):
            await self.release()
        if self._connection is None:
            borrowed = self._pool.connection()
            self._connection = await borrowed.__aenter__()
            self._borrowed = borrowed
        return self._connection

    def _must_be_replaced(self, connection: PostgresConnection) -> bool:
        try:
            if connection.is_closed():
                return True
        except asyncpg.InterfaceError:  # the pool has taken back one that broke
            return True
        is_old = monotonic() - self._used > IDLE_SECONDS
        if is_old:
            connection.terminate()
        return is_old

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._used = monotonic()
        if error is not None:
            await self.release(kind, error, traceback)

    async def release(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Give the connection back to the pool, with the error that ended its last block."""
        borrowed, self._borrowed, self._connection = self._borrowed, None, None
        if borrowed is not None:
            await borrowed.__aexit__(kind, error, traceback)
