"""The server itself: its health, what it offers, and the door."""

from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from weft import __version__
from weft.core.json import encode
from weft.server.context import ServerContext
from weft.server.guard import Caller, cookie_name
from weft.server.operations import Call, Operation, caller_of, read_json
from weft.server.refusal import Refusal
from weft.server.views import (
    HealthView,
    LoginBody,
    ModelsView,
    ProvidersView,
    TokenView,
    ToolsView,
    ToolView,
    WorkspacesView,
)
from weft.tools.builtin import families
from weft.tools.function import tool_of
from weft.tools.tool import Tool

Endpoint = Callable[[Request], Awaitable[Response]]

_YEAR = 365 * 24 * 3600
_login = msgspec.json.Decoder(LoginBody)


async def models(call: Call) -> ModelsView:
    return ModelsView(list(call.context.models.listed()), call.context.models.default)


async def providers(call: Call) -> ProvidersView:
    return ProvidersView(list(call.context.models.providers()))


async def tools(call: Call) -> ToolsView:
    groups = families(call.context.sandbox)
    own = [each if isinstance(each, Tool) else tool_of(each) for each in call.context.own_tools.values()]
    known = {tool.name: tool for group in groups.values() for tool in group} | {tool.name: tool for tool in own}
    views = [
        ToolView(each.name, each.definition.description, each.effect, each.definition.input_schema)
        for each in known.values()
    ]
    return ToolsView(views, {name: [tool.name for tool in group] for name, group in groups.items()})


async def workspaces(call: Call) -> WorkspacesView:
    return WorkspacesView(list(call.context.workspaces))


async def rotate(call: Call) -> TokenView:
    holder = caller_of(call.request).holder
    if holder is None:
        raise Refusal("conflict", "This server was started without a token; there is none to change.")
    return TokenView(call.context.tokens.rotate(holder))


def health(context: ServerContext) -> Endpoint:
    """Whether it lives, for anyone; how it is, for those who have the token."""

    async def answer(request: Request) -> Response:
        caller: Caller | None = request.scope["state"]["caller"]
        if caller is None:
            return Response(encode(HealthView("ok")), media_type="application/json")
        sandbox = context.sandbox
        state = "off" if sandbox.unsandboxed else ("missing" if sandbox.available() else "bubblewrap")
        view = HealthView("ok", __version__, state, context.open.busy)
        return Response(encode(view), media_type="application/json")

    return answer


def login(context: ServerContext) -> Endpoint:
    """A page exchanges the token for a cookie that no script can read."""

    async def answer(request: Request) -> Response:
        if request.method == "DELETE":
            response = JSONResponse({})
            response.delete_cookie(cookie_name(context.settings), path="/")
            return response
        body = read_json(_login, await request.body())
        holder = context.tokens.holder(body.token)
        if holder is None:
            raise Refusal("unauthorized", "That token is not known here; open the address that the server printed.")
        response = JSONResponse({})
        response.set_cookie(
            cookie_name(context.settings),
            context.tokens.cookie_of(holder),
            max_age=_YEAR,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    return answer


OPERATIONS = (
    Operation("GET", "/models", models, "Models that a session may name.", answer=ModelsView, tag="about"),
    Operation(
        "GET", "/providers", providers, "Providers, and whether their keys are set.", answer=ProvidersView, tag="about"
    ),
    Operation("GET", "/tools", tools, "Tools that a session may name.", answer=ToolsView, tag="about"),
    Operation(
        "GET", "/workspaces", workspaces, "Folders that a session may work in.", answer=WorkspacesView, tag="about"
    ),
    Operation(
        "POST",
        "/tokens/rotate",
        rotate,
        "A new token for the old one, which ends at once.",
        answer=TokenView,
        refusals=("conflict",),
        tag="about",
    ),
)
