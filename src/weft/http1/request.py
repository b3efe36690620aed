"""The destination of a request (origin, proxy, TLS trust) and its head, encoded once for all turns that share it."""

import os
import ssl
import sys
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self
from urllib.parse import quote, unquote, urlsplit

import msgspec

from weft.core.errors import InvalidRequest
from weft.http1.errors import ProxyError

PORTS = {"http": 80, "https": 443}
"""The default port of each scheme."""
_SOCKS = ("socks5", "socks5h")
_SOCKS_PORT = 1080
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class HttpProxy(msgspec.Struct, frozen=True):
    scheme: str
    """The scheme of the connection to the proxy itself."""
    host: str
    port: int
    authorization: str | None = None
    """The value of its `proxy-authorization` header."""
    login: tuple[str, str] | None = None
    """The user and password of a SOCKS proxy."""

    def __repr__(self) -> str:
        return f"HttpProxy({self.scheme}://{self.host}:{self.port})"  # the secrets are not shown

    @property
    def is_socks(self) -> bool:
        return self.scheme in _SOCKS

    @property
    def resolves_names(self) -> bool:
        """The proxy resolves the names of hosts (`socks5h`)."""
        return self.scheme == "socks5h"

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse an address such as `http://user:password@host:3128`; ProxyError if it is invalid."""
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port
        except ValueError:  # its message quotes the address
            host = port = parts = None
        if parts is None or not host:
            raise ProxyError("its address cannot be read")
        if parts.scheme in _SOCKS:
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            return cls(parts.scheme, host, port or _SOCKS_PORT, login=(user, password) if user or password else None)
        if parts.scheme not in PORTS:
            raise ProxyError("it is no http://, https://, socks5:// or socks5h:// proxy")
        return cls(parts.scheme, host, port or PORTS[parts.scheme], _basic(parts.username, parts.password))


def proxy_for(url: str) -> HttpProxy | None:
    """The proxy that the environment sets for a URL. Loopback addresses have none."""
    parts = urlsplit(url)
    if parts.hostname in _LOOPBACK or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if named is None:
        return None
    if (excluded := proxies.get("no")) is not None:
        direct = is_excluded(excluded, parts.hostname or "", parts.port or PORTS[parts.scheme])
    else:  # the settings of Windows or macOS
        direct = bool(proxy_bypass(parts.netloc))
    return None if direct else HttpProxy.parse(named)


def _basic(user: str | None, password: str | None) -> str | None:
    """Basic credentials (RFC 7617), which are percent-encoded in a URL."""
    if user is None and password is None:
        return None
    return "Basic " + b64encode(f"{unquote(user or '')}:{unquote(password or '')}".encode()).decode()


def is_excluded(no_proxy: str, host: str, port: int) -> bool:
    """Whether the value of NO_PROXY names a host and port.

    Entries are separated by commas or spaces: `*`, a domain (with its subdomains; `.domain` is the same), `*.domain`
    (its subdomains only), an address, a network such as `10.0.0.0/8` or `fd00::/8`. A host may have a port; an IPv6
    address with one stands in brackets.
    """
    name = host.lower().strip("[]").rstrip(".")
    address = _parse_address(name)
    return any(_matches(entry, name, address, port) for entry in no_proxy.lower().replace(",", " ").split())


def _matches(entry: str, name: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return address is not None and _is_in_network(address, entry)
    host, wanted = _split_port(entry)
    if wanted is not None and wanted != port:
        return False
    if address is not None:
        return _parse_address(host) == address
    if host.startswith("*."):
        return name.endswith(host[1:])
    host = host.strip(".")
    return bool(host) and (name == host or name.endswith(f".{host}"))


def _split_port(entry: str) -> tuple[str, int | None]:
    """The host of an entry, without brackets, and its port."""
    host, colon, port = entry.rpartition(":")
    if entry.startswith("["):
        inside, _, rest = entry[1:].partition("]")
        return inside, int(rest[1:]) if rest[1:].isdecimal() else None
    if not colon or ":" in host or not port.isdecimal():  # no port, or a bare IPv6 address
        return entry, None
    return host, int(port)


def _is_in_network(address: IPv4Address | IPv6Address, entry: str) -> bool:
    try:
        network = ip_network(entry, strict=False)
    except ValueError:
        return False
    return address.version == network.version and address in network


def _parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


@cache
def tls_context() -> ssl.SSLContext:
    """The shared TLS context; it honours SSL_CERT_FILE, SSL_CERT_DIR and REQUESTS_CA_BUNDLE."""
    context = ssl.create_default_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and os.path.exists(bundle):
        context.load_verify_locations(bundle)
    if sys.platform != "win32":
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


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
        given = {name.lower(): value for name, value in headers.items() if name.lower() not in _OURS}
        fields = {"host": self.origin.authority, "accept-encoding": "identity"} | given
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
