"""The server: sessions over HTTP, server-sent events and WebSocket, with a page. `App` mounts it in another program."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.core.internal_messages import (
        convert_internal_to_session,
        convert_session_to_internal,
        to_internal_messages,
    )
    from heald_server.access.caller import Authenticate, Caller
    from heald_server.access.tokens import AccessTokens, new_token
    from heald_server.agent_access import Auth
    from heald_server.agent_app import App
    from heald_server.agent_context import AgentFactory
    from heald_server.agent_server import ServeOptions, serve, serve_async
    from heald_server.app import create_app
    from heald_server.client.agent import RemoteAgent, connect
    from heald_server.client.agentx import AgentXClient
    from heald_server.client.client_tools import OfferedTool
    from heald_server.client.errors import EventsLost, NoRemoteSession, ServerRefused, TokenRefused
    from heald_server.client.exchange import RemoteExchange
    from heald_server.client.handler_queue import AgentXReactor
    from heald_server.client.react import react
    from heald_server.cluster.placement import Placement, PlacementHost
    from heald_server.context import ServerContext
    from heald_server.dialects.dialect import Dialect
    from heald_server.dialects.frame import Frame
    from heald_server.dialects.registry import load_dialects, open_dialect
    from heald_server.http.operations import ApiCall, Operation, caller_of
    from heald_server.http.route_description import RouteDescription
    from heald_server.http.uvicorn_server import running_server
    from heald_server.models import KnownModels, ModelView, ProviderView
    from heald_server.protocols.ag_ui.dialect import AGUIDialect
    from heald_server.protocols.agentx.dialect import AgentXDialect
    from heald_server.protocols.ai_sdk.dialect import AISDKDialect
    from heald_server.protocols.loop.dialect import LoopDialect
    from heald_server.protocols.loop.loop_event import encode_loop_event, sse_fields
    from heald_server.protocols.loop.run_loop import run_agent_loop
    from heald_server.protocols.native.dialect import NativeDialect
    from heald_server.protocols.normalized.dialect import NormalizedDialect
    from heald_server.protocols.openai.dialect import OpenAIDialect
    from heald_server.protocols.protocol import ClientProtocol
    from heald_server.protocols.responses.dialect import ResponsesDialect
    from heald_server.server_limits import ServerLimits
    from heald_server.session_request import MakeDeps, SessionRequest
    from heald_server.settings import ServerSettings

__all__ = [
    "AGUIDialect",
    "AISDKDialect",
    "AccessTokens",
    "AgentFactory",
    "AgentXClient",
    "AgentXDialect",
    "AgentXReactor",
    "ApiCall",
    "App",
    "Auth",
    "Authenticate",
    "Caller",
    "ClientProtocol",
    "Dialect",
    "EventsLost",
    "Frame",
    "KnownModels",
    "LoopDialect",
    "MakeDeps",
    "ModelView",
    "NativeDialect",
    "NoRemoteSession",
    "NormalizedDialect",
    "OfferedTool",
    "OpenAIDialect",
    "Operation",
    "Placement",
    "PlacementHost",
    "ProviderView",
    "RemoteAgent",
    "RemoteExchange",
    "ResponsesDialect",
    "RouteDescription",
    "ServeOptions",
    "ServerContext",
    "ServerLimits",
    "ServerRefused",
    "ServerSettings",
    "SessionRequest",
    "TokenRefused",
    "caller_of",
    "connect",
    "convert_internal_to_session",
    "convert_session_to_internal",
    "create_app",
    "encode_loop_event",
    "load_dialects",
    "new_token",
    "open_dialect",
    "react",
    "run_agent_loop",
    "running_server",
    "serve",
    "serve_async",
    "sse_fields",
    "to_internal_messages",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald_server.session_request": "MakeDeps SessionRequest",
        "heald_server.client.handler_queue": "AgentXReactor",
        "heald_server.client.exchange": "RemoteExchange",
        "heald_server.client.client_tools": "OfferedTool",
        "heald_server.agent_context": "AgentFactory",
        "heald_server.agent_access": "Auth",
        "heald_server.access.caller": "Authenticate Caller",
        "heald.core.internal_messages": "convert_internal_to_session convert_session_to_internal to_internal_messages",
        "heald_server.access.tokens": "AccessTokens new_token",
        "heald_server.agent_app": "App",
        "heald_server.app": "create_app",
        "heald_server.client.agent": "RemoteAgent connect",
        "heald_server.client.agentx": "AgentXClient",
        "heald_server.client.errors": "EventsLost NoRemoteSession ServerRefused TokenRefused",
        "heald_server.client.react": "react",
        "heald_server.cluster.placement": "Placement PlacementHost",
        "heald_server.context": "ServerContext",
        "heald_server.dialects.dialect": "Dialect Frame",
        "heald_server.dialects.registry": "load_dialects open_dialect",
        "heald_server.http.operations": "ApiCall Operation caller_of",
        "heald_server.http.route_description": "RouteDescription",
        "heald_server.http.uvicorn_server": "running_server",
        "heald_server.models": "KnownModels ModelView ProviderView",
        "heald_server.protocols.ag_ui.dialect": "AGUIDialect",
        "heald_server.protocols.agentx.dialect": "AgentXDialect",
        "heald_server.protocols.ai_sdk.dialect": "AISDKDialect",
        "heald_server.protocols.loop.dialect": "LoopDialect",
        "heald_server.protocols.loop.loop_event": "encode_loop_event sse_fields",
        "heald_server.protocols.loop.run_loop": "run_agent_loop",
        "heald_server.protocols.native.dialect": "NativeDialect",
        "heald_server.protocols.normalized.dialect": "NormalizedDialect",
        "heald_server.protocols.openai.dialect": "OpenAIDialect",
        "heald_server.protocols.protocol": "ClientProtocol",
        "heald_server.protocols.responses.dialect": "ResponsesDialect",
        "heald_server.agent_server": "ServeOptions serve serve_async",
        "heald_server.server_limits": "ServerLimits",
        "heald_server.settings": "ServerSettings",
    },
)
