"""The errors of the database driver, as those of a store."""

from heald.sessions.store_errors import StoreError, StoreFull
from heald_nodes.postgres.driver import asyncpg

LOST: tuple[type[BaseException], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the connection ended in the middle of a message
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


def translate_error(error: Exception, name: str) -> Exception:
    """Translate an error of the database into a StoreError. Other errors stay as they are."""
    if isinstance(error, asyncpg.DiskFullError):
        return StoreFull("The database has no room left; make room, then open the session again.")
    if isinstance(error, asyncpg.InvalidPasswordError | asyncpg.InvalidAuthorizationSpecificationError):
        return StoreError(f"The database at {name} refuses the user or password; check HEALD_STORE_PASSWORD.")
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return StoreError(f"There is no such database at {name}; create it with createdb.")
    if is_lost(error):
        return StoreUnreachable(f"The database at {name} cannot be reached ({_reason(error)}); check that it runs.")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"The database could not store or read ({type(error).__name__}); see its log.")
    return error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
