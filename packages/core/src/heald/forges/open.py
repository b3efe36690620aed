"""Finds the forge of a remote: its kind by the host, or by what the server answers, and the token for that host.

A token is used for its own host alone: a repository whose remote names another server does not get it. It comes from
the environment or the key store and goes into a header, never into a command line or an address.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from heald.core.errors import MissingKey
from heald.forges import gitea, github, gitlab
from heald.forges.api import ForgeApi
from heald.forges.forge import Forge, ForgeFailed
from heald.forges.gitea import GiteaForge
from heald.forges.github import GitHubForge
from heald.forges.gitlab import GitLabForge
from heald.forges.remote import ForgeRemote, parse_remote
from heald.providers.keys import find_key, find_key_origin

ForgeKind = Literal["github", "gitlab", "gitea"]


class NoForgeToken(MissingKey):
    """There is no token for the host of a remote."""


class _Kind(msgspec.Struct, frozen=True):
    """How one kind of forge is reached."""

    title: str
    api_path: str
    """Where the API is on a host of its own."""
    probe: str
    """A path of the API that the server answers with JSON."""
    auth_headers: Callable[[str], Mapping[str, str]]
    make: Callable[[ForgeApi, str], Forge]


_KINDS: Mapping[ForgeKind, _Kind] = {
    "gitea": _Kind("Gitea", "/api/v1", "/version", gitea.auth_headers, GiteaForge),
    "gitlab": _Kind("GitLab", "/api/v4", "/version", gitlab.auth_headers, GitLabForge),
    "github": _Kind("GitHub", "/api/v3", "/meta", github.auth_headers, GitHubForge),
}
_HOSTS: Mapping[str, tuple[ForgeKind, str, tuple[str, ...]]] = {
    "github.com": ("github", "https://api.github.com", ("GH_TOKEN", "GITHUB_TOKEN")),
    "gitlab.com": ("gitlab", "https://gitlab.com/api/v4", ("GITLAB_TOKEN",)),
    "codeberg.org": ("gitea", "https://codeberg.org/api/v1", ("CODEBERG_TOKEN",)),
}
"""The kind, the API and the usual variables of the token of public forges."""


async def open_forge(address: str) -> Forge:
    """Return the forge of a remote, ready for requests. Raises ForgeFailed, and NoForgeToken before any request."""
    remote = parse_remote(address)
    names = token_variables(remote)
    token, origin = find_key(names), find_key_origin(names)
    if token is None or origin is None:
        raise NoForgeToken(
            f"There is no token for {remote.host}; set {names[0]} in the environment, or store it with "
            f"`heald key set {names[0]}`."
        )
    kind, base_url = await _find_api(remote)
    api = ForgeApi(_KINDS[kind].title, base_url, _KINDS[kind].auth_headers(token), token, origin[0])
    return _KINDS[kind].make(api, remote.path)


def token_variables(remote: ForgeRemote) -> tuple[str, ...]:
    """Return the names under which the token of a host is looked for, the usual one first."""
    usual = _HOSTS[remote.host][2] if remote.host in _HOSTS else ()
    return (*usual, remote.token_variable)


async def _find_api(remote: ForgeRemote) -> tuple[ForgeKind, str]:
    if remote.host in _HOSTS:
        kind, base_url, _ = _HOSTS[remote.host]
        return kind, base_url
    for kind, description in _KINDS.items():
        base_url = f"{remote.origin}{description.api_path}"
        if await ForgeApi(description.title, base_url).answers(description.probe):
            return kind, base_url
    raise ForgeFailed(
        f"{remote.origin} answers neither as GitHub nor as GitLab nor as Gitea; check the address of the remote."
    )
