"""A protocol that clients speak to the server: its routes and its dialect, as a plugin offers them.

    [project.entry-points."heald.protocols"]
    mine = "my_package.protocol:PROTOCOL"

A server imports the module of the entry point when it starts, and the dialect with it. So that the server starts fast,
`routes` is a function that imports the routes when it is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from heald_server.dialects.dialect import Dialect
    from heald_server.http.operations import Operation
    from heald_server.http.route_description import RouteDescription

    ServerRoute = Operation | BaseRoute | RouteDescription
    """A route of a server, or the description of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProtocol:
    """A protocol of clients. Its name is that of its entry point, and of its dialect."""

    name: str
    dialect: "Callable[..., Dialect] | None" = None
    """Creates the dialect of a session, whose id is the first argument."""
    routes: "Callable[..., Sequence[ServerRoute]] | None" = None
    """Returns the routes of a server. It is called with the `ServerContext` and, as keywords, the protocol's options
    from `ServerContext.protocol_options`."""
    packages: tuple[str, ...] = ()
    """Packages that the routes need and that may be missing; without them the protocol is not served."""
    extra: str = ""
    """The extra that installs these packages."""
    public_paths: tuple[str, ...] = ()
    """Paths that need no token. One that ends with a slash stands for all paths below it, except `/` itself."""
    secret_paths: tuple[str, ...] = ()
    """Paths, each with a slash at its end, below which an address is itself a secret: GET needs neither a token nor an
    origin of the server, and logs show the path without the secret."""

    @property
    def missing_packages(self) -> list[str]:
        return [package for package in self.packages if find_spec(package) is None]

    def require_packages(self) -> None:
        """Raise `ConfigurationError` if a package of the protocol is missing."""
        missing = self.missing_packages
        if missing:
            advice = install_advice(self.extra) if self.extra else f"install {', '.join(missing)}"
            raise ConfigurationError(f"The protocol {self.name} needs {', '.join(missing)}, which is missing: {advice}")
