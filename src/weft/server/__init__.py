"""The server: sessions over HTTP, server-sent events and WebSocket, with a page. `App` mounts it in another program."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.server.access_tokens import AccessTokens, new_token
    from weft.server.agent_server import App, serve, serve_async
    from weft.server.app import create_app
    from weft.server.context import ServerContext
    from weft.server.models import KnownModels, ModelView, ProviderView
    from weft.server.operations import caller_of
    from weft.server.placement import Placement, PlacementHost
    from weft.server.project_routes import studio_routes
    from weft.server.settings import ServerLimits, ServerSettings
    from weft.server.uvicorn_server import running_server

__all__ = [
    "AccessTokens",
    "App",
    "KnownModels",
    "ModelView",
    "Placement",
    "PlacementHost",
    "ProviderView",
    "ServerContext",
    "ServerLimits",
    "ServerSettings",
    "caller_of",
    "create_app",
    "new_token",
    "running_server",
    "serve",
    "serve_async",
    "studio_routes",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AccessTokens": "weft.server.access_tokens",
        "App": "weft.server.agent_server",
        "KnownModels": "weft.server.models",
        "ModelView": "weft.server.models",
        "Placement": "weft.server.placement",
        "PlacementHost": "weft.server.placement",
        "ProviderView": "weft.server.models",
        "ServerContext": "weft.server.context",
        "ServerLimits": "weft.server.settings",
        "ServerSettings": "weft.server.settings",
        "caller_of": "weft.server.operations",
        "create_app": "weft.server.app",
        "new_token": "weft.server.access_tokens",
        "running_server": "weft.server.uvicorn_server",
        "serve": "weft.server.agent_server",
        "serve_async": "weft.server.agent_server",
        "studio_routes": "weft.server.project_routes",
    },
)
