"""Routes of the server itself: the page, login, health; models, tools and folders that sessions may use; and the keys
of providers, which are stored in the keyring of this machine and never sent."""

import asyncio
import gzip
import mimetypes
import re
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from weft import __version__
from weft.core.errors import WeftError
from weft.core.messages import user_message
from weft.core.retry import Retry
from weft.core.turn import Settings
from weft.providers.catalogue import known_models
from weft.providers.config import configured_providers
from weft.providers.factory import open_provider_session
from weft.providers.keys import delete_key, has_key, store_key
from weft.providers.model import Endpoint, Model
from weft.providers.model_names import newest_general, speed_of
from weft.providers.presets import PRESETS
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.guard import Caller, cookie_name
from weft.server.metrics import CONTENT_TYPE
from weft.server.models import ProviderView
from weft.server.operations import ApiCall, Operation, caller_of, is_operator, json_response, parse_json
from weft.server.views import (
    Body,
    HealthView,
    LoginBody,
    ModelsView,
    Name,
    ProvidersView,
    ReadyView,
    TokenView,
    ToolsView,
    ToolView,
    WorkspacesView,
)
from weft.tools.builtin import families
from weft.tools.function_tools import Registry

_YEAR = 365 * 24 * 3600
KEY = re.compile(r"[\x21-\x7e]{4,4096}")
_TEST_SECONDS = 30.0
_TEST_TOKENS = 16
_TRIED = 3  # models that a key is tried with: not every key may use the newest one
_OTHER_MODEL = ("model_not_found", "permission", "invalid_request")  # errors that another model may not have
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


class ServerEndpoints:
    """The routes that are no operations: for anyone, for balancers, for Prometheus and for the page."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        return [
            Route("/health", self.health, methods=["GET"]),
            Route("/ready", self.ready, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/login", self.login, methods=["POST", "DELETE"]),
        ]

    async def health(self, request: Request) -> Response:
        """Anyone learns that the server runs; a caller with a token learns more."""
        caller: Caller | None = request.scope["state"]["caller"]
        if caller is None:
            return json_response(HealthView("ok"))
        sandbox = self._context.sandbox
        state = "off" if sandbox.unsandboxed else ("missing" if sandbox.available() else "bubblewrap")
        return json_response(HealthView("ok", __version__, state, self._context.open_sessions.busy))

    async def ready(self, _: Request) -> Response:
        """For balancers. Raises `unavailable` while the server stops, or nothing can be stored."""
        if self._context.open_sessions.closing:
            raise ApiError("unavailable", "The server is stopping; send requests to another one.")
        if not self._context.can_store:
            raise ApiError("unavailable", "Nothing can be stored now; send requests to another server, or wait.")
        return json_response(ReadyView(self._context.node.name))

    async def metrics(self, _: Request) -> Response:
        """Metrics for Prometheus."""
        return Response(self._context.render_metrics(), media_type=CONTENT_TYPE)

    async def login(self, request: Request) -> Response:
        """Exchanges the token for a cookie that scripts cannot read."""
        tokens = self._context.tokens
        response = JSONResponse({})
        name = cookie_name(self._context.settings, request.scope)
        path = f"{request.scope.get('root_path', '')}/"
        if request.method == "DELETE":
            response.delete_cookie(name, path=path)
            return response
        body = parse_json(_login_decoder, await request.body())
        token_id = await tokens.identify_signed(body.token)
        if token_id is None:
            raise ApiError("unauthorized", "That token is not known here; open the address that the server printed.")
        await tokens.share_signed(token_id)
        response.set_cookie(
            name,
            tokens.cookie_value(token_id),
            max_age=_YEAR,
            path=path,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response


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
    elif accepts_gzip(request):
        content, headers["Content-Encoding"] = packed.read_bytes(), "gzip"
    else:
        content = gzip.decompress(packed.read_bytes())
    return Response(content, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream", headers=headers)


def accepts_gzip(request: Request) -> bool:
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


# --- keys of providers -----------------------------------------------------------------------------------------------


class KeyBody(Body, frozen=True, kw_only=True):
    key: Annotated[str, msgspec.Meta(max_length=5000)]


class KeyTestBody(Body, frozen=True, kw_only=True):
    model: Name = ""
    """The model to ask, without its provider; by default the newest fast one."""


class KeyTest(msgspec.Struct, frozen=True):
    """The result of a test: one short request to the provider."""

    ok: bool
    message: str


async def _store_key(call: ApiCall) -> ProviderView:
    name, endpoint = _find_provider(call)
    key = call.body.key.strip()
    if not KEY.fullmatch(key):
        raise ApiError("invalid", "That is not a key: it must be one word of letters, digits and signs.")
    await asyncio.to_thread(store_key, endpoint.key_envs[0], key)
    return _provider_view(call, name)


async def _delete_key(call: ApiCall) -> None:
    _, endpoint = _find_provider(call)
    found = [await asyncio.to_thread(delete_key, variable) for variable in endpoint.key_envs]
    if not any(found):
        raise ApiError("not_found", "The keyring holds no key of this provider.")


async def _test_key(call: ApiCall) -> KeyTest:
    name, endpoint = _find_provider(call)
    if not has_key(endpoint.key_envs):
        return KeyTest(ok=False, message="There is no key to test; set one first.")
    body: KeyTestBody | None = call.body
    models = [body.model] if body is not None and body.model else _test_models(name, endpoint)
    if not models:
        return KeyTest(ok=False, message=f"No model of {name} is known to test the key with; name one.")
    result = KeyTest(ok=False, message="")
    for model in models[:_TRIED]:
        result, code = await _ask(endpoint, model)
        if result.ok or code not in _OTHER_MODEL:
            return result
    return result


async def _ask(endpoint: Endpoint, model: str) -> tuple[KeyTest, str]:
    """Send one short request; return the result and the code of its error."""
    settings = Settings(max_output_tokens=_TEST_TOKENS)
    try:
        session = open_provider_session(
            Model.at(endpoint, model),
            messages=[user_message("Answer with the word ok.")],
            settings=settings,
            retry=Retry(attempts=1),
        )
        try:
            async with asyncio.timeout(_TEST_SECONDS):
                await session.stream_turn(lambda _: None)
        finally:
            await session.close()
    except TimeoutError:
        return KeyTest(ok=False, message=f"The provider did not answer within {_TEST_SECONDS:.0f} seconds."), "timeout"
    except WeftError as error:
        return KeyTest(ok=False, message=error.info().message), error.info().code
    return KeyTest(ok=True, message=f"The key works: {model} answered."), ""


def _test_models(name: str, endpoint: Endpoint) -> list[str]:
    """List models for a test: fast ones first, because the answer does not matter."""
    found = newest_general(known_models(name, endpoint.price_provider))
    return sorted(found[:8], key=lambda model: speed_of(model) != "fast")


def _find_provider(call: ApiCall) -> tuple[str, Endpoint]:
    """Find the provider of the path, for callers who may change the keys of this server."""
    if not is_operator(call):
        raise ApiError("forbidden", "Only the person who runs this server changes its keys; ask for one.")
    name = call.path["provider"]
    endpoint = (PRESETS | configured_providers()).get(name)
    if endpoint is None:
        raise ApiError("not_found", "There is no provider of that name; /providers lists them.")
    if not endpoint.key_envs:
        raise ApiError("invalid", f"{name} needs no key.")
    return name, endpoint


def _provider_view(call: ApiCall, name: str) -> ProviderView:
    views = call.context.models.list_providers()
    return next((view for view in views if view.name == name), ProviderView(name, key_set=True, variables=[]))


_operation = partial(Operation, tag="about")
_provider = partial(_operation, errors=("not_found", "forbidden", "no_keyring"))
_PROVIDER = "/providers/{provider}"

OPERATIONS = (
    _operation("GET", "/models", _list_models, "Models that a session may name.", ModelsView),
    _operation("GET", "/providers", _list_providers, "Providers, and whether their keys are set.", ProvidersView),
    _operation("GET", "/tools", _list_tools, "Tools that a session may name.", ToolsView),
    _operation("GET", "/workspaces", _list_workspaces, "Folders that a session may use.", WorkspacesView),
    _operation("POST", "/tokens/rotate", _rotate_token, "Replace the token.", TokenView, errors=("conflict",)),
    _provider("PUT", f"{_PROVIDER}/key", _store_key, "Store a key.", ProviderView, KeyBody),
    _provider("DELETE", f"{_PROVIDER}/key", _delete_key, "Delete a key.", status=204),
    _provider(
        "POST",
        f"{_PROVIDER}/test",
        _test_key,
        "Test a key with one short request.",
        KeyTest,
        KeyTestBody,
        body_optional=True,
    ),
)
