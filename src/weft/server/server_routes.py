"""Routes of the server itself: the page, login, health, and the models, tools and folders that sessions may use."""

import gzip
import mimetypes
import re
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from weft import __version__
from weft.core.json import encode
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.guard import Caller, cookie_name
from weft.server.metrics import CONTENT_TYPE
from weft.server.operations import ApiCall, Operation, caller_of, parse_json
from weft.server.views import (
    HealthView,
    LoginBody,
    ModelsView,
    ProvidersView,
    ReadyView,
    TokenView,
    ToolsView,
    ToolView,
    WorkspacesView,
)
from weft.tools.builtin import families
from weft.tools.function_tools import Registry

Endpoint = Callable[[Request], Awaitable[Response]]

_YEAR = 365 * 24 * 3600
_login_decoder = msgspec.json.Decoder(LoginBody)
_PAGE_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self' blob:; "
    "base-uri 'none'; form-action https://codepen.io https://stackblitz.com; frame-ancestors 'none'"
)
_ZERO_QUALITY = re.compile(r"q\s*=\s*0(\.0*)?\s*$")
_NO_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Weft</title>
<p>The server runs. This installation has no page; /openapi.json describes the API.</p>
"""


async def _list_models(call: ApiCall) -> ModelsView:
    models = call.context.models
    listed = list(models.list_models())
    stacks = call.context.list_stacks()
    fixed = call.context.agent_options is not None
    return ModelsView([each.name for each in listed], models.default, listed, stacks, fixed)


async def _list_providers(call: ApiCall) -> ProvidersView:
    return ProvidersView(list(call.context.models.list_providers()))


async def _list_tools(call: ApiCall) -> ToolsView:
    groups = families(call.context.sandbox)
    own = Registry(call.context.own_tools.values())
    known = {tool.name: tool for group in groups.values() for tool in group} | {tool.name: tool for tool in own}
    views = [
        ToolView(each.name, each.definition.description, each.effect, each.definition.input_schema)
        for each in known.values()
    ]
    return ToolsView(views, {name: [tool.name for tool in group] for name, group in groups.items()})


async def _list_workspaces(call: ApiCall) -> WorkspacesView:
    return WorkspacesView(list(call.context.workspaces))


async def _rotate_token(call: ApiCall) -> TokenView:
    token_id = caller_of(call.request).token_id
    if token_id is None:
        raise ApiError("conflict", "This server uses no token.")
    return TokenView(await call.context.tokens.rotate(token_id))


def health_endpoint(context: ServerContext) -> Endpoint:
    """Anyone learns that the server runs; a caller with a token learns more."""

    async def answer(request: Request) -> Response:
        caller: Caller | None = request.scope["state"]["caller"]
        if caller is None:
            return Response(encode(HealthView("ok")), media_type="application/json")
        sandbox = context.sandbox
        state = "off" if sandbox.unsandboxed else ("missing" if sandbox.available() else "bubblewrap")
        view = HealthView("ok", __version__, state, context.open_sessions.busy)
        return Response(encode(view), media_type="application/json")

    return answer


def ready_endpoint(context: ServerContext) -> Endpoint:
    """For balancers. Raises `unavailable` while the server stops, or nothing can be stored."""

    async def answer(_: Request) -> Response:
        if context.open_sessions.closing:
            raise ApiError("unavailable", "The server is stopping; send requests to another one.")
        if not context.can_store:
            raise ApiError("unavailable", "Nothing can be stored now; send requests to another server, or wait.")
        return Response(encode(ReadyView(context.node.name)), media_type="application/json")

    return answer


def metrics_endpoint(context: ServerContext) -> Endpoint:
    """Metrics for Prometheus."""

    async def answer(_: Request) -> Response:
        return Response(context.render_metrics(), media_type=CONTENT_TYPE)

    return answer


def login_endpoint(context: ServerContext) -> Endpoint:
    """Exchanges the token for a cookie that scripts cannot read."""

    async def answer(request: Request) -> Response:
        response = JSONResponse({})
        name = cookie_name(context.settings, request.scope)
        path = f"{request.scope.get('root_path', '')}/"
        if request.method == "DELETE":
            response.delete_cookie(name, path=path)
            return response
        body = parse_json(_login_decoder, await request.body())
        token_id = await context.tokens.identify_signed(body.token)
        if token_id is None:
            raise ApiError("unauthorized", "That token is not known here; open the address that the server printed.")
        await context.tokens.share_signed(token_id)
        response.set_cookie(
            name,
            context.tokens.cookie_value(token_id),
            max_age=_YEAR,
            path=path,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    return answer


# --- the page --------------------------------------------------------------------------------------------------------


def _page_folder() -> Traversable:
    return resources.files("weft.server").joinpath("built")


async def _serve_index(_: Request) -> Response:
    file = _page_folder().joinpath("index.html")
    content = file.read_bytes() if file.is_file() else _NO_PAGE
    return Response(content, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": _PAGE_CSP})


async def _serve_asset(request: Request) -> Response:
    """A file of the page. Its name contains a digest of its content, so clients may cache it for ever."""
    name: str = request.path_params["name"]
    if "/" in name or "\0" in name or name.startswith(".") or len(name) > 100:
        raise ApiError("not_found", "The page has no such file.")
    assets = _page_folder().joinpath("assets")
    plain, packed = assets.joinpath(name), assets.joinpath(f"{name}.gz")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if plain.is_file():
        content = plain.read_bytes()
    elif not packed.is_file():
        raise ApiError("not_found", "The page has no such file.")
    elif _accepts_gzip(request):
        content, headers["Content-Encoding"] = packed.read_bytes(), "gzip"
    else:
        content = gzip.decompress(packed.read_bytes())
    return Response(content, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream", headers=headers)


def _accepts_gzip(request: Request) -> bool:
    accepted = (each.partition(";") for each in request.headers.get("accept-encoding", "").lower().split(","))
    return any(coding.strip() == "gzip" and _ZERO_QUALITY.search(more) is None for coding, _, more in accepted)


async def _serve_icon(_: Request) -> Response:
    file = _page_folder().joinpath("favicon.svg")
    if not file.is_file():
        return Response(status_code=204)
    return Response(file.read_bytes(), media_type="image/svg+xml")


def page_routes() -> list[Route]:
    return [
        Route("/", _serve_index, methods=["GET"]),
        Route("/assets/{name}", _serve_asset, methods=["GET"]),
        Route("/favicon.ico", _serve_icon, methods=["GET"]),
    ]


_operation = partial(Operation, tag="about")

OPERATIONS = (
    _operation("GET", "/models", _list_models, "Models that a session may name.", ModelsView),
    _operation("GET", "/providers", _list_providers, "Providers, and whether their keys are set.", ProvidersView),
    _operation("GET", "/tools", _list_tools, "Tools that a session may name.", ToolsView),
    _operation("GET", "/workspaces", _list_workspaces, "Folders that a session may use.", WorkspacesView),
    _operation("POST", "/tokens/rotate", _rotate_token, "Replace the token.", TokenView, errors=("conflict",)),
)
