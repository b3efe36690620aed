"""The address of a git remote, as a forge reads it: host and path of the repository."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from heald.core.lazy import lazy_pattern
from heald_forges.forge import ForgeFailed

TOKEN_PREFIX = "FORGE_TOKEN_"
"""The beginning of the names of variables with the token for one host."""
_SCP = lazy_pattern(r"(?:[^@:/\s]+@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>(?!/{2})\S+)")
_HOST = lazy_pattern(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.I)
_SEGMENT = lazy_pattern(r"[\w.~+-]+", re.A)


class ForgeRemote(msgspec.Struct, frozen=True):
    """A repository on a server."""

    scheme: str
    """`https`, or `http` on this machine only: a token is not sent unencrypted over a network."""
    host: str
    """Host, with its port if the address names one for HTTP."""
    path: str
    """Owner and name, such as `me/site`; a GitLab path has more parts."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def token_variable(self) -> str:
        """The variable with the token for this host alone."""
        return f"{TOKEN_PREFIX}{re.sub('[.:]', '_', self.host.replace('-', '__')).upper()}"


def parse_remote(address: str) -> ForgeRemote:
    """Read the address of a remote: https, http, ssh or `git@host:path`. Raises ForgeFailed for any other."""
    text = address.strip()
    if "://" not in text and (match := _SCP.fullmatch(text)) is not None:
        return ForgeRemote("https", match["host"].lower(), _repository_path(match["path"], text))
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise _no_forge(text) from None
    if parts.scheme not in ("http", "https", "ssh") or not _HOST.fullmatch(host):
        raise _no_forge(text)
    path = _repository_path(parts.path, text)
    if parts.scheme == "ssh":  # its port is not the one of the API
        return ForgeRemote("https", host, path)
    scheme = "http" if parts.scheme == "http" and _is_this_machine(host) else "https"
    with_port = port is not None and parts.scheme == scheme
    return ForgeRemote(scheme, f"{host}:{port}" if with_port else host, path)


def _repository_path(path: str, address: str) -> str:
    segments = path.strip("/").removesuffix(".git").split("/")
    is_safe = all(_SEGMENT.fullmatch(segment) and segment not in (".", "..") for segment in segments)
    if len(segments) < 2 or not is_safe:
        raise _no_forge(address)
    return "/".join(segments)


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _no_forge(address: str) -> ForgeFailed:
    without_user = re.sub(r"(?<=://)[^/@\s]+@", "", address)[:200]
    return ForgeFailed(
        f"The remote {without_user!r} is not on a forge; pull requests need an address such as "
        "https://example.org/me/site.git or git@example.org:me/site.git."
    )
