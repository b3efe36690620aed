"""Names and addresses of hosts, as Host headers and origins have them."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Whether a Host header names an IP address, which DNS rebinding cannot forge."""
    if "%" in host:  # a zone, which may hold any text
        return False
    name, port = split_host(host)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return port.isdecimal()


def split_host(host: str) -> tuple[str, str]:
    """The name, without brackets, and the port of a Host header; the port is "0" if there is none."""
    has_port = ":" in host and not host.endswith("]")
    name, port = host.rsplit(":", 1) if has_port else (host, "0")
    return (name[1:-1] if name.startswith("[") and name.endswith("]") else name), port


def hosts_of(origins: Sequence[str]) -> frozenset[str]:
    return frozenset(urlsplit(origin).netloc for origin in origins)


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
