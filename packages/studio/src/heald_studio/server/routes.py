"""All routes of the studio on a server."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, WebSocketRoute

from heald_server.context import ServerContext
from heald_server.http.operations import Operation
from heald_server.http.route_description import RouteDescription
from heald_studio.server import input_routes
from heald_studio.server.cause_routes import CauseRoutes
from heald_studio.server.design_api import DesignPageRoutes
from heald_studio.server.design_routes import DesignRoutes
from heald_studio.server.evaluation_routes import EvaluationRoutes
from heald_studio.server.evaluations import Evaluations
from heald_studio.server.example_pictures import example_folder
from heald_studio.server.gallery_routes import GalleryRoutes
from heald_studio.server.generate_code import SOCKET, GenerateCodeSocket
from heald_studio.server.host import open_studio
from heald_studio.server.lock_routes import LockRoutes
from heald_studio.server.part_routes import PartRoutes
from heald_studio.server.preview_tickets import PreviewTickets
from heald_studio.server.previews import PreviewRoutes
from heald_studio.server.project_events import ProjectEvents
from heald_studio.server.project_routes import ProjectRoutes
from heald_studio.server.project_views import ProjectViews
from heald_studio.server.queue_routes import QueueRoutes
from heald_studio.server.repository_routes import RepositoryRoutes
from heald_studio.server.share_routes import ShareRoutes
from heald_studio.server.shares import SHARES, ProjectShares
from heald_studio.server.studio_info import StudioInfoRoutes
from heald_studio.server.variant_routes import VariantRoutes
from heald_studio.studio import Studio

if TYPE_CHECKING:
    from heald_server.protocols.mcp.prompt import OfferedPrompt
    from heald_server.protocols.mcp.resource_source import ResourceSource
    from heald_server.protocols.mcp.tool import McpTool


def studio_routes(
    context: ServerContext,
    *,
    prompts: str | Path | None = None,
    stacks: str | Path | None = None,
    repair_below: float | None = None,
    scores: bool = True,
    eval_pictures: str | Path | None = None,
) -> Sequence[Operation | BaseRoute | RouteDescription]:
    """Open the studio of a server and return its routes. The options are those of `Studio`; `eval_pictures` has the
    pictures of evaluations, instead of the built-in examples."""
    studio = open_studio(context, prompts=prompts, stacks=stacks, repair_below=repair_below, scores=scores)
    return routes_of(studio, context, eval_pictures=eval_pictures)


def routes_of(
    studio: Studio, context: ServerContext, *, eval_pictures: str | Path | None = None
) -> Sequence[Operation | BaseRoute | RouteDescription]:
    """Return the routes of a studio that is open."""
    shares = ProjectShares(context.open_sessions.store)
    context.on_start(shares.reload)
    context.on_records(SHARES, shares.reload)
    context.on_admission(shares.admit, shares.watch)
    tickets = PreviewTickets(context.tokens, shares, context.open_sessions.store)
    context.on_start(tickets.load_key)
    views = ProjectViews(studio, tickets)
    events = ProjectEvents(studio, context, views)
    context.feeds["project"] = events.socket_states
    context.mcp_tools.append(lambda: _build_page_tool(studio))
    context.mcp_prompts.append(lambda: _build_page_prompt(studio))
    context.mcp_resources.append(_built_page_app)
    evaluations = Evaluations(studio, Path(eval_pictures).expanduser() if eval_pictures else example_folder())
    return [
        *StudioInfoRoutes(studio, context).operations(),
        *ProjectRoutes(studio, context, views).operations(),
        *QueueRoutes(studio, context, views).operations(),
        *VariantRoutes(studio, context, views).operations(),
        *LockRoutes(studio, views).operations(),
        *CauseRoutes(studio, context).operations(),
        *PartRoutes(studio, views).operations(),
        *DesignRoutes(studio, context).operations(),
        *GalleryRoutes(studio, views).operations(),
        *ShareRoutes(shares).operations(),
        *RepositoryRoutes(context).operations(),
        *input_routes.OPERATIONS,
        *DesignPageRoutes(context).operations(),
        *EvaluationRoutes(studio, context, evaluations).operations(),
        *events.routes(),
        *PreviewRoutes(studio, tickets, shares, context.settings.public).routes(),
        WebSocketRoute("/generate-code", GenerateCodeSocket(studio, context).run),
        SOCKET,
    ]


def _build_page_tool(studio: Studio) -> "McpTool":
    from heald_studio.server.mcp_tool import build_page_tool  # the package of MCP is large, and may be missing

    return build_page_tool(studio)


def _build_page_prompt(studio: Studio) -> "OfferedPrompt":
    from heald_studio.server.mcp_tool import build_page_prompt

    return build_page_prompt(studio)


def _built_page_app() -> "ResourceSource":
    from heald_studio.server.mcp_app import BuiltPageApp

    return BuiltPageApp()
