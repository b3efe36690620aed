"""The base URL of an endpoint: checks its form, and names an endpoint by its host."""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from heald.core.errors import BadBaseUrl
from heald.core.lazy import lazy_pattern

_HOST = lazy_pattern(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?")


@lru_cache(maxsize=256)
def check_base_url(base_url: str, provider: str) -> str:
    """Check the address and remove its last slash. Raises BadBaseUrl."""
    display_url = base_url.rpartition("@")[2] if "@" in base_url else base_url
    malformed = BadBaseUrl(
        f"The base URL of {provider} is {display_url!r}; it must look like https://host/v1 or http://127.0.0.1:8080/v1."
    )
    try:
        parts = urlsplit(base_url)
        reachable = parts.port is None or parts.port > 0
    except ValueError:
        raise malformed from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadBaseUrl(
            f"The base URL of {provider} must hold no user, password, query or fragment; "
            "give the key as api_key or in an environment variable."
        )
    if parts.scheme not in ("http", "https") or not reachable or not _is_host(parts.hostname or ""):
        raise malformed
    return base_url.rstrip("/")


def _is_host(host: str) -> bool:
    if ":" in host:
        return _is_ip_address(host)
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()  # the codec takes a while to load
    except UnicodeError:
        return False
    labels = ascii_host.removesuffix(".").split(".")
    return all(0 < len(label) < 64 for label in labels) and _HOST.fullmatch(ascii_host) is not None


@lru_cache(maxsize=256)
def host_of(base_url: str) -> str:
    """Name an endpoint by its host and port."""
    try:
        parts = urlsplit(base_url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "custom"
    return f"{parts.hostname}{port}" if parts.hostname else "custom"


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
