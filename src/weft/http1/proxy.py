"""A proxy on the way, as the environment names it. Its password is shown to nobody but the proxy."""

import os
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote, urlsplit

from weft.http1.faults import ProxyFault

PORTS = {"http": 80, "https": 443}
"""Where a scheme is spoken if nothing else is said."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Proxy:
    scheme: str
    """How one speaks to the proxy itself."""
    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)
    """What it wants to see of its user, as its header says it."""

    @classmethod
    def of(cls, url: str) -> Self:
        """Read an address such as `http://user:password@host:3128`. ProxyFault if it is none."""
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port
        except ValueError:  # which quotes the address
            host = port = parts = None
        if parts is None or not host:
            raise ProxyFault("its address cannot be read")
        if parts.scheme not in PORTS:
            raise ProxyFault("it is neither an http:// nor an https:// proxy")
        return cls(parts.scheme, host, port or PORTS[parts.scheme], _basic(parts.username, parts.password))


def proxy_for(url: str) -> Proxy | None:
    """The proxy that the environment names for an address. Never for this machine itself."""
    parts = urlsplit(url)
    if parts.hostname in _LOOPBACK or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    return None if named is None or proxy_bypass(parts.netloc) else Proxy.of(named)


def _basic(user: str | None, password: str | None) -> str | None:
    """RFC 7617. Signs that a URL cannot hold stand percent-encoded in it."""
    if user is None and password is None:
        return None
    return "Basic " + b64encode(f"{unquote(user or '')}:{unquote(password or '')}".encode()).decode()
