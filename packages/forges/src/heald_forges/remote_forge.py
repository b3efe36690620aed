"""Finds the forge of a remote: its kind by the host, or by what the server answers, and the token for that host.

A token is used for its own host alone: a repository whose remote names another server does not get it. It comes from
the environment or the key store and goes into a header, never into a command line or an address.
"""

from collections.abc import Mapping

from heald.core.distribution import install_advice
from heald.core.errors import MissingKey
from heald.plugins import plugin_names
from heald.providers.keys import find_key, find_key_origin
from heald_forges.api import ForgeApi
from heald_forges.forge import Forge, ForgeFailed
from heald_forges.installed import GROUP, find_host, installed_kinds
from heald_forges.kind import ForgeKind
from heald_forges.remote import ForgeRemote, parse_remote


class NoForgeToken(MissingKey):
    """There is no token for the host of a remote."""


async def open_forge(address: str) -> Forge:
    """Return the forge of a remote, ready for requests. Raises ForgeFailed, and NoForgeToken before any request."""
    remote = parse_remote(address)
    kinds = installed_kinds()
    if not kinds:
        raise ForgeFailed(_describe_no_kinds())
    names = token_variables(remote)
    token, origin = find_key(names), find_key_origin(names)
    if token is None or origin is None:
        raise NoForgeToken(
            f"There is no token for {remote.host}; set {names[0]} in the environment, or store it with "
            f"`heald key set {names[0]}`."
        )
    kind, base_url = await _find_api(remote, kinds)
    return kind.make_forge(ForgeApi(kind.title, base_url, kind.auth_headers(token), token, origin[0]), remote.path)


def token_variables(remote: ForgeRemote) -> tuple[str, ...]:
    """Return the names under which the token of a host is looked for, the usual one first."""
    public = find_host(remote.host)
    return (*(public[1].token_variables if public is not None else ()), remote.token_variable)


async def _find_api(remote: ForgeRemote, kinds: Mapping[str, ForgeKind]) -> tuple[ForgeKind, str]:
    public = find_host(remote.host)
    if public is not None:
        return public[0], public[1].api_url
    for kind in kinds.values():
        base_url = f"{remote.origin}{kind.api_path}"
        if await ForgeApi(kind.title, base_url).answers(kind.probe):
            return kind, base_url
    titles = ", ".join(kind.title for kind in kinds.values())
    failed = ", ".join(name for name in plugin_names(GROUP) if name not in kinds)
    hint = f"; `heald doctor` says why {failed} cannot be loaded" if failed else ""
    raise ForgeFailed(f"{remote.origin} does not answer as a forge ({titles}); check the address of the remote{hint}.")


def _describe_no_kinds() -> str:
    failed = ", ".join(plugin_names(GROUP))
    if failed:
        return f"No forge can be loaded; `heald doctor` says why {failed} failed."
    return f"No forge is installed; run `{install_advice()}`."
