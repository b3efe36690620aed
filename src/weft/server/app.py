"""The server as an ASGI application: all routes behind the guard."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Lifespan
from starlette.websockets import WebSocket

from weft.core.json import JsonObject, encode
from weft.server import (
    client_tools,
    conversation,
    file_routes,
    key_routes,
    server_routes,
    session_routes,
    share_routes,
)
from weft.server.agui_routes import AGUIRoutes
from weft.server.ai_sdk_routes import ChatRoutes
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.guard import Authenticate, Guard
from weft.server.openai_routes import OpenAIRoutes
from weft.server.openapi import RouteDescription, describe_routes
from weft.server.operations import Operation, build_route, caller_of, check_parameters
from weft.server.request_scope import error_response
from weft.server.responses_routes import ResponseRoutes
from weft.server.route_descriptions import DESCRIPTIONS
from weft.server.sse import stream_events
from weft.server.views import StreamQuery
from weft.server.websocket import SocketConnection

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
            *client_tools.OPERATIONS,
            *file_routes.OPERATIONS,
            *server_routes.OPERATIONS,
            *key_routes.OPERATIONS,
            *share_routes.OPERATIONS,
        ],
        [
            *_stream_routes(context),
            Route("/health", server_routes.health_endpoint(context), methods=["GET"]),
            Route("/ready", server_routes.ready_endpoint(context), methods=["GET"]),
            Route("/metrics", server_routes.metrics_endpoint(context), methods=["GET"]),
            Route("/login", server_routes.login_endpoint(context), methods=["POST", "DELETE"]),
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
        return Response(encode(document | servers), media_type="application/json")

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
