"""Routes for balancers and Prometheus: health, readiness and metrics."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald import __version__
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.metrics import CONTENT_TYPE, METRICS_PATH
from heald_server.http.operations import json_response
from heald_server.http.route_description import RouteDescription
from heald_server.routes.server_views import HealthView, ReadyView

HEALTH = "/health"
READY = "/ready"
_about = partial(RouteDescription, tag="about")
_DESCRIPTIONS = (
    _about(
        "GET",
        HEALTH,
        "Whether the server runs; with a token, its version and state too.",
        response=HealthView,
        is_public=True,
    ),
    _about(
        "GET",
        READY,
        "For balancers: whether requests may be sent here. 503 while nothing can be stored, or the server stops.",
        response=ReadyView,
        errors=("unavailable",),
        is_public=True,
    ),
    _about("GET", METRICS_PATH, "Metrics for Prometheus.", media_type="text/plain"),
)


class HealthRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [
            Route(HEALTH, self.health, methods=["GET"]),
            Route(READY, self.ready, methods=["GET"]),
            Route(METRICS_PATH, self.metrics, methods=["GET"]),
            *_DESCRIPTIONS,
        ]

    async def health(self, request: Request) -> Response:
        """Anyone learns that the server runs; a caller with a token learns more."""
        caller: Caller | None = request.scope["state"]["caller"]
        if caller is None:
            return json_response(HealthView("ok"))
        sandbox = self._context.sandbox
        state = "off" if sandbox.unsandboxed else ("missing" if sandbox.available() else "bubblewrap")
        tasks = {name: round(age, 1) for name, age in self._context.node.task_ages.items()}
        return json_response(HealthView("ok", __version__, state, self._context.open_sessions.busy, tasks))

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
