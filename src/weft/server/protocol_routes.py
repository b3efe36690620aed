"""The routes for MCP and A2A clients. The packages of both protocols are large, so the first request loads them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from weft.server.context import ServerContext
from weft.server.guard import AGENT_CARD
from weft.server.openapi import RouteDescription

if TYPE_CHECKING:
    from weft.server.a2a.endpoint import A2AEndpoint
    from weft.server.mcp.http import McpEndpoint

MCP_PATH = "/mcp"
A2A_PATH = "/a2a"
_mcp = partial(RouteDescription, path=MCP_PATH, tag="mcp", media_type="*/*")
_a2a = partial(RouteDescription, tag="a2a")
_MCP_DESCRIPTIONS = (
    _mcp("POST", summary="A message of an MCP client: JSON-RPC as the protocol defines it."),
    _mcp("GET", summary="The stream of an MCP client, or the rest of one that was cut off."),
    _mcp("DELETE", summary="The end of an MCP client's connection."),
)
_A2A_DESCRIPTIONS = (
    _a2a("GET", AGENT_CARD, "The card of the agent for A2A clients.", is_public=True),
    _a2a("POST", A2A_PATH, "A request of an A2A client: JSON-RPC as the protocol defines it.", media_type="*/*"),
    *(
        _a2a(method, f"{A2A_PATH}/{{rest}}", "A request of an A2A client over HTTP with JSON.", media_type="*/*")
        for method in ("GET", "POST", "DELETE")
    ),
)


class _Endpoint(Protocol):
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]: ...


E = TypeVar("E", bound=_Endpoint)


class _LazyEndpoint(Generic[E]):
    """An ASGI application that the first request makes, in a thread."""

    def __init__(self, make: Callable[[], E]) -> None:
        self._make = make
        self._loading = asyncio.Lock()
        self.loaded: E | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self.load())(scope, receive, send)

    async def load(self) -> E:
        async with self._loading:
            if self.loaded is None:
                self.loaded = await asyncio.to_thread(self._make)
        return self.loaded


def mcp_routes(context: ServerContext) -> Sequence[BaseRoute | RouteDescription]:
    """Return the route at which MCP clients use the server."""

    def make() -> "McpEndpoint":
        from weft.server.mcp.http import McpEndpoint

        return McpEndpoint(context)

    async def close() -> None:
        if endpoint.loaded is not None:
            await endpoint.loaded.close()

    endpoint = _LazyEndpoint(make)
    context.on_stop(close)
    return [Route(MCP_PATH, endpoint, methods=["GET", "POST", "DELETE"]), *_MCP_DESCRIPTIONS]


def a2a_routes(context: ServerContext) -> Sequence[BaseRoute | RouteDescription]:
    """Return the routes at which A2A clients use the server."""

    def make() -> "A2AEndpoint":
        from weft.server.a2a.endpoint import A2AEndpoint

        return A2AEndpoint(context, A2A_PATH)

    async def card(request: Request) -> Response:
        return (await endpoint.load()).card(request)

    endpoint = _LazyEndpoint(make)
    return [
        Route(AGENT_CARD, card, methods=["GET"]),
        Route(A2A_PATH, endpoint, methods=["POST"]),
        Route(f"{A2A_PATH}/{{rest:path}}", endpoint, methods=["GET", "POST", "DELETE"]),
        *_A2A_DESCRIPTIONS,
    ]
