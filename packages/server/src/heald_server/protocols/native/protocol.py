"""native: the API of the server and its page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heald_server.protocols.native.dialect import NativeDialect
from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext", **options: Any) -> "Sequence[ServerRoute]":
    from heald_server.routes.api import api_routes

    return api_routes(context, **options)


PROTOCOL = ClientProtocol(
    name="native",
    dialect=NativeDialect,
    routes=_routes,
    public_paths=("/", "/favicon.ico", "/assets/"),  # the page holds no data
)
