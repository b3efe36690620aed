"""Where the database of a store is: one server, several of which one is the primary, or a connection pooler."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from heald.core.errors import ConfigurationError
from heald.sessions.store_url import with_password, without_password
from heald_nodes.postgres.driver import PostgresConnection, asyncpg

_CONNECT_SECONDS = 10.0
_CONNECT_SECONDS_WITH_STANDBY = 3.0
_UNAVAILABLE: tuple[type[Exception], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
)
"""Answers of a server that cannot be used now; another host may be."""
_FILES = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
"""Parameters of an address that name a file."""


class PostgresAddress:
    """Opens connections to the database that an address names.

    An address with several hosts (`postgresql://heald@one,two/heald`) leads to the one that accepts writes, unless its
    `target_session_attrs` says otherwise. Whether there is a pooler between is found out by the first connection.
    """

    def __init__(self, url: str) -> None:
        """Raises ConfigurationError if the address names a file that does not exist."""
        self._parts = urlsplit(with_password(url))
        self.name = without_password(url)
        """The address without its password."""
        self._user, self._at, hosts = self._parts.netloc.rpartition("@")
        self._hosts = hosts.split(",")
        parameters = parse_qs(self._parts.query)
        self._options: dict[str, Any] = {}
        if self.has_standby and "target_session_attrs" not in parameters:
            self._options["target_session_attrs"] = "read-write"
        for name in _FILES:
            for path in parameters.get(name, ()):
                if not Path(path).is_file():
                    raise ConfigurationError(f"The address of the store has {name}={path}; there is no such file.")
        self.is_pooled: bool | None = None
        """Whether a connection pooler, such as PgBouncer, is between this process and the database. None before the
        first connection."""

    @property
    def has_standby(self) -> bool:
        """Whether the address names more than one server."""
        return len(self._hosts) > 1

    async def connect(self, *_: object, **options: Any) -> PostgresConnection:
        """Open a connection, with options of the driver. A pool of the driver calls it too."""
        if self.is_pooled:
            options["statement_cache_size"] = 0  # the next statement may run on another session of the database
        connection = await self._connect_to_any({"timeout": _CONNECT_SECONDS, **self._options, **options})
        if self.is_pooled is None:
            self.is_pooled = await _is_pooled(connection)
            if self.is_pooled:
                await connection.close()
                return await self.connect(**options)
        return connection

    async def _connect_to_any(self, options: dict[str, Any]) -> PostgresConnection:
        """Connect to the first host that answers as it should. The driver has one time limit for all of them, which a
        silent host would use up. The host that answered is the first one next time."""
        if not self.has_standby:
            return await asyncpg.connect(self._url_of(self._hosts[0]), **options)
        options["timeout"] = _CONNECT_SECONDS_WITH_STANDBY
        errors: list[Exception] = []
        for host in list(self._hosts):
            try:
                connection: PostgresConnection = await asyncpg.connect(self._url_of(host), **options)
            except (OSError, TimeoutError, asyncpg.TargetServerAttributeNotMatched, *_UNAVAILABLE) as error:
                errors.append(error)
                continue
            self._hosts = [host, *(other for other in self._hosts if other != host)]
            return connection
        raise errors[0]

    def _url_of(self, host: str) -> str:
        return urlunsplit(self._parts._replace(netloc=f"{self._user}{self._at}{host}"))


async def _is_pooled(connection: PostgresConnection) -> bool:
    """Whether the session that answers is not the one that the connection was promised: a pooler invents its id. The
    query is sent without preparing it."""
    status = await connection.execute(f"SELECT 1 WHERE pg_backend_pid() = {connection.get_server_pid()}")
    return status == "SELECT 0"
