"""Where a server is, and the token it asks for. The token stays out of addresses, logs, reprs and errors."""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from weft.core.errors import ConfigurationError

_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_EXAMPLE = "write it as http://127.0.0.1:7878"


class Token:
    """A secret that is shown to nobody but the server."""

    __slots__ = ("_value",)

    def __init__(self, value: str | None) -> None:
        if value is not None and (not value or not value.isascii() or not value.isprintable() or " " in value):
            raise ConfigurationError("The token is empty or holds what no token has; copy it from the server's output.")
        self._value = value

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"} if self._value is not None else {}

    def scrub(self, text: str) -> str:
        """The text without the token, whoever put it there."""
        return text if self._value is None else text.replace(self._value, "…")

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> str:
        raise TypeError("A token is not pickled.")


@dataclass(frozen=True, slots=True)
class Address:
    """A server, by its scheme, host, port and the path it lives under."""

    base: str
    """Without a slash at the end."""

    def http(self, path: str, **query: int | str) -> str:
        """The URL of a path whose segments are quoted already."""
        asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        return f"{self.base}{path}{'?' if asked else ''}{asked}"

    def websocket(self) -> str:
        return f"ws{self.base.removeprefix('http')}/ws"

    def __str__(self) -> str:
        return self.base


def read_address(url: str, token: str | None) -> tuple[Address, Token]:
    """An address as people write it. The one that `weft serve` prints, with its token behind the #, will do."""
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
    return Address(f"{scheme}://{place}{parts.path.rstrip('/')}"), Token(token)
