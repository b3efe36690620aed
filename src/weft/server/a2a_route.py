"""The routes for A2A clients. Their package is loaded by the first request, since it is large."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from weft.server.context import ServerContext
from weft.server.guard import AGENT_CARD
from weft.server.openapi import RouteDescription

if TYPE_CHECKING:
    from weft.server.a2a.endpoint import A2AEndpoint

PATH = "/a2a"
_describe = partial(RouteDescription, tag="a2a")
_DESCRIPTIONS = (
    _describe("GET", AGENT_CARD, "The card of the agent for A2A clients.", is_public=True),
    _describe("POST", PATH, "A request of an A2A client: JSON-RPC as the protocol defines it.", media_type="*/*"),
    *(
        _describe(method, f"{PATH}/{{rest}}", "A request of an A2A client over HTTP with JSON.", media_type="*/*")
        for method in ("GET", "POST", "DELETE")
    ),
)


def a2a_routes(context: ServerContext) -> Sequence[BaseRoute | RouteDescription]:
    """Return the routes at which A2A clients use the server."""
    endpoint = _LazyEndpoint(context)
    return [
        Route(AGENT_CARD, endpoint.card, methods=["GET"]),
        Route(PATH, endpoint, methods=["POST"]),
        Route(f"{PATH}/{{rest:path}}", endpoint, methods=["GET", "POST", "DELETE"]),
        *_DESCRIPTIONS,
    ]


class _LazyEndpoint:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._loading = asyncio.Lock()
        self._endpoint: A2AEndpoint | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._load())(scope, receive, send)

    async def card(self, request: Request) -> Response:
        return (await self._load()).card(request)

    async def _load(self) -> "A2AEndpoint":
        async with self._loading:
            if self._endpoint is None:
                self._endpoint = await asyncio.to_thread(self._make)
        return self._endpoint

    def _make(self) -> "A2AEndpoint":
        from weft.server.a2a.endpoint import A2AEndpoint

        return A2AEndpoint(self._context, PATH)
