"""The server as an ASGI application: all routes behind the guard.

The packages of MCP and A2A are large, so the first request of such a client loads them.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send
from starlette.websockets import WebSocket

from weft.core.json import JsonObject
from weft.server import (
    conversation,
    file_routes,
    server_routes,
    session_routes,
)
from weft.server.agui_routes import AGUIRoutes
from weft.server.ai_sdk_routes import ChatRoutes
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.guard import AGENT_CARD, Authenticate, Guard
from weft.server.openai_routes import OpenAIRoutes
from weft.server.openapi import RouteDescription, describe_routes
from weft.server.operations import Operation, build_route, caller_of, check_parameters, json_response
from weft.server.request_scope import error_response
from weft.server.responses_routes import ResponseRoutes
from weft.server.route_descriptions import DESCRIPTIONS
from weft.server.sse import stream_events
from weft.server.views import StreamQuery
from weft.server.websocket import SocketConnection

if TYPE_CHECKING:
    from weft.server.a2a.handler import A2AEndpoint
    from weft.server.mcp.offer import McpEndpoint


Extension = Callable[[ServerContext], Sequence[Operation | BaseRoute | RouteDescription]]
"""Returns more routes for a server, and descriptions of them. They are checked by the same guard."""


class _Api(Starlette):
    """The routes. Unexpected errors propagate to the guard, which answers and logs them."""

    def build_middleware_stack(self) -> ASGIApp:
        return ExceptionMiddleware(self.router, handlers={HTTPException: _on_http_error, ApiError: _on_api_error})


def create_app(
    context: ServerContext, extensions: Sequence[Extension] = (), *, authenticate: Authenticate | None = None
) -> Guard:
    """The server as an ASGI application. Its lifespan starts and stops the context, which closes the store.

    `authenticate` replaces the tokens of the context: it returns the owner of a request's sessions, or None.
    """
    listed = list_routes(context, extensions)
    document = Route("/openapi.json", _openapi_endpoint(listed), methods=["GET"])
    operations = [build_route(operation, context) for operation in listed.operations]
    api = _Api(routes=[*operations, document, *listed.routes], lifespan=_lifespan(context))
    api.router.redirect_slashes = False
    return Guard(api, context.settings, context.tokens, authenticate, context.metrics, context.shares)


class ServerRoutes(NamedTuple):
    """The routes of a server that are declared: as operations, or as routes with descriptions."""

    operations: list[Operation]
    routes: list[BaseRoute]
    descriptions: list[RouteDescription]


def list_routes(context: ServerContext, extensions: Sequence[Extension] = ()) -> ServerRoutes:
    listed = ServerRoutes(
        [
            *session_routes.OPERATIONS,
            *conversation.OPERATIONS,
            *file_routes.OPERATIONS,
            *server_routes.OPERATIONS,
        ],
        [
            *_stream_routes(context),
            *server_routes.ServerEndpoints(context).routes(),
            *ChatRoutes(context).routes(),
            *AGUIRoutes(context).routes(),
            *OpenAIRoutes(context).routes(),
            *ResponseRoutes(context).routes(),
        ],
        [*DESCRIPTIONS],
    )
    for extension in extensions:
        for each in extension(context):
            match each:
                case Operation():
                    listed.operations.append(each)
                case RouteDescription():
                    listed.descriptions.append(each)
                case _:
                    listed.routes.append(each)
    listed.routes.extend(server_routes.page_routes())
    return listed


def _stream_routes(context: ServerContext) -> list[BaseRoute]:
    async def events(request: Request) -> Response:
        caller = caller_of(request)
        check_parameters(request, StreamQuery.__struct_fields__)
        info = await context.open_sessions.find_info(caller.owner, request.path_params["session"])
        return await stream_events(context, caller, info, request)

    async def one_session(websocket: WebSocket) -> None:
        caller = caller_of(websocket)
        info = await context.open_sessions.find_info(caller.owner, websocket.path_params["session"])
        query = websocket.query_params
        await SocketConnection(context, caller, websocket, info, query.get("dialect", "native")).run(query.get("after"))

    async def many_sessions(websocket: WebSocket) -> None:
        await SocketConnection(context, caller_of(websocket), websocket).run()

    return [
        Route("/sessions/{session}/events", events, methods=["GET"]),
        WebSocketRoute("/sessions/{session}/ws", one_session),
        WebSocketRoute("/ws", many_sessions),
    ]


def _openapi_endpoint(listed: ServerRoutes) -> Callable[[Request], Awaitable[Response]]:
    document: JsonObject = {}

    async def answer(request: Request) -> Response:
        if not document:
            own = Route("/openapi.json", answer, methods=["GET"])
            every: list[BaseRoute] = [*listed.routes, own]
            described = await asyncio.to_thread(describe_routes, listed.operations, every, listed.descriptions)
            document.update(described)
        root_path = caller_of(request).root_path
        servers = {"servers": [{"url": root_path}]} if root_path else {}
        return json_response(document | servers)

    return answer


def _lifespan(context: ServerContext) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        await context.start()
        try:
            yield
        finally:
            await context.stop()

    return lifespan


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(error, request.scope)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        message = f"{request.method} does not exist on this path."
        return error_response(ApiError("method_not_allowed", message, headers=error.headers), request.scope)
    if error.status_code == 404:
        missing = ApiError("not_found", "There is nothing at this path; /openapi.json lists all paths.")
        return error_response(missing, request.scope)
    return error_response(ApiError("invalid", str(error.detail)[:200]))


# --- MCP and A2A -----------------------------------------------------------------------------------------------------


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
        from weft.server.mcp.offer import McpEndpoint

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
        from weft.server.a2a.handler import A2AEndpoint

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
