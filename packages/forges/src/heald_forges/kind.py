"""A kind of forge: how its API is found, and the class that uses it. An entry of the group `heald.forges` is one."""

from collections.abc import Callable, Mapping

import msgspec

from heald_forges.api import ForgeApi
from heald_forges.forge import Forge


class ForgeHost(msgspec.Struct, frozen=True, kw_only=True):
    """A public server of a forge, which is recognized by the host of a remote."""

    host: str
    """Such as `github.com`."""
    api_url: str
    """The address of its API, without a slash at the end. The token is sent there: an address with `https`."""
    token_variables: tuple[str, ...]
    """The usual names of the variables with a token, the preferred one first."""


class ForgeKind(msgspec.Struct, frozen=True, kw_only=True):
    """The software of a forge."""

    title: str
    """Its name, for messages."""
    api_path: str
    """Where the API is on a host that is not in `hosts`, such as `/api/v1`."""
    probe: str
    """A path of the API that such a host answers with a JSON object, also without a token."""
    auth_headers: Callable[[str], Mapping[str, str]]
    """Returns the headers of a request with a token."""
    make_forge: Callable[[ForgeApi, str], Forge]
    """Returns the forge of an API and the path of a repository, such as `me/site`."""
    hosts: tuple[ForgeHost, ...] = ()
    """Its public servers."""
