"""Streams a project after every change, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing
from typing import Annotated, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from heald.core.json import JsonObject, encode
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.http.operations import caller_of
from heald_server.http.route_description import RouteDescription
from heald_server.routes.streams import SOCKET
from heald_server.streams.sse import HEADERS
from heald_studio.server import views
from heald_studio.server.project_views import ProjectViews
from heald_studio.studio import Studio


class SubscribeProject(msgspec.Struct, frozen=True, kw_only=True):
    """Subscribes a WebSocket to a project instead of a session: the server sends it after every change."""

    type: Literal["subscribe", "unsubscribe"]
    project: Annotated[str, msgspec.Meta(max_length=200)]
    id: Annotated[str, msgspec.Meta(max_length=200)] | int | None = None


class ProjectDeleted(msgspec.Struct, frozen=True, kw_only=True):
    """A project that the socket subscribed to was deleted. `project` is its id."""

    type: Literal["project_deleted"]
    project: str


_POLL_SECONDS = 5.0
"""Interval at which a stream checks whether the server stops, and sends a heartbeat."""
_EVENTS = RouteDescription(
    "GET",
    "/projects/{project}/events",
    "A project after every change, as server-sent events.",
    "studio",
    events=(views.ProjectChanged,),
    errors=("not_found", "too_many"),
)
_SOCKET = RouteDescription(
    "WS",
    SOCKET,
    "Projects beside sessions.",
    "studio",
    body=SubscribeProject,
    events=(views.ProjectChanged, ProjectDeleted),
)


class ProjectEvents:
    def __init__(self, studio: Studio, context: ServerContext, project_views: ProjectViews) -> None:
        self._studio = studio
        self._context = context
        self._views = project_views

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [Route("/projects/{project}/events", self.events, methods=["GET"]), _EVENTS, _SOCKET]

    async def events(self, request: Request) -> Response:
        """The project after every change, as server-sent events."""
        caller = caller_of(request)
        project = await self._studio.get(caller.owner, request.path_params["project"])
        return _CountedStream(self._context.streaming(caller), self._encoded_states(caller, project.id))

    async def states(self, caller: Caller, name: str) -> AsyncGenerator[JsonObject]:
        """The project now and after every change."""
        async with aclosing(self._studio.watch(caller.owner, name)) as states:
            async for project in states:
                yield {"type": "project_changed", "project": self._views.project_for(caller, project)}

    async def socket_states(self, caller: Caller, name: str) -> AsyncGenerator[JsonObject]:
        """The project now and after every change, and its id once it is deleted."""
        async with aclosing(self.states(caller, name)) as states:
            async for state in states:
                yield state
        yield {"type": "project_deleted", "project": name}

    async def _encoded_states(self, caller: Caller, name: str) -> AsyncGenerator[bytes]:
        frames: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        # A task owns the stream of states: Starlette cancels a response whose client disconnects over and over, and a
        # generator must not be closed while it runs.
        reading = asyncio.create_task(self._read_states(caller, name, frames))
        try:
            with self._context.watch_access(caller, reading.cancel):
                while not self._context.open_sessions.closing:
                    try:
                        async with asyncio.timeout(_POLL_SECONDS):
                            frame = await frames.get()
                    except TimeoutError:
                        frame = None if reading.done() else b": heartbeat\n\n"
                    if frame is None:
                        break
                    yield frame
            if reading.done() and not reading.cancelled():
                reading.result()
        finally:
            reading.cancel()
            await asyncio.wait({reading})

    async def _read_states(self, caller: Caller, name: str, frames: "asyncio.Queue[bytes | None]") -> None:
        """Encode each state of the project. The last frame is None: the project was deleted, or the token revoked."""
        try:
            async with aclosing(self.states(caller, name)) as states:
                async for state in states:
                    await frames.put(b"event: project_changed\ndata: %s\n\n" % encode(state))
        finally:
            if frames.full():
                frames.get_nowait()
            frames.put_nowait(None)


class _CountedStream(StreamingResponse):
    """A stream that counts towards the limit of its owner."""

    def __init__(self, counted: AbstractContextManager[None], content: AsyncGenerator[bytes]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=HEADERS)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted:
            await super().__call__(scope, receive, send)
