"""The WebSocket of the Vercel AI SDK, at `/api/chat/ws`."""

import asyncio
import logging
from contextlib import aclosing
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from heald.core.json import JsonObject, as_object, encode_text, loads
from heald.sessions.session_info import SessionInfo
from heald_server.access.caller import Caller
from heald_server.access.credentials import chosen_protocol
from heald_server.access.rate_limiter import RateLimiter
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.stall_timeout import StallTimeout
from heald_server.protocols.ai_sdk.chat_body import read_chat_body
from heald_server.protocols.ai_sdk.chats import Chats
from heald_server.protocols.shared.client_bodies import text_field
from heald_server.streams.event_stream import EventStream
from heald_server.streams.exchange_frames import ExchangeFrames
from heald_server.streams.stream_end import closing_frames

_log = logging.getLogger("heald_server.streams.websocket")


class ChatSocket:
    """One connection. A request is `send` or `resume` and gets `start`, `chunk`s and `end`; `abort` cancels it."""

    def __init__(self, context: ServerContext, caller: Caller, websocket: WebSocket, chats: Chats) -> None:
        self._context = context
        self._caller = caller
        self._socket = websocket
        self._chats = chats
        self._requests: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self._stall_timeout = StallTimeout(websocket.scope, context.settings.limits.stall_seconds)
        self._rate = RateLimiter(context.settings.limits.messages_per_second)

    async def run(self) -> None:
        await self._socket.accept(chosen_protocol(self._socket.scope))
        try:
            with self._context.watch_access(self._caller, self._on_access_ended):
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

    def _on_access_ended(self) -> None:
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
            raise ApiError("invalid", "A message is not valid JSON.") from None
        request = text_field(frame, "requestId")
        if request is None:
            raise ApiError("invalid", "A message has no requestId.")
        if frame.get("type") == "abort":
            await self._abort(request)
            return
        if request in self._requests or len(self._requests) >= limits.sessions_per_socket:
            raise ApiError("too_many", "Too many requests on this socket.")
        name = text_field(frame, "id") or ""
        task = asyncio.create_task(self._answer(request, name, frame), name=f"heald-chat-{request}")
        self._requests[request] = name, task
        task.add_done_callback(lambda _: self._requests.pop(request, None))

    async def _abort(self, request: str) -> None:
        name, task = self._requests.get(request, ("", None))
        if task is not None:
            task.cancel()
            await self._chats.cancel(self._caller.owner, name)

    async def _answer(self, request: str, name: str, frame: JsonObject) -> None:
        try:
            opened = await self._open(name, frame)
            if opened is None:
                await self._send(request, "no-active")
                return
            await self._send(request, "start")
            await self._stream(request, *opened)
            await self._send(request, "end")
        except (WebSocketDisconnect, RuntimeError):
            _log.debug("a socket was closed by its client", exc_info=True)
        except Exception as error:
            api_error = api_error_of(error)
            if api_error is None:
                _log.exception("A request of a chat failed.")
            await self._send(request, "error", errorText=api_error.message if api_error else "The request failed.")

    async def _open(self, name: str, frame: JsonObject) -> tuple[SessionInfo, ExchangeFrames] | None:
        owner = self._caller.owner
        match frame.get("type"):
            case "send":
                fields = {key: frame.get(key) for key in ("id", "messages", "trigger", "messageId")}
                return await self._chats.start(owner, read_chat_body(as_object(frame.get("body")) | fields), "ai-sdk")
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
        await self._stall_timeout.send(lambda: self._socket.send_text(text))
