"""The WebSocket of `/v1/responses`, as Open Responses specifies it.

Each `response.create` of the client is answered with the events of one response, one after the other. A response that
is not stored can be continued on the same connection. An error is an envelope with a status and a code.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

from starlette.websockets import WebSocket, WebSocketDisconnect

from heald.core.json import JsonObject, as_object, encode_text, loads
from heald_server.access.caller import Caller
from heald_server.access.credentials import chosen_protocol
from heald_server.access.rate_limiter import RateLimiter
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.stall_timeout import StallTimeout
from heald_server.protocols.responses.connection_responses import ConnectionResponses
from heald_server.protocols.responses.dialect import ResponsesDialect
from heald_server.protocols.responses.log import open_frames
from heald_server.protocols.responses.start import StartedResponse
from heald_server.protocols.shared.client_bodies import text_field
from heald_server.protocols.shared.v1_parameters import refusal
from heald_server.streams.event_stream import EventStream
from heald_server.streams.stream_end import closing_frames

MAX_SECONDS = 3600.0
"""The longest time that a connection stays open, which the specification sets."""
_MAX_WAITING = 32
"""Requests that may wait for the one before them."""
_TRANSPORT = ("type", "stream", "stream_options", "background")
"""Fields that have no meaning on a WebSocket."""
_log = logging.getLogger("heald_server.streams.websocket")

StartResponse = Callable[[WebSocket, JsonObject, ConnectionResponses], Awaitable[StartedResponse]]


class ResponseSocket:
    """One connection."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        websocket: WebSocket,
        start: StartResponse,
    ) -> None:
        limits = context.settings.limits
        self._context = context
        self._caller = caller
        self._socket = websocket
        self._start = start
        self._responses = ConnectionResponses(context.in_memory(), limits.sessions_per_socket)
        self._waiting: asyncio.Queue[JsonObject] = asyncio.Queue()
        self._stall_timeout = StallTimeout(websocket.scope, limits.stall_seconds)
        self._rate = RateLimiter(limits.messages_per_second)

    async def run(self) -> None:
        await self._socket.accept(chosen_protocol(self._socket.scope))
        reading = asyncio.create_task(self._read(), name="heald-responses-read")
        answering = asyncio.create_task(self._answer_all(), name="heald-responses-answer")
        try:
            with self._context.watch_access(self._caller, lambda: reading.cancel("revoked")):
                await asyncio.wait([reading, answering], return_when=asyncio.FIRST_COMPLETED)
            is_revoked = reading.cancelled()
        finally:
            for task in (reading, answering):
                task.cancel()
            outcomes = await asyncio.gather(reading, answering, return_exceptions=True)
            await self._responses.close()
        await self._close(outcomes, is_revoked=is_revoked)

    async def _close(self, outcomes: Sequence[BaseException | None], *, is_revoked: bool) -> None:
        """Close the connection, with the reason if it is the server that ends it."""
        try:
            if is_revoked:
                await self._socket.close(4401, "The token was revoked.")
            for outcome in outcomes:
                if isinstance(outcome, ApiError):
                    await self._send_error(outcome)
                    await self._socket.close(1008, outcome.message[:120])
                elif isinstance(outcome, Exception) and not isinstance(outcome, WebSocketDisconnect):
                    _log.debug("a socket was closed by its client", exc_info=outcome)
        except (WebSocketDisconnect, RuntimeError):
            _log.debug("a socket was closed by its client", exc_info=True)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        """Read the requests, also while one is answered: so the end of the connection is noticed."""
        while True:
            text = await self._socket.receive_text()
            if not self._rate.allows() or self._waiting.qsize() >= _MAX_WAITING:
                raise ApiError("too_many", "Too many messages on this socket; wait for the end of a response.")
            if len(text) > self._context.settings.limits.body_bytes:
                raise ApiError("too_large", "The message is too large.")
            try:
                message = loads(text)
            except ValueError:
                raise ApiError("invalid", "A message is not valid JSON.") from None
            self._waiting.put_nowait(as_object(message))

    async def _answer_all(self) -> None:
        deadline = asyncio.get_running_loop().time() + MAX_SECONDS
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    message = await self._waiting.get()
            except TimeoutError:
                text = f"A connection lasts {MAX_SECONDS / 60:g} minutes; open a new one."
                await self._send(_envelope(400, "websocket_connection_limit_reached", text))
                await self._socket.close(1000, text)
                return
            await self._answer(message)

    async def _answer(self, message: JsonObject) -> None:
        previous = text_field(message, "previous_response_id") or ""
        try:
            started = await self._start(self._socket, _read_create(message), self._responses)
            if not started.is_stored:
                await self._responses.add(started.response)
            has_failed = await self._stream(started)
        except WebSocketDisconnect:
            raise
        except Exception as error:
            api_error = api_error_of(error)
            if api_error is None:
                _log.exception("A response failed.")
            await self._send_error(api_error or ApiError("internal", "The request failed."))
            has_failed = True
        if has_failed:  # the client must not continue from where a turn failed
            await self._responses.evict(previous)

    # --- events ------------------------------------------------------------------------------------------------------

    async def _stream(self, started: StartedResponse) -> bool:
        """Send the events of a response. Returns whether it failed."""
        context, response = started.context, started.response
        frames = await open_frames(context, response)
        dialect = frames.dialect
        assert isinstance(dialect, ResponsesDialect)
        stream = EventStream(context.sessions.store, context.open_sessions.hub, response.info.id, frames.part.begin)
        stream.is_response = True
        pending = frames.begin()
        try:
            with context.streaming(self._caller, stream):
                async with aclosing(stream.batches(context.settings.heartbeat_seconds)) as batches:
                    async for entries in batches:
                        for frame in [*pending, *frames.feed(entries)]:
                            await self._send(as_object(frame.data))
                        pending = []
                        if frames.is_done:
                            break
            if not frames.is_done:
                for frame in closing_frames(dialect, stream.end_reason):
                    await self._send(_as_envelope(as_object(frame.data)))
        finally:
            if not frames.is_done and stream.end_reason is None:
                started.disconnect()
        return not frames.is_done or dialect.failure is not None

    async def _send_error(self, error: ApiError) -> None:
        is_missing = error.code == "not_found" and error.param == "previous_response_id"
        code = "previous_response_not_found" if is_missing else error.code
        await self._send(_envelope(error.status, code, error.message, error.kind, error.param))

    async def _send(self, message: JsonObject) -> None:
        text = encode_text(message)
        try:
            await self._stall_timeout.send(lambda: self._socket.send_text(text))
        except RuntimeError:  # the connection is closed already
            raise WebSocketDisconnect(1006) from None


def _read_create(message: JsonObject) -> JsonObject:
    """The body of a request. Raises `ApiError` if it is another message, or asks for what a socket does not have."""
    kind = message.get("type")
    if kind != "response.create":
        raise refusal("type", f"There is no message of the type {str(kind)[:40]!r}; send response.create.")
    if message.get("background"):
        raise refusal("background", "A response on a WebSocket does not run in the background; leave it out.")
    if message.get("generate") is False:
        raise refusal("generate", "A request without an answer is not supported; leave generate out.")
    return {name: value for name, value in message.items() if name not in (*_TRANSPORT, "generate")}


def _envelope(status: int, code: str, message: str, kind: str | None = None, param: str | None = None) -> JsonObject:
    error = {"type": kind or "invalid_request_error", "code": code, "message": message, "param": param}
    return {"type": "error", "status": status, "error": error}


def _as_envelope(event: JsonObject) -> JsonObject:
    """An event as it is; the one with which a stream breaks off as an envelope."""
    if event.get("type") != "error":
        return event
    return _envelope(503, str(event.get("code")), str(event.get("message")), "server_error")
