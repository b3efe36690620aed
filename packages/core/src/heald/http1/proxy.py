"""The proxy of a request, from the environment."""

import os
from base64 import b64encode
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self
from urllib.parse import unquote, urlsplit

import msgspec

from heald.http1.errors import ProxyError
from heald.http1.ports import PORTS

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
            raise ProxyError("it is not an http://, https://, socks5:// or socks5h:// proxy")
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
    host, entry_port = _split_port(entry)
    if entry_port is not None and entry_port != port:
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
