"""The endpoints for A2A clients: the agent's card, JSON-RPC, and HTTP with JSON."""

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from weft import __version__
from weft.server.a2a.handler import OWNER, AgentRequestHandler
from weft.server.context import ServerContext
from weft.server.operations import caller_of

VERSION = "1.0"
_BEARER = "bearer"


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


def agent_card(address: str, *, needs_token: bool) -> AgentCard:
    """Describe the agent at an address."""
    card = AgentCard(
        name="Weft",
        description="An agent that works with tools and files. A context is a session; a task is one request in it.",
        version=__version__,
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["text/plain", "image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"],
        default_output_modes=["text/plain", "application/octet-stream"],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=VERSION),
            AgentInterface(url=address, protocol_binding="HTTP+JSON", protocol_version=VERSION),
        ],
        skills=[
            AgentSkill(
                id="work",
                name="Work on a request",
                description="Answers, and reads, writes and runs what its tools allow.",
                tags=["agent", "tools", "files"],
                examples=["Write a page for a bakery."],
            )
        ],
    )
    if needs_token:
        scheme = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme=_BEARER))
        card.security_schemes[_BEARER].CopyFrom(scheme)
        card.security_requirements.append(SecurityRequirement(schemes={_BEARER: StringList()}))
    return card
