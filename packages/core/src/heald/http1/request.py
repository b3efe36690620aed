"""The destination of a request and its head, encoded once for all turns that share it."""

from collections.abc import Mapping
from typing import Self
from urllib.parse import quote, urlsplit

import msgspec

from heald.core.errors import InvalidRequest
from heald.http1.ports import PORTS
from heald.http1.proxy import HttpProxy

_PATH = "/:@!$&'()*+,;=-._~%"
_OURS = ("content-length", "transfer-encoding", "connection")
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Origin(msgspec.Struct, frozen=True):
    """The other end of a connection, and the route to it. Connections are reused by origin."""

    scheme: str
    host: str
    port: int
    proxy: HttpProxy | None = None
    addresses: tuple[str, ...] = ()
    """Addresses to connect to, in this order. If empty, the name is resolved."""

    @property
    def authority(self) -> str:
        """Host and port as a URL has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


class RequestTarget:
    """The origin and path of a URL, and the encoded head of requests to it."""

    __slots__ = ("_head", "_headers", "origin", "path")

    def __init__(self, origin: Origin, path: str) -> None:
        self.origin = origin
        self.path = path
        """Percent-encoded, with the query."""
        self._headers: dict[str, str] | None = None
        self._head = b""

    @classmethod
    def parse(cls, url: str, proxy: HttpProxy | None = None) -> Self:
        parts = urlsplit(url)
        origin = Origin(parts.scheme, _ascii(parts.hostname or ""), parts.port or PORTS[parts.scheme], proxy=proxy)
        path = quote(parts.path or "/", safe=_PATH)
        if parts.query:
            path += "?" + quote(parts.query, safe=_PATH + "?")
        return cls(origin, path)

    def encode_post_head(self, headers: Mapping[str, str], length: int) -> bytes:
        """The head of a POST with a body of this length."""
        if self._headers != headers:
            self._head = "\r\n".join([*self._lines("POST", headers), "content-length: "]).encode()
            self._headers = dict(headers)
        return b"%b%d\r\n\r\n" % (self._head, length)

    def encode_head(
        self, method: str, headers: Mapping[str, str], length: int | None = None, *, last: bool = False
    ) -> bytes:
        """The head of any request; without a length it has no body. `last` closes the connection afterwards."""
        lines = self._lines(method, headers)
        if last:
            lines.append("connection: close")
        if length is not None:
            lines.append(f"content-length: {length}")
        return "\r\n".join([*lines, "", ""]).encode()

    def _lines(self, method: str, headers: Mapping[str, str]) -> list[str]:
        """The lines of a head. A proxy that reads the request (no tunnel) gets the whole URL."""
        caller_headers = {name.lower(): value for name, value in headers.items() if name.lower() not in _OURS}
        fields = {"host": self.origin.authority, "accept-encoding": "identity"} | caller_headers
        place, proxy = self.path, self.origin.proxy
        if proxy is not None and not proxy.is_socks and self.origin.scheme == "http":
            place = f"http://{self.origin.authority}{self.path}"
            if proxy.authorization is not None:
                fields["proxy-authorization"] = proxy.authorization
        return [f"{method} {place} HTTP/1.1", *(_field(name, value) for name, value in fields.items())]


def _field(name: str, value: str) -> str:
    if not name or not _TOKEN.issuperset(name):
        raise InvalidRequest(f"A request cannot have a header {name!r}; a name holds letters, digits and dashes.")
    if any(sign in value for sign in "\r\n\0"):
        raise InvalidRequest(f"The value of the header {name!r} holds a line break; copy it again.")
    return f"{name}: {value}"


def _ascii(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode("ascii")
