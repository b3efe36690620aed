"""`/api/chat`: a page's own loop, and the Vercel AI SDK over HTTP and over a WebSocket.

`useChat` posts its UI messages. A response ends where a call waits for an approval or for a tool of the page; the page
posts its answers inside the last message, and the next response continues that message.
"""

import asyncio
import logging
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from weft.core.events import ExchangeRequest, ExchangeResponse, SessionRewound
from weft.core.json import JsonObject, as_object, as_objects, encode_text, loads
from weft.core.message_forms import system_texts
from weft.dialects.ai_sdk import AISDKDialect
from weft.dialects.registry import open_dialect
from weft.dialects.ui_messages import ClientAnswers, UIMessageBuilder, from_ui_messages, read_answers, user_ui_message
from weft.server.client_bodies import check_body, read_body, read_conversation_messages, read_tools, text_field
from weft.server.client_conversation import (
    ClientConversation,
    cancel_conversation,
    continue_conversation,
    first_part,
    last_exchange,
    list_sessions,
    require_model,
    start_in_conversation,
)
from weft.server.connections import Patience
from weft.server.context import ServerContext
from weft.server.errors import ApiError, api_error_of
from weft.server.event_stream import EventStream
from weft.server.guard import Caller, chosen_protocol
from weft.server.limits import RateLimiter
from weft.server.operations import caller_of, json_response
from weft.server.sse import ExchangeFrames, ExchangePart, ExchangeStreamResponse, closing_frames
from weft.sessions.store import SessionInfo, iterate_events

_log = logging.getLogger("weft.server.websocket")


class ChatSocket:
    """One connection. A request is `send` or `resume` and gets `start`, `chunk`s and `end`; `abort` cancels it."""

    def __init__(self, context: ServerContext, caller: Caller, websocket: WebSocket, chats: "ChatRoutes") -> None:
        self._context = context
        self._caller = caller
        self._socket = websocket
        self._chats = chats
        self._requests: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self._patience = Patience(websocket.scope, context.settings.limits.stall_seconds)
        self._rate = RateLimiter(context.settings.limits.messages_per_second)

    async def run(self) -> None:
        await self._socket.accept(chosen_protocol(self._socket.scope))
        try:
            with self._context.watch_token(self._caller, self._on_token_revoked):
                while True:
                    await self._execute(await self._socket.receive_text())
        except WebSocketDisconnect:
            pass
        except (ApiError, KeyError) as error:
            await self._socket.close(1008, str(error)[:120])
        finally:
            tasks = [task for _, task in self._requests.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _on_token_revoked(self) -> None:
        for _, task in self._requests.values():
            task.cancel()
        asyncio.ensure_future(self._socket.close(4401, "The token was revoked."))  # noqa: RUF006

    async def _execute(self, text: str) -> None:
        limits = self._context.settings.limits
        if not self._rate.allows():
            raise ApiError("too_many", "Too many messages on this socket.")
        if len(text) > limits.body_bytes:
            raise ApiError("too_large", "The message is too large.")
        try:
            frame = as_object(loads(text))
        except ValueError:
            raise ApiError("invalid", "A message is no JSON.") from None
        request = text_field(frame, "requestId")
        if request is None:
            raise ApiError("invalid", "A message has no requestId.")
        if frame.get("type") == "abort":
            await self._abort(request)
            return
        if request in self._requests or len(self._requests) >= limits.sessions_per_socket:
            raise ApiError("too_many", "Too many requests on this socket.")
        name = text_field(frame, "id") or ""
        task = asyncio.create_task(self._answer(request, name, frame), name=f"weft-chat-{request}")
        self._requests[request] = name, task
        task.add_done_callback(lambda _: self._requests.pop(request, None))

    async def _abort(self, request: str) -> None:
        name, task = self._requests.get(request, ("", None))
        if task is not None:
            task.cancel()
            await self._chats.cancel(self._caller.owner, name)

    async def _answer(self, request: str, name: str, frame: JsonObject) -> None:
        try:
            found = await self._open(name, frame)
            if found is None:
                await self._send(request, "no-active")
                return
            await self._send(request, "start")
            await self._stream(request, *found)
            await self._send(request, "end")
        except (WebSocketDisconnect, RuntimeError):
            _log.debug("a socket was closed by its client", exc_info=True)
        except Exception as error:
            known = api_error_of(error)
            if known is None:
                _log.exception("A request of a chat failed.")
            await self._send(request, "error", errorText=known.message if known else "The request failed.")

    async def _open(self, name: str, frame: JsonObject) -> tuple[SessionInfo, ExchangeFrames] | None:
        owner = self._caller.owner
        match frame.get("type"):
            case "send":
                fields = {key: frame.get(key) for key in ("id", "messages", "trigger", "messageId")}
                return await self._chats.start(owner, check_body(as_object(frame.get("body")) | fields), "ai-sdk")
            case "resume":
                return await self._chats.find_running(owner, name)
            case other:
                raise ApiError("invalid", f"There is no message of the type {str(other)[:40]!r}.")

    async def _stream(self, request: str, info: SessionInfo, frames: ExchangeFrames) -> None:
        stream = EventStream(self._context.sessions.store, self._context.open_sessions.hub, info.id, frames.part.begin)
        stream.is_response = True
        sequence = 0
        chunks = frames.begin()
        with self._context.streaming(self._caller, stream):
            async with aclosing(stream.batches(self._context.settings.heartbeat_seconds)) as batches:
                async for entries in batches:
                    for chunk in [*chunks, *frames.feed(entries)]:
                        sequence = await self._send_chunk(request, sequence, chunk.data)
                    chunks = []
                    if frames.is_done:
                        return
            for chunk in closing_frames(frames.dialect, stream.end_reason):
                sequence = await self._send_chunk(request, sequence, chunk.data)

    async def _send_chunk(self, request: str, sequence: int, data: Any) -> int:
        if not isinstance(data, dict):  # the mark at the end of a stream of server-sent events
            return sequence
        await self._send(request, "chunk", sequence=sequence, chunk=data)
        return sequence + 1

    async def _send(self, request: str, kind: str, **fields: Any) -> None:
        text = encode_text({"type": kind, "requestId": request, **fields})
        await self._patience.send(lambda: self._socket.send_text(text))


# --- routes ----------------------------------------------------------------------------------------------------------


KIND = "ai-sdk"


class ChatRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[BaseRoute]:
        stop = self._context.node.forwarder.at_holder("POST /api/chat/{name}/stop", self.stop)
        return [
            Route("/api/chat", self.chat, methods=["POST"]),
            WebSocketRoute("/api/chat/ws", self.socket),
            Route("/api/chat/{name}", self.messages, methods=["GET"]),
            Route("/api/chat/{name}/stream", self.resume, methods=["GET"]),
            Route("/api/chat/{name}/stop", stop, methods=["POST"]),
        ]

    async def chat(self, request: Request) -> Response:
        body = await read_body(request)
        is_ui = any("parts" in message for message in as_objects(body["messages"]))
        dialect = _requested_dialect(request) or (KIND if is_ui else "loop")
        open_dialect(dialect)  # fails before a session is created
        info, frames = await self.start(caller_of(request).owner, body, dialect)
        return ExchangeStreamResponse(self._context, caller_of(request), info, frames)

    async def start(self, owner: str, body: JsonObject, dialect: str) -> tuple[SessionInfo, ExchangeFrames]:
        """Start or continue the exchange that a body asks for."""
        messages = as_objects(body["messages"])
        is_ui = any("parts" in message for message in messages)
        if dialect != KIND and body.get("tools"):
            raise ApiError("invalid", f"A client of the dialect {dialect} cannot run tools; the agent has its own.")
        name = text_field(body, "id")
        answers = read_answers(messages[-1]) if is_ui and messages[-1].get("role") == "assistant" else None
        if answers is not None:
            conversation = ClientConversation(owner=owner, kind=KIND, name=name)
            continued = await continue_conversation(self._context, conversation, answers, AISDKDialect)
            if continued is not None:
                return continued
            _check_answers(answers)
        plain = from_ui_messages(messages) if is_ui else messages
        *history, message = read_conversation_messages(plain)
        conversation = ClientConversation(
            owner=owner,
            kind=dialect,
            name=name,
            history=history,
            system=system_texts(plain),
            model=require_model(self._context, text_field(body, "model") or ""),
            tools=read_tools(body) if dialect == KIND else None,
        )
        goes_back = is_ui and (body.get("trigger") == "regenerate-message" or bool(body.get("messageId")))
        is_new = is_ui and not goes_back and answers is None
        request_id = text_field(messages[-1], "id") if is_new else None
        info, accepted, _ = await start_in_conversation(
            self._context, conversation, message, request_id=request_id, rewinds=goes_back and answers is None
        )
        message_id = text_field(messages[-1], "id") if answers is not None else None
        encoder = AISDKDialect(info.id, message=message_id) if dialect == KIND else open_dialect(dialect, info.id)
        return info, ExchangeFrames(encoder, await first_part(self._context, info, accepted))

    # --- a chat by its name ------------------------------------------------------------------------------------------

    async def resume(self, request: Request) -> Response:
        """The stream of a running chat, for a page that was reloaded; 204 if nothing runs."""
        found = await self.find_running(caller_of(request).owner, request.path_params["name"])
        if found is None:
            return Response(status_code=204)
        return ExchangeStreamResponse(self._context, caller_of(request), *found)

    async def find_running(self, owner: str, name: str) -> tuple[SessionInfo, ExchangeFrames] | None:
        """The frames of the open exchange of a chat, on whichever node it runs."""
        for info in reversed(await self._sessions_of(owner, name)):
            session = self._context.open_sessions.find_open(info.id)
            if info.work == "idle" if session is None else session.engine.current is None:
                continue
            if session is not None:
                await session.flush()
            events = await last_exchange(self._context, info)
            if events and not any(isinstance(event.data, ExchangeResponse) for event in events):
                part = ExchangePart(events[0].exchange or "", 0, pause_from=events[-1].seq)
                return info, ExchangeFrames(AISDKDialect(info.id), part)
        return None

    async def stop(self, request: Request) -> Response:
        """Cancel what runs in a chat."""
        cancelled = await self.cancel(caller_of(request).owner, request.path_params["name"])
        return json_response({"cancelled": cancelled})

    async def cancel(self, owner: str, name: str) -> bool:
        return await cancel_conversation(self._context, ClientConversation(owner=owner, kind=KIND, name=name))

    async def messages(self, request: Request) -> Response:
        """The UI messages of a chat, or of any session by its id."""
        owner, name = caller_of(request).owner, request.path_params["name"]
        sessions = await self._sessions_of(owner, name)
        info = sessions[-1] if sessions else await self._context.open_sessions.find_info(owner, name)
        return json_response({"id": name, "session": info.id, "messages": await self._ui_messages(info)})

    async def _sessions_of(self, owner: str, name: str) -> list[SessionInfo]:
        return await list_sessions(self._context, ClientConversation(owner=owner, kind=KIND, name=name))

    async def _ui_messages(self, info: SessionInfo) -> list[JsonObject]:
        """Fold the log of a session into UI messages, each with the seq of its exchange's end."""
        dialect, builder = AISDKDialect(info.id), UIMessageBuilder()
        messages: list[tuple[int, JsonObject]] = []
        async for event in iterate_events(self._context.sessions.store, info.id):
            match event.data:
                case SessionRewound(seq=seq):
                    messages, builder = [each for each in messages if each[0] <= seq], UIMessageBuilder()
                case ExchangeRequest(message=message, client_request_id=request) if event.session == info.id:
                    if message.role == "user":
                        messages.append((event.seq, user_ui_message(message, request or f"{event.exchange}-request")))
                    builder = UIMessageBuilder()
                case _:
                    pass
            for frame in dialect.feed(event):
                builder.feed(frame)
            if builder.message is not None and (not messages or messages[-1][1] is not builder.message):
                messages.append((event.seq, builder.message))
        return [message for _, message in messages]

    async def socket(self, websocket: WebSocket) -> None:
        await ChatSocket(self._context, caller_of(websocket), websocket, self).run()


def _check_answers(answers: ClientAnswers) -> None:
    """Raise unless the conversation can continue from the client's messages alone."""
    if answers.decisions and not answers.results:
        raise ApiError("conflict", "The approval is not open any more; send the request again.")
    if not answers.results:
        raise ApiError("invalid", "The last message must be the request, of role 'user'; put it at the end.")


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
