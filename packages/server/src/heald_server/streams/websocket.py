"""WebSocket endpoints: `/ws` for many sessions in the native dialect, `/sessions/{id}/ws` for one in any dialect.

The server sends events and replies to commands. After a reconnect an event may arrive twice, but in order: clients drop
duplicates by `seq`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from heald.core.json import JsonObject, decode, encode_text
from heald.sessions.session_info import SessionInfo
from heald_server.access.caller import Caller
from heald_server.access.credentials import chosen_protocol
from heald_server.access.rate_limiter import RateLimiter
from heald_server.cluster.forwarding import FORWARD_SECONDS, ForwardedCall, read_reply
from heald_server.context import ServerContext
from heald_server.dialects.dialect import Dialect
from heald_server.dialects.registry import open_dialect
from heald_server.held_elsewhere import HeldElsewhere
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.json_body import parse_json
from heald_server.http.stall_timeout import StallTimeout
from heald_server.open_sessions import is_text
from heald_server.routes import conversation
from heald_server.routes.client_tools import set_client_tools, submit_tool_result
from heald_server.start_exchange import cancel_exchange
from heald_server.streams import socket_commands as commands
from heald_server.streams.cursor import read_cursor
from heald_server.streams.dialect_encoder import DialectEncoder, encode_batch
from heald_server.streams.event_hub import EncodedEvent
from heald_server.streams.event_stream import EventStream
from heald_server.streams.log_tail import catch_up, read_tail
from heald_server.streams.stream_end import abort_connection, closing_frames, goodbye_frame
from heald_server.streams.stream_frames import reset_frame

if TYPE_CHECKING:
    from heald_server.http.websocket_protocol import SocketWriter

CLOSE_CODES = {"shutdown": 1012, "token": 4401, "deleted": 4404, "slow": 4413, "store": 1011}

_FIRST_MESSAGE_SECONDS = 0.25
"""Time that the socket of one session waits for a cursor before it starts at the beginning of the log."""
_CLOSE_SECONDS = 2.0
"""Time that a client has to accept the close frame."""
_HEARTBEAT = '{"type":"heartbeat"}'
_command_decoder: "msgspec.json.Decoder[commands.AnyCommand]" = msgspec.json.Decoder(commands.AnyCommand)
_fields_decoder: "msgspec.json.Decoder[JsonObject]" = msgspec.json.Decoder(JsonObject)
_resume_decoder = msgspec.json.Decoder(commands.ResumeMessage)
_log = logging.getLogger("heald_server.streams.websocket")


class _CloseSocket(Exception):
    """Raised to close the socket."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason


class SocketConnection:
    """One connection: to the session `only`, in any dialect, or to many sessions in the native one."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        websocket: WebSocket,
        only: SessionInfo | None = None,
        dialect: str = "native",
    ) -> None:
        self._context = context
        self._caller = caller
        self._socket = websocket
        self._only = only
        self._dialect = dialect
        self._streams: dict[str, tuple[EventStream, asyncio.Task[None]]] = {}
        self._feeds: dict[tuple[str, str], asyncio.Task[None]] = {}
        """By the kind of a feed and the name of what it follows."""
        self._stall_timeout = StallTimeout(websocket.scope, context.settings.limits.stall_seconds)
        self._sent = monotonic() + _FIRST_MESSAGE_SECONDS
        """When the last message was sent; at first, when the first one is due."""
        self._rate = RateLimiter(context.settings.limits.messages_per_second)
        self._ended: asyncio.Future[_CloseSocket] = asyncio.get_running_loop().create_future()

    async def run(self, after: str | int | None = None) -> None:
        """Serve the connection until one side closes it. `after` is the cursor of a socket for one session."""
        open_dialect(self._dialect)  # an unknown one is refused with its reason, before the socket is open
        await self._socket.accept(chosen_protocol(self._socket.scope))
        receiving = asyncio.create_task(self._receive_commands(after))
        beating = asyncio.create_task(self._send_heartbeats())
        try:
            with self._context.watch_access(self._caller, self._on_access_ended):
                await asyncio.wait({receiving, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            receiving.cancel()
            await asyncio.wait({receiving})
            await self._close(receiving)
        finally:
            receiving.cancel()
            beating.cancel()
            await self._unsubscribe_all()

    async def _close(self, receiving: "asyncio.Task[None]") -> None:
        ended = self._ended.result() if self._ended.done() else None
        if ended is None and not receiving.cancelled():
            error = receiving.exception()
            if isinstance(error, _CloseSocket):
                ended = error
            elif error is not None and not isinstance(error, WebSocketDisconnect):
                _log.error("a socket failed", exc_info=error)
                ended = _CloseSocket(1011, "The server failed.")
        if ended is not None:
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._socket.close(ended.code, ended.reason[:120])
            except TimeoutError:
                await abort_connection(self._socket.scope)
            except Exception:
                _log.debug("a socket was closed by its client first", exc_info=True)

    # --- commands -----------------------------------------------------------------------------------------------------

    async def _receive_commands(self, after: str | int | None) -> None:
        if self._only is not None:
            first = await self._receive_first() if after is None else None
            if first is None or not _is_subscribe(first):
                await self._subscribe(self._only, commands.Subscribe(resume=after))
            if first is not None:
                await self._execute(first)
        while True:
            await self._execute(await self._receive())

    async def _receive_first(self) -> str | bytes | None:
        """The first message, if the client sends one at once; it may be its cursor."""
        try:
            async with asyncio.timeout(_FIRST_MESSAGE_SECONDS):
                return await self._receive()
        except TimeoutError:
            return None

    async def _receive(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        if not self._rate.allows():
            raise _CloseSocket(1008, "Too many messages a second.")
        text: str | bytes = message.get("text") or message.get("bytes") or ""
        if len(text) > self._context.settings.limits.message_bytes:
            raise _CloseSocket(1009, "The message is too large; send large data as blobs over HTTP.")
        return text

    async def _execute(self, text: str | bytes) -> None:
        command: commands.AnyCommand | None = None
        try:
            command = _parse_command(text)
            feed = self._find_feed(command, text)
            if feed is not None:
                result = await self._follow_feed(*feed, is_followed=isinstance(command, commands.Subscribe))
            else:
                result = await self._dispatch_anywhere(command)
        except Exception as error:
            api_error = api_error_of(error)
            if api_error is None:
                raise
            named = _names_of(text) if command is None else {"id": command.id, "session": command.session}
            await self._send_json(api_error.data() | {"type": "error", **named})
            return
        if isinstance(command, commands.Ping):
            await self._send_json({"type": "pong", "id": command.id})
        elif command.id is not None:
            await self._send_json({"type": "reply", "id": command.id, "result": result})

    async def _dispatch_anywhere(self, command: commands.AnyCommand) -> object:
        """Run a command here, or on the node that holds its session."""
        until = monotonic() + FORWARD_SECONDS
        while True:
            try:
                return await self._dispatch(command)
            except HeldElsewhere as held:
                operation = commands.operation_of(command, held.session)
                if operation is None:
                    raise
                call = ForwardedCall(
                    operation=operation.name,
                    session=held.session,
                    owner=self._caller.owner,
                    path=operation.path,
                    content_type="application/json",
                    body=operation.body,
                )
                reply = await self._context.node.forwarder.send(call, until)
            if reply is not None:
                return read_reply(reply)

    async def _dispatch(self, command: commands.AnyCommand) -> object:
        if isinstance(command, commands.Ping):
            return None
        info = await self._find_session(command.session)
        context = self._context
        match command:
            case commands.Subscribe():
                return await self._subscribe(info, command)
            case commands.Unsubscribe():
                await self._unsubscribe(info.id)
                return {}
            case commands.SendMessage():
                return await conversation.submit_message(context, info, commands.submission_of(command))
            case commands.CancelExchange(exchange=exchange, reason=reason):
                return await cancel_exchange(context, info, exchange, reason)
            case commands.ApproveCall(approval=approval) | commands.DenyCall(approval=approval):
                by = self._caller.name
                await conversation.resolve_approval(context, info, approval, commands.decision_of(command), by)
            case commands.AnswerQuestion(question=question, text=text):
                await conversation.answer_question(context, info, question, text)
            case commands.SendToolResult(call_id=call_id, content=content, is_error=is_error):
                await submit_tool_result(context, info, call_id, content, is_error)
            case commands.SetClientTools(tools=tools):
                set_to = await set_client_tools(context, info, tools)
                return {"tools": [definition.name for definition in set_to]}
        return {}

    async def _find_session(self, named: str | None) -> SessionInfo:
        if self._only is not None:
            if named is not None and named != self._only.id:
                raise ApiError("invalid", "This socket is for one session; use /ws for several.")
            return await self._context.open_sessions.find_info(self._caller.owner, self._only.id)
        if named is None:
            raise ApiError("invalid", 'Name a session, as "session": "…".')
        return await self._context.open_sessions.find_info(self._caller.owner, named)

    # --- streams ------------------------------------------------------------------------------------------------------

    async def _subscribe(self, info: SessionInfo, command: commands.Subscribe) -> JsonObject:
        self._context.check_store(info)
        if info.id not in self._streams and len(self._streams) >= self._context.settings.limits.sessions_per_socket:
            raise _CloseSocket(1008, "Too many sessions on one socket.")
        await self._unsubscribe(info.id)
        store = self._context.sessions.store
        dialect = open_dialect(self._dialect, info.id)
        cursor = read_cursor(command.resume, info)
        seq = cursor.seq
        if cursor.bad is not None and dialect.name != "native":
            raise _CloseSocket(4409, "The cursor cannot be served; connect again without one.")
        if dialect.name == "native":
            await self._send_json({"type": "subscribed", "session": info.id, "seq": info.last_seq})
        if cursor.bad is not None:
            frame, seq = await reset_frame(store, info, cursor.bad)
            await self._send_json(frame)
        if command.end and dialect.name == "native" and (end := await read_tail(store, info.id, seq, info.last_seq)):
            await self._send(encode_batch(end, "end", info.id).decode())
        await catch_up(dialect, store, info.id, seq)
        stream = EventStream(store, self._context.open_sessions.hub, info.id, seq)
        encoder = DialectEncoder(dialect, batch=command.batch)
        self._streams[info.id] = stream, asyncio.create_task(self._send_events(stream, encoder))
        return {"session": info.id, "seq": info.last_seq}

    def _find_feed(self, command: commands.AnyCommand, text: str | bytes) -> tuple[str, str] | None:
        """The kind of the feed that a command names instead of a session, and the name of what it follows."""
        if not isinstance(command, commands.Subscribe | commands.Unsubscribe) or command.session is not None:
            return None
        fields = parse_json(_fields_decoder, text, "message")
        for kind in self._context.feeds:
            if isinstance(name := fields.get(kind), str):
                return kind, name
        return None

    async def _follow_feed(self, kind: str, name: str, *, is_followed: bool) -> JsonObject:
        """Subscribe to a feed of another protocol, or unsubscribe."""
        task = self._feeds.pop((kind, name), None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        if not is_followed:
            return {}
        if self._only is not None:
            raise ApiError("not_found", f"The socket of one session has no {kind}; use /ws.")
        if not is_text(name):
            raise ApiError("not_found", f"There is no {kind} of that name.")
        if len(self._feeds) >= self._context.settings.limits.sessions_per_socket:
            raise _CloseSocket(1008, "Too many subscriptions on one socket.")
        states = self._context.feeds[kind](self._caller, name)
        first = await anext(states)
        self._feeds[kind, name] = asyncio.create_task(self._send_states(first, states))
        return {kind: name}

    async def _send_states(self, first: JsonObject, states: AsyncGenerator[JsonObject]) -> None:
        async with aclosing(states):
            with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                await self._send_json(first)
                async for state in states:
                    await self._send_json(state)

    async def _send_events(self, stream: EventStream, encoder: DialectEncoder) -> None:
        dialect = encoder.dialect
        delivered = stream.seq
        writer: SocketWriter | None = self._socket.scope.get("state", {}).get("message_writer")  # of Heald's own server

        def push(writer: "SocketWriter", entries: Sequence[EncodedEvent]) -> bool:
            nonlocal delivered
            delivered = stream.seq
            if not writer.is_ready or _log.isEnabledFor(logging.DEBUG):
                return False
            if texts := encoder.texts(entries):
                writer.write(texts)
                self._sent = monotonic()
            return True

        stream.push = partial(push, writer) if writer is not None else None
        try:
            with self._context.streaming(self._caller, stream):
                async with aclosing(stream.batches(self._context.settings.heartbeat_seconds)) as batches:
                    async for entries in batches:
                        await self._send(*encoder.texts(entries))
                        delivered = stream.seq
                if stream.end_reason is not None:
                    await self._send_end(stream, dialect)
        except ApiError as error:
            self._end(1013, error.message)
        except TimeoutError:
            _log.warning("a slow reader was dropped", extra={"session": stream.session, "seq": delivered})
            self._end(CLOSE_CODES["slow"], f"Too slow; resume after {delivered}.")
        except (WebSocketDisconnect, RuntimeError):
            self._end(1001, "")

    async def _send_heartbeats(self) -> None:
        """Send a heartbeat whenever nothing else was sent for a while, also while nothing is subscribed to.

        Pages see no pings, and treat a silent connection as dead. Other dialects have no such message.
        """
        if self._dialect != "native":
            return
        seconds = self._context.settings.heartbeat_seconds
        try:
            while True:
                await asyncio.sleep(max(0.0, self._sent + seconds - monotonic()))
                if monotonic() - self._sent >= seconds:
                    await self._send(_HEARTBEAT)
        except TimeoutError:
            self._end(CLOSE_CODES["slow"], "Too slow.")
        except (WebSocketDisconnect, RuntimeError):
            self._end(1001, "")

    async def _send_end(self, stream: EventStream, dialect: Dialect) -> None:
        assert stream.end_reason is not None
        if dialect.name == "native":
            await self._send_json(goodbye_frame(stream.session, stream.end_reason, stream.seq))
        elif stream.end_reason == "store":
            await self._send(*(dialect.text(frame) for frame in closing_frames(dialect, "store")))
        if stream.end_reason in ("shutdown", "token", "store") or self._only is not None:
            self._end(CLOSE_CODES[stream.end_reason], f"Resume after {stream.seq}.")

    async def _send_json(self, data: Any) -> None:
        await self._send(encode_text(data))

    async def _send(self, *texts: str) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            for text in texts:
                _log.debug("%s", text)
        for text in texts:
            await self._stall_timeout.send(partial(self._socket.send_text, text))
        if texts:
            self._sent = monotonic()

    def _on_access_ended(self) -> None:
        """Close the socket; streams, if there are any, send their goodbye first and then close it."""
        if not self._streams:
            self._end(CLOSE_CODES["token"], "The token was revoked, or the link deleted.")

    def _end(self, code: int, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(_CloseSocket(code, reason))

    async def _unsubscribe(self, session: str) -> None:
        stream, task = self._streams.pop(session, (None, None))
        if stream is None or task is None:
            return
        stream.stop()
        task.cancel()
        await asyncio.wait([task])

    async def _unsubscribe_all(self) -> None:
        for session in list(self._streams):
            await self._unsubscribe(session)
        for kind, name in list(self._feeds):
            await self._follow_feed(kind, name, is_followed=False)


def _parse_command(text: str | bytes) -> commands.AnyCommand:
    resume = _parse_resume(text)
    if resume is not None:
        return commands.Subscribe(resume=resume.resume)
    return parse_json(_command_decoder, text, "message")


def _names_of(text: str | bytes) -> JsonObject:
    """The `id` and the `session` of a command that cannot be read, as far as they can: its sender waits for its id."""
    try:
        fields = parse_json(_fields_decoder, text)
    except ApiError:
        fields = {}
    command_id, session = fields.get("id"), fields.get("session")
    return {
        "id": command_id if isinstance(command_id, str | int | float) else None,
        "session": session if isinstance(session, str) else None,
    }


def _is_subscribe(text: str | bytes) -> bool:
    try:
        return isinstance(_parse_command(text), commands.Subscribe)
    except ApiError:
        return False


def _parse_resume(text: str | bytes) -> commands.ResumeMessage | None:
    """Parse a message that is a cursor and nothing else."""
    if len(text) > 300:
        return None
    try:
        return decode(_resume_decoder, text)
    except (ValueError, RecursionError):
        return None
