"""The endpoints of A2A clients: JSON-RPC, and HTTP with JSON."""

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from heald_server.context import ServerContext
from heald_server.http.operations import caller_of
from heald_server.protocols.a2a.agent_card import agent_card
from heald_server.protocols.a2a.handler import OWNER, AgentRequestHandler


class A2AEndpoint:
    """Answers the requests below `/a2a`."""

    def __init__(self, context: ServerContext, path: str) -> None:
        handler = AgentRequestHandler(context)
        builder = _CallContextBuilder()
        self._path = path
        self._needs_token = context.settings.needs_token
        self._router = Router(
            [
                *create_jsonrpc_routes(handler, path, context_builder=builder),
                *create_rest_routes(handler, context_builder=builder, path_prefix=path),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)

    def card(self, request: Request) -> Response:
        """Return the card of the agent, with the address at which the request arrived."""
        address = f"{str(request.base_url).rstrip('/')}{self._path}"
        return JSONResponse(agent_card_to_dict(agent_card(address, needs_token=self._needs_token)))


class _CallContextBuilder(DefaultServerCallContextBuilder):
    @override
    def build(self, request: Request) -> ServerCallContext:
        built = super().build(request)
        built.state[OWNER] = caller_of(request).owner
        return built
