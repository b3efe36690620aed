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
NAME = "mcp"


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from starlette.routing import Route

    from heald.core.json import JsonObject
    from heald_server.http.lazy_endpoint import LazyEndpoint
    from heald_server.http.route_description import RouteDescription
    from heald_server.protocols.mcp.file_changes import FileChanges
    from heald_server.protocols.shared.json_rpc import JsonRpcMessage

    def open_endpoint() -> "McpEndpoint":
        from heald_server.protocols.mcp.endpoint import McpEndpoint

        return McpEndpoint(context)

    async def close() -> None:
        if endpoint.opened is not None:
            await endpoint.opened.close()

    context.protocol_state[NAME] = changes = FileChanges()
    context.subscribe(changes)
    endpoint = LazyEndpoint(open_endpoint)
    context.on_stop(close)
    describe = partial(RouteDescription, path=PATH, tag=NAME, error_body=JsonObject)
    return [
        Route(PATH, endpoint, methods=["GET", "POST", "DELETE"]),
        describe(
            "POST",
            summary="A message of an MCP client: JSON-RPC as the protocol defines it.",
            body=JsonRpcMessage,
            response=JsonRpcMessage,
            events=(JsonRpcMessage,),
            more={202: "A notification or a response was accepted."},
            errors=("not_found",),
        ),
        describe(
            "GET",
            summary="The stream of an MCP client, or the rest of one that was cut off.",
            events=(JsonRpcMessage,),
            errors=("not_found", "conflict"),
        ),
        describe(
            "DELETE",
            summary="The end of an MCP client's connection.",
            media_type="",
            errors=("not_found",),
        ),
    ]


PROTOCOL = ClientProtocol(name=NAME, routes=_routes, packages=("mcp", "mcp_types"), extra=NAME)
