"""All routes of the native API, and the page."""

from pathlib import Path

from starlette.routing import BaseRoute

from heald_server.context import ServerContext
from heald_server.http.operations import Operation
from heald_server.http.route_description import RouteDescription
from heald_server.routes import client_tools, conversation, files, forks, memory, offers, provider_keys, sessions
from heald_server.routes.app_frame import app_frame_routes
from heald_server.routes.page import PageRoutes
from heald_server.routes.streams import StreamRoutes
from heald_server.routes.text_search import TextSearchRoutes


def api_routes(
    context: ServerContext, *, page: str | Path | None = None
) -> list[Operation | BaseRoute | RouteDescription]:
    """Return the routes. `page` is a folder with another build of the page."""
    return [
        *sessions.OPERATIONS,
        *forks.OPERATIONS,
        *client_tools.OPERATIONS,
        *conversation.OPERATIONS,
        *files.OPERATIONS,
        *memory.OPERATIONS,
        *offers.OPERATIONS,
        *provider_keys.OPERATIONS,
        *TextSearchRoutes(context).operations(),
        *StreamRoutes(context).routes(),
        *PageRoutes(page).routes(),
        *app_frame_routes(),
    ]
