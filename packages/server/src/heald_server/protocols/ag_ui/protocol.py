"""ag-ui: AG-UI clients."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.ag_ui.dialect import AGUIDialect
from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from heald_server.protocols.ag_ui.routes import AGUIRoutes

    return AGUIRoutes(context).routes()


PROTOCOL = ClientProtocol(name="ag-ui", dialect=AGUIDialect, routes=_routes)
