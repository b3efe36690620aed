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
        "weft.server.access_tokens": "AccessTokens new_token",
        "weft.server.agent_server": "App serve serve_async",
        "weft.server.app": "create_app",
        "weft.server.context": "ServerContext",
        "weft.server.models": "KnownModels ModelView ProviderView",
        "weft.server.operations": "caller_of",
        "weft.server.placement": "Placement PlacementHost",
        "weft.server.project_routes": "studio_routes",
        "weft.server.settings": "ServerLimits ServerSettings",
        "weft.server.uvicorn_server": "running_server",
    },
)
