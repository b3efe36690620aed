"""A URL read once: what is checked is what is dialled.

Anything that two parsers could read differently is refused: user names, odd characters, numbers that only libc takes
for addresses, letters that turn into digits.
"""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from weft.tools.outcome import ToolFault
from weft.tools.web.addresses import Address, parse_address

MAX_URL = 4096
_PORTS = {"http": 80, "https": 443}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\<>^`{|}\"]|[^\S ]")
_HOST = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")


class Target(NamedTuple):
    """Where a request goes. `host` is in lower-case ASCII; an IPv6 address stands there without brackets."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query, percent-encoded."""

    @property
    def address(self) -> Address | None:
        return parse_address(self.host)

    @property
    def authority(self) -> str:
        """Host and port as an operator names them."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}{self.path}"


def parse_target(url: str) -> Target:
    """Read a URL, or say why it cannot be fetched."""
    shown = url[:200]
    if len(url) > MAX_URL:
        raise not_allowed(f"The URL is {len(url)} characters long; at most {MAX_URL} are read.")
    if _FORBIDDEN.search(url):
        raise not_allowed(f"The URL {shown!r} has characters that no URL may have; percent-encode them.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise not_allowed(f"{shown!r} is not a URL that can be read; give one like https://example.com/page.") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise not_allowed(f"{shown!r} cannot be fetched: only http:// and https:// URLs with a host can.")
    if "@" in parts.netloc:
        raise not_allowed("A URL with a user name or password cannot be fetched; leave out what stands before the @.")
    if port == 0:
        raise not_allowed(f"{shown!r} names port 0, which cannot be dialled.")
    return Target(parts.scheme, _host(parts, shown), port or _PORTS[parts.scheme], _path(parts))


def follow(target: Target, location: str) -> Target:
    """Where a redirect from the target leads."""
    try:
        return parse_target(urljoin(target.url, location.strip()))
    except ValueError:
        raise not_allowed(f"{target.url} redirects to something that is not a URL.") from None


def not_allowed(message: str) -> ToolFault:
    return ToolFault(message, "url_not_allowed")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _host(parts: SplitResult, shown: str) -> str:
    given = parts.hostname or ""
    if parts.netloc.startswith("["):
        address = parse_address(given)
        if address is None or "%" in given:
            raise not_allowed(f"{shown!r} has no valid IPv6 address between its brackets.")
        return str(address)
    try:
        host = given.encode("idna").decode("ascii").lower().removesuffix(".") if len(given) <= 253 else ""
    except UnicodeError:
        host = ""
    if not _HOST.fullmatch(host):
        raise not_allowed(f"{shown!r} has no valid host name.")
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host
    if not given.isascii() or parse_address(host) is None:
        raise not_allowed(f"{shown!r} spells an address in an unusual way; write it as four decimal numbers.")
    return host


def _path(parts: SplitResult) -> str:
    query = f"?{parts.query}" if parts.query else ""
    return _encode((parts.path or "/") + query)


def _encode(text: str) -> str:
    return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in text)
