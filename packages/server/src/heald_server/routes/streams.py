"""Routes for the events of sessions: server-sent events, and WebSockets for one session or many."""

from contextlib import suppress
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from heald.core.errors import HealdError
from heald.providers.early_connection import connect_early
from heald.providers.families import find_family
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald_server.context import ServerContext
from heald_server.http.operations import caller_of
from heald_server.http.parameters import check_parameters
from heald_server.http.route_description import EventType, RouteDescription
from heald_server.routes.paths import SESSION
from heald_server.routes.stream_views import SocketQuery, StreamQuery
from heald_server.streams import stream_frames
from heald_server.streams.socket_commands import AnyCommand
from heald_server.streams.sse import stream_events
from heald_server.streams.websocket import SocketConnection

SOCKET = "/ws"
"""The WebSocket of many sessions."""
_SOCKET_FRAMES = (
    EventType,
    stream_frames.SocketEvents,
    stream_frames.SocketSubscribed,
    stream_frames.StreamReset,
    stream_frames.StreamGoodbye,
    stream_frames.SocketReply,
    stream_frames.SocketError,
    stream_frames.SocketHeartbeat,
)
_describe = partial(RouteDescription, tag="streams")
_DESCRIPTIONS = (
    _describe(
        "GET",
        f"{SESSION}/events",
        "The events of a session as server-sent events, after `after` or the header Last-Event-ID, then live.",
        query=StreamQuery,
        events=(EventType, stream_frames.StreamReset, stream_frames.StreamGoodbye),
        errors=("not_found", "invalid_cursor", "too_many"),
    ),
    _describe(
        "WS",
        f"{SESSION}/ws",
        "One session: its events in any dialect, and commands.",
        query=SocketQuery,
        body=AnyCommand,
        events=_SOCKET_FRAMES,
    ),
    _describe("WS", SOCKET, "Many sessions: events and commands.", body=AnyCommand, events=_SOCKET_FRAMES),
)


class StreamRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [
            Route(f"{SESSION}/events", self.events, methods=["GET"]),
            WebSocketRoute(f"{SESSION}/ws", self.one_session),
            WebSocketRoute(SOCKET, self.many_sessions),
            *_DESCRIPTIONS,
        ]

    async def events(self, request: Request) -> Response:
        caller = caller_of(request)
        check_parameters(request, StreamQuery.__struct_fields__)
        info = await self._context.open_sessions.find_info(caller.owner, request.path_params["session"])
        self._context.check_store(info)
        self._connect_early(info)
        return await stream_events(self._context, caller, info, request)

    async def one_session(self, websocket: WebSocket) -> None:
        caller = caller_of(websocket)
        info = await self._context.open_sessions.find_info(caller.owner, websocket.path_params["session"])
        self._context.check_store(info)
        self._connect_early(info)
        query = websocket.query_params
        dialect = query.get("dialect", "native")
        await SocketConnection(self._context, caller, websocket, info, dialect).run(query.get("after"))

    def _connect_early(self, info: SessionInfo) -> None:
        """Connect to the model of a session that somebody opens: a request may follow."""
        name = SessionSettings.of(info.settings).model
        if not name or find_family(name.partition("/")[0]) is not None:  # a family has no endpoint
            return
        with suppress(HealdError):
            connect_early(self._context.models.open(name))

    async def many_sessions(self, websocket: WebSocket) -> None:
        await SocketConnection(self._context, caller_of(websocket), websocket).run()
