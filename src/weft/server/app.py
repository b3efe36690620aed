"""The application: all routes behind the guard."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Lifespan
from starlette.websockets import WebSocket

from weft.core.json import encode
from weft.server import page
from weft.server.context import ServerContext
from weft.server.guard import Caller, Guard, answer_refusal
from weft.server.openapi import document
from weft.server.operations import Operation, caller_of, route_of
from weft.server.refusal import Refusal
from weft.server.routes import about, changes, conversation, delegates, files, sessions
from weft.server.routes.guests import GuestRoutes
from weft.server.sse import listen
from weft.server.views import StreamQuery
from weft.server.websocket import Socket

Extension = Callable[[ServerContext], Sequence[Operation | BaseRoute]]
"""More routes, from whoever puts the server together. They stand behind the same guard."""


class _Api(Starlette):
    """The routes. What they raise comes out as it is: the guard says it, once and in our words."""

    def build_middleware_stack(self) -> ASGIApp:
        return ExceptionMiddleware(self.router, handlers={HTTPException: _http_error, Refusal: _refused})


def create_app(context: ServerContext, extensions: Sequence[Extension] = ()) -> Guard:
    """The server as an ASGI application. It opens with its lifespan and closes its store at the end."""
    operations = [
        *sessions.OPERATIONS,
        *conversation.OPERATIONS,
        *files.OPERATIONS,
        *changes.OPERATIONS,
        *delegates.OPERATIONS,
        *about.OPERATIONS,
    ]
    more: list[BaseRoute] = []
    for extension in extensions:
        for each in extension(context):
            (operations if isinstance(each, Operation) else more).append(each)  # pyright: ignore[reportArgumentType]
    api = _Api(
        routes=[
            *(route_of(operation, context) for operation in operations),
            *_own_routes(context, operations),
            *GuestRoutes(context).routes(),
            *more,
            *page.routes(),
        ],
        lifespan=_lifespan(context),
    )
    api.router.redirect_slashes = False
    return Guard(api, context.settings, context.tokens)


def _own_routes(context: ServerContext, operations: Sequence[Operation]) -> list[BaseRoute]:
    async def events(request: Request) -> Response:
        caller = caller_of(request)
        strange = next((name for name in request.query_params if name not in StreamQuery.__struct_fields__), None)
        if strange is not None:
            raise Refusal("invalid", f"There is no parameter {strange[:40]!r} here; there are dialect and after.")
        info = await context.open.info(caller.owner, request.path_params["session"])
        return await listen(context, caller, info, request)

    async def one(websocket: WebSocket) -> None:
        caller = _caller(websocket)
        info = await context.open.info(caller.owner, websocket.path_params["session"])
        query = websocket.query_params
        await Socket(context, caller, websocket, info, query.get("dialect", "native")).run(query.get("after"))

    async def many(websocket: WebSocket) -> None:
        await Socket(context, _caller(websocket), websocket).run()

    described = encode(document(operations))

    async def openapi(request: Request) -> Response:
        caller_of(request)
        return Response(described, media_type="application/json")

    return [
        Route("/sessions/{session}/events", events, methods=["GET"]),
        WebSocketRoute("/sessions/{session}/ws", one),
        WebSocketRoute("/ws", many),
        Route("/openapi.json", openapi, methods=["GET"]),
        Route("/health", about.health(context), methods=["GET"]),
        Route("/login", about.login(context), methods=["POST", "DELETE"]),
    ]


def _caller(websocket: WebSocket) -> Caller:
    return websocket.scope["state"]["caller"]


def _lifespan(context: ServerContext) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        await context.start()
        try:
            yield
        finally:
            await context.stop()

    return lifespan


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return answer_refusal(error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        refusal = Refusal("method_not_allowed", f"{request.method} does not go with this path.", headers=error.headers)
    elif error.status_code == 404:
        refusal = Refusal("not_found", "There is nothing at this path; /openapi.json lists what there is.")
    else:
        refusal = Refusal("invalid", str(error.detail)[:200])
    return answer_refusal(refusal)
