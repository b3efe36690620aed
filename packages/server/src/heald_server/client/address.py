"""The address of a server and its token."""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from heald.core.errors import ConfigurationError

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
    """Parse an address, with or without a token after `#`, as `heald serve` prints it."""
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
