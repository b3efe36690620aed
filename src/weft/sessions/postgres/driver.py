"""asyncpg, as far as the store uses it, with types."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Protocol

from weft.core.errors import ConfigurationError


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


class Connection(Protocol):
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

    def acquire(self) -> AbstractAsyncContextManager[Connection]: ...

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
