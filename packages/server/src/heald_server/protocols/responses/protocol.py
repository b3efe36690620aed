"""responses: clients of the Responses API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.protocol import ClientProtocol
from heald_server.protocols.responses.dialect import ResponsesDialect

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from heald_server.protocols.responses.routes import ResponseRoutes

    return ResponseRoutes(context).routes()


PROTOCOL = ClientProtocol(name="responses", dialect=ResponsesDialect, routes=_routes)
