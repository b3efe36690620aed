"""The studio as a protocol of a server: the dialect of design pages, and the routes of projects and previews."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heald_server.protocols.protocol import ClientProtocol
from heald_studio.dialect import StudioDialect

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute

PREVIEWS = "/preview/"
"""The path of previews. What follows is a ticket or the secret of a link."""


def _routes(context: "ServerContext", **options: Any) -> "Sequence[ServerRoute]":
    from heald_studio.server.routes import studio_routes  # a server imports this module before it is ready

    return studio_routes(context, **options)


PROTOCOL = ClientProtocol(name="studio", dialect=StudioDialect, routes=_routes, secret_paths=(PREVIEWS,))
