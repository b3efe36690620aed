"""The head of a request: where it goes, and the headers that go with it, written once for all turns that share them."""

from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import quote, urlsplit

from weft.core.errors import InvalidRequest

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH = "/:@!$&'()*+,;=-._~%"
_OURS = ("content-length", "transfer-encoding", "connection")
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Origin(NamedTuple):
    """What a connection belongs to."""

    scheme: str
    host: str
    port: int


class Target:
    """Where a URL points to, and what is sent there."""

    __slots__ = ("_head", "_headers", "authority", "origin", "path")

    def __init__(self, origin: Origin, authority: str, path: str) -> None:
        self.origin = origin
        self.authority = authority
        self.path = path
        self._headers: dict[str, str] | None = None
        self._head = b""

    @classmethod
    def of(cls, url: str) -> Self:
        parts = urlsplit(url)
        host = _ascii(parts.hostname or "")
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
        authority = f"[{host}]" if ":" in host else host
        if port != _DEFAULT_PORTS[parts.scheme]:
            authority += f":{port}"
        path = quote(parts.path or "/", safe=_PATH)
        if parts.query:
            path += "?" + quote(parts.query, safe=_PATH + "?")
        return cls(Origin(parts.scheme, host, port), authority, path)

    def head(self, headers: Mapping[str, str], length: int) -> bytes:
        """The head of a request with a body of this length."""
        if self._headers != headers:
            self._head = self._render(headers)
            self._headers = dict(headers)
        return b"%b%d\r\n\r\n" % (self._head, length)

    def _render(self, headers: Mapping[str, str]) -> bytes:
        """All but the number at the end."""
        given = {name.lower(): value for name, value in headers.items() if name.lower() not in _OURS}
        fields = {"host": self.authority, "accept-encoding": "identity"} | given
        lines = [f"POST {self.path} HTTP/1.1", *(_field(name, value) for name, value in fields.items())]
        return "\r\n".join([*lines, "content-length: "]).encode()


def _field(name: str, value: str) -> str:
    if not name or not _TOKEN.issuperset(name):
        raise InvalidRequest(f"A request cannot have a header {name!r}; a name holds letters, digits and dashes.")
    if any(sign in value for sign in "\r\n\0"):
        raise InvalidRequest(f"The value of the header {name!r} holds a line break; copy it again.")
    return f"{name}: {value}"


def _ascii(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode("ascii")
