"""Finds the hosts that the packages of a folder come from, to propose them together in the first question.

They are read from lock files, from settings of package managers and from the remotes of git. A host that is found here
is not allowed by that: a person decides.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from heald.tools.tool_fault import ToolFault
from heald.tools.web.urls import parse_target

MAX_PROPOSED = 8
_MAX_BYTES = 16_000_000
_URL = r"(?:[a-z]+\+)?(https?://[^\s\"'<>,;#]+)"
_FILES: tuple[tuple[str, str], ...] = (
    ("package-lock.json", rf'"resolved":\s*"{_URL}'),
    ("npm-shrinkwrap.json", rf'"resolved":\s*"{_URL}'),
    ("yarn.lock", rf'^\s+(?:resolved|resolution:?)\s+"[^"\n]*?{_URL}'),
    ("pnpm-lock.yaml", rf"tarball:\s*{_URL}"),
    (".npmrc", rf"^\s*(?:@[^:\s]+:)?registry\s*=\s*{_URL}"),
    (".yarnrc.yml", rf'^\s*npmRegistryServer:\s*"?{_URL}'),
    ("requirements.txt", rf"^[^#\n]*?{_URL}"),
    ("requirements-dev.txt", rf"^[^#\n]*?{_URL}"),
    ("uv.lock", rf'\b(?:registry|url|git)\s*=\s*"{_URL}'),
    ("poetry.lock", rf'^url\s*=\s*"{_URL}'),
    ("Pipfile.lock", rf'"url":\s*"{_URL}'),
    ("Cargo.lock", rf'^source\s*=\s*"{_URL}'),
    (".cargo/config.toml", rf'^\s*(?:index|registry)\s*=\s*"{_URL}'),
    ("Gemfile.lock", rf"^\s*remote:\s*{_URL}"),
    ("composer.lock", rf'"url":\s*"{_URL}'),
    ("go.sum", r"^((?:[a-z0-9-]+\.)+[a-z]{2,})/\S+ v"),
    (".git/config", rf"^\s*url\s*=\s*{_URL}"),
)
"""Files of a folder, and the pattern of an address in them."""
_USER_FILES: tuple[tuple[str, str], ...] = (
    ("~/.npmrc", rf"^\s*(?:@[^:\s]+:)?registry\s*=\s*{_URL}"),
    ("~/.config/pip/pip.conf", rf"^\s*(?:extra-)?index-url\s*=\s*{_URL}"),
    ("~/.pip/pip.conf", rf"^\s*(?:extra-)?index-url\s*=\s*{_URL}"),
    ("~/.cargo/config.toml", rf'^\s*(?:index|registry)\s*=\s*"{_URL}'),
)
_VARIABLES = (
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "npm_config_registry",
    "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "GOPROXY",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FolderRegistries:
    """Hosts of packages, and the files that name them."""

    hosts: tuple[str, ...]
    """Those that are named most often first."""
    files: tuple[str, ...]


def find_registries(folder: str) -> FolderRegistries:
    """Return the hosts that the packages and the repository of a folder come from. It reads files."""
    counts: dict[str, int] = {}
    files: list[str] = []
    for name, pattern in (*_FILES, *_USER_FILES):
        hosts = list(_hosts_in(os.path.join(folder, os.path.expanduser(name)), pattern))
        for host in hosts:
            counts[host] = counts.get(host, 0) + 1
        files += [name] if hosts else []
    for variable in _VARIABLES:
        for text in re.split(r"[\s,|]+", os.environ.get(variable, "")):
            if (host := _host_of(text)) is not None:
                counts[host] = counts.get(host, 0) + 1
                files += [variable] if variable not in files else []
    ranked = sorted(counts, key=lambda host: (-counts[host], host))
    return FolderRegistries(tuple(ranked), tuple(files))


def _hosts_in(path: str, pattern: str) -> Iterator[str]:
    for match in re.finditer(pattern, _read(path), re.MULTILINE):
        text = match[1]
        host = _host_of(text if "://" in text else f"https://{text}/")
        if host is not None:
            yield host


def _host_of(url: str) -> str | None:
    """The host of an address on a usual port, without the user name and password that it may hold."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.port not in (None, 80, 443):
            return None
        target = parse_target(f"https://{parts.hostname or ''}/")
    except (ToolFault, ValueError):
        return None
    return target.host if target.address is None and "." in target.host else None


def _read(path: str) -> str:
    """The beginning of a regular file; empty if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return file.read(_MAX_BYTES).decode("utf-8", "replace")
