"""Parses URLs and IP addresses, and checks whether an address is public."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from heald.core.lazy import lazy_pattern
from heald.tools.tool_fault import ToolFault

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; a cloud's metadata too
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's host agent, at a public address
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata too
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_6TO4 = IPv6Network("2002::/16")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def parse_address(text: str) -> Address | None:
    """Parse an IP address in its standard notation; None if the text is invalid."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Return whether an address is on the public internet, embedded IPv4 addresses included."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64 or address.ipv4_mapped is not None:
        return all(map(is_public, _inside(address)))
    if address not in _GLOBAL_UNICAST or any(address in network for network in _NOT_PUBLIC_V6):
        return False
    if not address.is_global and address not in _6TO4:
        return False
    return all(map(is_public, _inside(address)))


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address."""
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address in _6TO4:
        yield IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    if address in _NAT64 or (int(address) >> 32 & 0xFFFFFFFF) in _ISATAP:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


MAX_URL = 4096
_PORTS = {"http": 80, "https": 443}
_FORBIDDEN = lazy_pattern(r"[\x00-\x20\x7f\\<>^`{|}\"]|[^\S ]")
_HOST = lazy_pattern(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*")
_NUMBER = lazy_pattern(r"(?:[0-9]+|0x[0-9a-f]*)")


class WebTarget(NamedTuple):
    """The target of a request. `host` is lower-case ASCII; an IPv6 address has no brackets."""

    scheme: str
    host: str
    port: int
    path: str
    """Percent-encoded, including the query."""

    @property
    def address(self) -> Address | None:
        return parse_address(self.host)

    @property
    def authority(self) -> str:
        """Host and port, as in `WebFetcher.allow`."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}{self.path}"


def parse_target(url: str) -> WebTarget:
    """Parse a URL. Raises ToolFault if it cannot be fetched."""
    excerpt = url[:200]
    if len(url) > MAX_URL:
        raise not_allowed(f"The URL is {len(url)} characters long; at most {MAX_URL} are read.")
    if _FORBIDDEN.search(url):
        raise not_allowed(f"The URL {excerpt!r} has characters that no URL may have; percent-encode them.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise not_allowed(
            f"{excerpt!r} is not a URL that can be read; give one like https://example.com/page."
        ) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise not_allowed(f"{excerpt!r} cannot be fetched: only http:// and https:// URLs with a host can.")
    if "@" in parts.netloc:
        raise not_allowed("A URL with a user name or password cannot be fetched; leave out what stands before the @.")
    if port == 0:
        raise not_allowed(f"{excerpt!r} names port 0, which cannot be dialled.")
    return WebTarget(parts.scheme, _host(parts, excerpt), port or _PORTS[parts.scheme], _path(parts))


def parse_host(text: str) -> str:
    """Parse a host, or a host and port, into the form of `WebFetcher.allow`. Raises ToolFault."""
    try:
        target = parse_target(f"http://{text}/")
        has_port = urlsplit(f"http://{text}/").port is not None
    except ToolFault:
        target, has_port = None, False
    if target is None or target.path != "/":
        raise not_allowed(f"{text[:200]!r} is not a host; write one such as wiki.example or localhost:3000.")
    return target.authority if has_port else _bracketed(target.host)


def follow(target: WebTarget, location: str) -> WebTarget:
    """Return the target of a redirect."""
    try:
        return parse_target(urljoin(target.url, location.strip()))
    except ValueError:
        raise not_allowed(f"{target.url} redirects to something that is not a URL.") from None


def not_allowed(message: str) -> ToolFault:
    return ToolFault(message, "url_not_allowed")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _host(parts: SplitResult, excerpt: str) -> str:
    name = parts.hostname or ""
    if parts.netloc.startswith("["):
        address = parse_address(name)
        if address is None or "%" in name:
            raise not_allowed(f"{excerpt!r} has no valid IPv6 address between its brackets.")
        return str(address)
    try:
        host = name.encode("idna").decode("ascii").lower().removesuffix(".") if len(name) <= 253 else ""
    except UnicodeError:
        host = ""
    if not _HOST.fullmatch(host):
        raise not_allowed(f"{excerpt!r} has no valid host name.")
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host
    if not name.isascii() or parse_address(host) is None:
        raise not_allowed(f"{excerpt!r} spells an address in an unusual way; write it as four decimal numbers.")
    return host


def _path(parts: SplitResult) -> str:
    query = f"?{parts.query}" if parts.query else ""
    return _encode((parts.path or "/") + query)


def _encode(text: str) -> str:
    return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in text)
