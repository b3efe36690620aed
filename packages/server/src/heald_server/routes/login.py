"""Routes for the caller's own token: exchanges it for a cookie, and replaces it."""

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from heald_server.access.credentials import cookie_name
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.json_body import parse_json
from heald_server.http.operations import ApiCall, Operation, caller_of
from heald_server.http.route_description import RouteDescription
from heald_server.routes.fields import Empty
from heald_server.routes.server_views import LoginBody, TokenView

PATH = "/login"
_COOKIE_SECONDS = 365 * 24 * 3600
_login_decoder = msgspec.json.Decoder(LoginBody)


class LoginRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[BaseRoute | RouteDescription | Operation]:
        return [
            Route(PATH, self.login, methods=["POST", "DELETE"]),
            RouteDescription(
                "POST",
                PATH,
                "Exchange the token for a cookie.",
                "about",
                response=Empty,
                body=LoginBody,
                is_public=True,
            ),
            RouteDescription("DELETE", PATH, "Remove the cookie.", "about", response=Empty, is_public=True),
            Operation(
                "POST",
                "/tokens/rotate",
                _rotate_token,
                "Replace the token.",
                TokenView,
                errors=("conflict",),
                tag="about",
            ),
        ]

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
            max_age=_COOKIE_SECONDS,
            path=path,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response


async def _rotate_token(call: ApiCall) -> TokenView:
    token_id = caller_of(call.request).token_id
    if token_id is None:
        raise ApiError("conflict", "This server uses no token.")
    return TokenView(await call.context.tokens.rotate(token_id))
