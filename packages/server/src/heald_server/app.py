"""The server as an ASGI application: the routes of all protocols behind the guard."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Lifespan

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import JsonObject
from heald_server.access.caller import Authenticate
from heald_server.access.guard import Guard
from heald_server.access.open_paths import OpenPaths
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.json_compression import JsonCompression
from heald_server.http.openapi import describe_routes
from heald_server.http.operations import Operation, build_route, caller_of, json_response
from heald_server.http.request_scope import error_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.installed import find_protocols, log_failed_routes
from heald_server.protocols.protocol import ClientProtocol
from heald_server.routes.health import HEALTH, READY, HealthRoutes
from heald_server.routes.login import PATH as LOGIN
from heald_server.routes.login import LoginRoutes

OPENAPI = "/openapi.json"
PUBLIC_PATHS = (HEALTH, READY, LOGIN)
"""Paths of the server itself that need no token."""

Extension = Callable[[ServerContext], Sequence[Operation | BaseRoute | RouteDescription]]
"""Returns more routes for a server, and descriptions of them. They are checked by the same guard."""


class _Api(Starlette):
    """The routes. Unexpected errors propagate to the guard, which answers and logs them."""

    def build_middleware_stack(self) -> ASGIApp:
        handlers = {HTTPException: _on_http_error, ApiError: _on_api_error}
        return JsonCompression(ExceptionMiddleware(self.router, handlers=handlers))


def create_app(
    context: ServerContext,
    extensions: Sequence[Extension] = (),
    *,
    protocols: Collection[str] | None = None,
    authenticate: Authenticate | None = None,
) -> Guard:
    """The server as an ASGI application. Its lifespan starts and stops the context, which closes the store.

    `protocols` names those that it speaks; None stands for all that are installed. `authenticate` replaces the tokens
    of the context: it returns the owner of a request's sessions, or None.
    """
    listed = list_routes(context, extensions, protocols=protocols)
    document = Route(OPENAPI, _openapi_endpoint(listed), methods=["GET"])
    operations = [build_route(operation, context) for operation in listed.operations]
    api = _Api(routes=[*operations, document, *listed.routes], lifespan=_lifespan(context))
    api.router.redirect_slashes = False
    paths = OpenPaths(
        public=[*PUBLIC_PATHS, *(path for protocol in listed.protocols for path in protocol.public_paths)],
        secret=[path for protocol in listed.protocols for path in protocol.secret_paths],
    )
    return Guard(
        api, context.settings, context.tokens, authenticate, context.metrics, paths=paths, admit=context.admit_caller
    )


class ServerRoutes(NamedTuple):
    """The routes of a server: as operations, or as routes with descriptions."""

    operations: list[Operation]
    routes: list[BaseRoute]
    descriptions: list[RouteDescription]
    protocols: list[ClientProtocol]
    """Those that the routes are of."""


def list_routes(
    context: ServerContext, extensions: Sequence[Extension] = (), *, protocols: Collection[str] | None = None
) -> ServerRoutes:
    """Collect the routes of the server itself, of its protocols and of extensions."""
    listed = ServerRoutes(
        [], [], [RouteDescription("GET", OPENAPI, "This document.", "about", response=JsonObject)], []
    )
    _add_routes(listed, HealthRoutes(context).routes())
    _add_routes(listed, LoginRoutes(context).routes())
    spoken = find_protocols(protocols)
    _check_options(context, spoken)
    for protocol in spoken:
        if _open_protocol(listed, context, protocol):
            listed.protocols.append(protocol)
    for extension in extensions:
        _add_routes(listed, extension(context))
    return listed


def _open_protocol(listed: ServerRoutes, context: ServerContext, protocol: ClientProtocol) -> bool:
    """Add the routes of a protocol. Returns False for one that cannot be loaded, which is logged."""
    if protocol.routes is None:
        return True
    try:
        routes = protocol.routes(context, **context.protocol_options.get(protocol.name, {}))
    except HealdError:  # its options are wrong
        raise
    except Exception as error:
        log_failed_routes(protocol.name, error)
        return False
    _add_routes(listed, routes)
    return True


def _check_options(context: ServerContext, spoken: Sequence[ClientProtocol]) -> None:
    names = [protocol.name for protocol in spoken]
    for name, options in context.protocol_options.items():
        if options and name not in names:
            raise ConfigurationError(
                f"There are options for the protocol {name!r}, which this server does not speak; it speaks "
                f"{', '.join(names)}."
            )


def _add_routes(listed: ServerRoutes, routes: Sequence[Operation | BaseRoute | RouteDescription]) -> None:
    for route in routes:
        match route:
            case Operation():
                listed.operations.append(route)
            case RouteDescription():
                listed.descriptions.append(route)
            case _:
                listed.routes.append(route)


def _openapi_endpoint(listed: ServerRoutes) -> Callable[[Request], Awaitable[Response]]:
    document: JsonObject = {}

    async def answer(request: Request) -> Response:
        if not document:
            itself = Route(OPENAPI, answer, methods=["GET"])
            routes: list[BaseRoute] = [*listed.routes, itself]
            document.update(await asyncio.to_thread(describe_routes, listed.operations, routes, listed.descriptions))
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
