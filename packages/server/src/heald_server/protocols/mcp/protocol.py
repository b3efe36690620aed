"""mcp: agents and the files of sessions for MCP clients, at `/mcp`. Needs the extra `mcp`.

The package is large, so the first request loads it.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.mcp.endpoint import McpEndpoint
    from heald_server.protocols.protocol import ServerRoute

PATH = "/mcp"


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from starlette.routing import Route

    from heald_server.http.lazy_endpoint import LazyEndpoint
    from heald_server.http.route_description import RouteDescription

    def open_endpoint() -> "McpEndpoint":
        from heald_server.protocols.mcp.endpoint import McpEndpoint

        return McpEndpoint(context)

    async def close() -> None:
        if endpoint.opened is not None:
            await endpoint.opened.close()

    endpoint = LazyEndpoint(open_endpoint)
    context.on_stop(close)
    describe = partial(RouteDescription, path=PATH, tag="mcp", media_type="*/*")
    return [
        Route(PATH, endpoint, methods=["GET", "POST", "DELETE"]),
        describe("POST", summary="A message of an MCP client: JSON-RPC as the protocol defines it."),
        describe("GET", summary="The stream of an MCP client, or the rest of one that was cut off."),
        describe("DELETE", summary="The end of an MCP client's connection."),
    ]


PROTOCOL = ClientProtocol(name="mcp", routes=_routes, packages=("mcp", "mcp_types"), extra="mcp")
