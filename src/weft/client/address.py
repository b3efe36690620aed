"""The address of a server, its token, and the time limits of a connection."""

import asyncio
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from weft.core.errors import ConfigurationError, ConnectionFailed
from weft.core.retry import backoff

_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_EXAMPLE = "write it as http://127.0.0.1:7878"


class AccessToken:
    """A secret that only the server gets. It stays out of logs, reprs and errors."""

    __slots__ = ("_value",)

    def __init__(self, value: str | None) -> None:
        if value is not None and (not value or not value.isascii() or not value.isprintable() or " " in value):
            raise ConfigurationError("The token is empty or holds what no token has; copy it from the server's output.")
        self._value = value

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"} if self._value is not None else {}

    def scrub(self, text: str) -> str:
        """Remove the token from a text."""
        return text if self._value is None else text.replace(self._value, "…")

    def __repr__(self) -> str:
        return "AccessToken(…)"

    def __reduce__(self) -> str:
        raise TypeError("A token is not pickled.")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The scheme, host, port and path prefix of a server."""

    base: str
    """The URL without a slash at the end."""

    def http(self, path: str, **query: int | str) -> str:
        """Return the URL of a path whose segments are quoted."""
        asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        return f"{self.base}{path}{'?' if asked else ''}{asked}"

    def websocket(self, path: str = "/ws") -> str:
        return f"ws{self.base.removeprefix('http')}{path}"

    def __str__(self) -> str:
        return self.base


def parse_address(url: str, token: str | None) -> tuple[ServerAddress, AccessToken]:
    """Parse an address, with or without a token after `#`, as `weft serve` prints it."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigurationError(f"The server's address cannot be read; {_EXAMPLE}.") from None
    scheme = _SCHEMES.get(parts.scheme.lower())
    if scheme is None or not host or not url.strip().isprintable():
        raise ConfigurationError(f"The server's address needs http:// or https:// and a host; {_EXAMPLE}.")
    if parts.username is not None or parts.password is not None or parts.query:
        raise ConfigurationError(f"The server's address holds a password or a query; {_EXAMPLE}, and give the token.")
    if token is None:
        token = next(iter(parse_qs(parts.fragment).get("token", [])), None)
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    return ServerAddress(f"{scheme}://{place}{parts.path.rstrip('/')}"), AccessToken(token)


@dataclass(frozen=True, slots=True)
class Timing:
    """The time limits of a connection, in seconds."""

    patience: float = 60.0
    """How long a server may be unreachable."""
    first: float = 0.1
    """The delay before the second attempt; the first is immediate."""
    longest: float = 5.0
    dial: float = 10.0
    """To open a connection."""
    silence: float = 45.0
    """Without any data, heartbeats included."""
    stable: float = 1.0
    """After which a connection counts as stable."""
    goodbye: float = 2.0
    """For open commands to be answered when a client is closed."""


class Backoff:
    """Waits between attempts. Progress resets it."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._tries = 0
        self._since: float | None = None

    def renew(self) -> None:
        self._tries, self._since = 0, None

    async def wait(self, place: str, fault: Exception, *, goes_on: str) -> None:
        """Sleep before the next attempt. Raises ConnectionFailed when the server was unreachable for too long."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
        left = self._since + self._timing.patience - now
        if left <= 0:
            raise ConnectionFailed(
                f"The server at {place} has not answered for {self._timing.patience:g} s ({fault}); {goes_on}",
                reached=False,
            )
        delay = 0.0 if self._tries == 0 else backoff(self._tries, self._timing.first, self._timing.longest)
        self._tries += 1
        await asyncio.sleep(min(delay, left))
