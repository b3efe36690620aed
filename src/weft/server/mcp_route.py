"""The route of the MCP server. The MCP package is loaded by the first request, since it is large."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from weft.server.context import ServerContext
from weft.server.openapi import RouteDescription

if TYPE_CHECKING:
    from weft.server.mcp.http import McpEndpoint

PATH = "/mcp"
_describe = partial(RouteDescription, path=PATH, tag="mcp", media_type="*/*")
_DESCRIPTIONS = (
    _describe("POST", summary="A message of an MCP client: JSON-RPC as the protocol defines it."),
    _describe("GET", summary="The stream of an MCP client, or the rest of one that was cut off."),
    _describe("DELETE", summary="The end of an MCP client's connection."),
)


def mcp_routes(context: ServerContext) -> Sequence[BaseRoute | RouteDescription]:
    """Return the route at which MCP clients use the server."""
    endpoint = _LazyEndpoint(context)
    context.on_stop(endpoint.close)
    return [Route(PATH, endpoint, methods=["GET", "POST", "DELETE"]), *_DESCRIPTIONS]


class _LazyEndpoint:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._loading = asyncio.Lock()
        self._endpoint: McpEndpoint | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._loading:
            if self._endpoint is None:
                self._endpoint = await asyncio.to_thread(self._load)
        await self._endpoint(scope, receive, send)

    def _load(self) -> "McpEndpoint":
        from weft.server.mcp.http import McpEndpoint

        return McpEndpoint(self._context)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()
