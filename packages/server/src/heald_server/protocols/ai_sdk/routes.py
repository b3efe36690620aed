"""`/api/chat`: a page's own loop, and the Vercel AI SDK over HTTP and over a WebSocket.

`useChat` posts its UI messages. A response ends where a call waits for an approval or for a tool of the page; the page
posts its answers inside the last message, and the next response continues that message.
"""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from heald.core.json import as_objects
from heald_server.context import ServerContext
from heald_server.dialects.registry import open_dialect
from heald_server.http.operations import caller_of, json_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.ai_sdk.chat_body import CHAT_PARAMETERS, read_chat_body
from heald_server.protocols.ai_sdk.chat_socket import ChatSocket
from heald_server.protocols.ai_sdk.chats import KIND, Chats
from heald_server.protocols.ai_sdk.model_messages import has_model_messages
from heald_server.protocols.ai_sdk.shapes import (
    ChatBody,
    ChatPageQuery,
    ChatSocketFrame,
    ChatSocketRequest,
    ChatView,
    LoopFrame,
    UIMessageChunk,
)
from heald_server.protocols.shared.client_bodies import read_json
from heald_server.protocols.shared.parameter_table import name_dropped
from heald_server.protocols.shared.shapes import Stopped
from heald_server.streams.exchange_stream import ExchangeStreamResponse

_describe = partial(RouteDescription, tag="chat pages")
_DESCRIPTIONS = (
    _describe(
        "POST",
        "/api/chat",
        "A message of a chat page or of `useChat`; the answer streams.",
        body=ChatBody,
        query=ChatPageQuery,
        events=(LoopFrame, UIMessageChunk),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    _describe(
        "WS",
        "/api/chat/ws",
        "The WebSocket transport of the Vercel AI SDK.",
        body=ChatSocketRequest,
        events=(ChatSocketFrame,),
    ),
    _describe("GET", "/api/chat/{name}", "A chat as UI messages.", response=ChatView, errors=("not_found",)),
    _describe(
        "GET",
        "/api/chat/{name}/stream",
        "The running answer of a chat.",
        events=(UIMessageChunk,),
        more={204: "Nothing runs."},
        errors=("too_many",),
    ),
    _describe("POST", "/api/chat/{name}/stop", "Cancel what runs in a chat.", response=Stopped),
)


class ChatRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._chats = Chats(context)

    def routes(self) -> list[BaseRoute | RouteDescription]:
        stop = self._context.node.forwarder.at_holder("POST /api/chat/{name}/stop", self.stop)
        return [
            Route("/api/chat", self.chat, methods=["POST"]),
            WebSocketRoute("/api/chat/ws", self.socket),
            Route("/api/chat/{name}", self.messages, methods=["GET"]),
            Route("/api/chat/{name}/stream", self.resume, methods=["GET"]),
            Route("/api/chat/{name}/stop", stop, methods=["POST"]),
            *_DESCRIPTIONS,
        ]

    async def chat(self, request: Request) -> Response:
        body = read_chat_body(await read_json(request))
        dropped = CHAT_PARAMETERS.check(body)
        CHAT_PARAMETERS.note(dropped)
        is_ui = any("parts" in message for message in as_objects(body["messages"]))
        is_model = not is_ui and has_model_messages(body)
        dialect = _requested_dialect(request) or (KIND if is_ui or is_model else "loop")
        open_dialect(dialect)  # fails before a session is created
        info, frames = await self._chats.start(caller_of(request).owner, body, dialect)
        response = ExchangeStreamResponse(
            self._context,
            caller_of(request),
            info,
            frames,
            on_disconnect=(lambda: self._chats.cancel_unwatched(info, frames.part.exchange)) if is_model else None,
        )
        return name_dropped(response, dropped)

    async def resume(self, request: Request) -> Response:
        """The stream of a running chat, for a page that was reloaded; 204 if nothing runs."""
        running = await self._chats.find_running(caller_of(request).owner, request.path_params["name"])
        if running is None:
            return Response(status_code=204)
        return ExchangeStreamResponse(self._context, caller_of(request), *running)

    async def stop(self, request: Request) -> Response:
        """Cancel what runs in a chat."""
        cancelled = await self._chats.cancel(caller_of(request).owner, request.path_params["name"])
        return json_response({"cancelled": cancelled})

    async def messages(self, request: Request) -> Response:
        """The UI messages of a chat, or of any session by its id."""
        owner, name = caller_of(request).owner, request.path_params["name"]
        sessions = await self._chats.list_sessions(owner, name)
        info = sessions[-1] if sessions else await self._context.open_sessions.find_info(owner, name)
        return json_response({"id": name, "session": info.id, "messages": await self._chats.read_messages(info)})

    async def socket(self, websocket: WebSocket) -> None:
        await ChatSocket(self._context, caller_of(websocket), websocket, self._chats).run()


def _requested_dialect(request: Request) -> str | None:
    """The dialect that a client names, in the query or as a parameter of the Accept header."""
    named = request.query_params.get("dialect")
    if named:
        return named
    for part in request.headers.get("accept", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key.lower() == "dialect" and value:
            return value.strip('"')
    return None
