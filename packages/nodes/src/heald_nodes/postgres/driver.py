"""asyncpg, as far as the store uses it, with types."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Protocol

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError


def _load_driver() -> Any:
    try:
        return import_module("asyncpg")
    except ImportError:
        raise ConfigurationError(
            f"A store in PostgreSQL needs asyncpg; install it: {install_advice('postgres')}."
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

    def get_server_pid(self) -> int: ...

    def is_closed(self) -> bool: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...


class DriverPool(Protocol):
    """Connections that are shared."""

    def acquire(self) -> AbstractAsyncContextManager[PostgresConnection]: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...
