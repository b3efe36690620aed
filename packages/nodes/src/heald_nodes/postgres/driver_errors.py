"""The errors of the database driver, as those of a store."""

from ssl import SSLCertVerificationError, SSLError

from heald.sessions.store_errors import StoreError, StoreFull
from heald_nodes.postgres.driver import asyncpg

_NO_TLS = "rejected SSL upgrade"
_NO_SETTING = "unsupported startup parameter"
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
    """Whether an error means that the connection, and not the query, has failed, and another one may not."""
    if isinstance(error, ValueError):  # a wrong argument, or a certificate that is not trusted
        return False
    return isinstance(error, LOST) and not _is_refused(error)


def _is_refused(error: BaseException) -> bool:
    """Whether every further connection would be refused too."""
    return _NO_TLS in str(error) or _NO_SETTING in str(error) or bool(_certificate_alert(error))


def _certificate_alert(error: BaseException) -> str:
    """Return why the database refuses the certificate of this client; an empty text if it does not."""
    cause = error if isinstance(error, SSLError) else error.__cause__
    reason = cause.reason or "" if isinstance(cause, SSLError) else ""
    return reason.partition("ALERT_")[2].replace("_", " ").lower()


class StoreUnreachable(StoreError):
    """The database does not answer."""

    happened = "The database could not be reached"


def translate_error(error: Exception, name: str) -> Exception:
    """Translate an error of the database into a StoreError. Other errors stay as they are."""
    if isinstance(error, asyncpg.DiskFullError):
        return StoreFull("The database has no room left; make room, then open the session again.")
    if isinstance(error, SSLError) and not is_lost(error):
        reason = error.verify_message if isinstance(error, SSLCertVerificationError) else error.reason
        return StoreError(
            f"The certificate of the database at {name} is not trusted ({reason.rstrip('.')}); name the certificate of"
            " its authority with sslrootcert=… in the address of the store."
        )
    if _NO_TLS in str(error):
        return StoreError(f"The database at {name} does not offer TLS; set ssl = on there, or remove sslmode.")
    if _NO_SETTING in str(error):
        setting = str(error).rpartition(":")[2].strip()
        return StoreError(
            f"The connection pooler at {name} refuses the setting {setting}; remove it from the address of the store, "
            "and set it in the database with ALTER ROLE."
        )
    alert = _certificate_alert(error)
    if alert or (isinstance(error, asyncpg.InvalidAuthorizationSpecificationError) and "certificate" in str(error)):
        return StoreError(
            f"The database at {name} refuses the client certificate ({alert or error}); name one with sslcert=… and "
            "sslkey=… in the address of the store."
        )
    if isinstance(error, asyncpg.InvalidAuthorizationSpecificationError) and "pg_hba" in str(error):
        return StoreError(f"The database at {name} refuses the connection ({error}); see its pg_hba.conf.")
    if isinstance(error, asyncpg.ClientConfigurationError):
        return StoreError(f"The address {name} of the store cannot be used: {error}.")
    if isinstance(error, asyncpg.InvalidPasswordError | asyncpg.InvalidAuthorizationSpecificationError):
        return StoreError(
            f"The database at {name} refuses the user or password; check HEALD_STORE_PASSWORD, and that a client "
            "certificate is for this user."
        )
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return StoreError(f"There is no such database at {name}; create it with createdb.")
    if is_lost(error):
        return StoreUnreachable(f"The database at {name} cannot be reached ({_reason(error)}); check that it runs.")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"The database could not store or read ({type(error).__name__}); see its log.")
    return error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
