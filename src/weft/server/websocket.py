"""WebSocket: sessions heard and talked to over one connection.

`/ws` takes many sessions, in the native dialect; `/sessions/{id}/ws` takes one, in any. What is sent is an event, or
the answer to a command. Events may come twice after a reconnect, never out of order: drop what you have by `seq`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from weft.core.json import JsonObject, decode, encode_text
from weft.dialects.dialect import Dialect
from weft.server.commands import (
    Answer,
    AnyCommand,
    Approve,
    CancelExchange,
    Deny,
    Ping,
    Resume,
    SendMessage,
    Subscribe,
    Unsubscribe,
)
from weft.server.context import ServerContext
from weft.server.conversing import answer, cancel, decide, submit
from weft.server.cursor import read_cursor
from weft.server.cut import cut
from weft.server.guard import Caller
from weft.server.limits import Pace
from weft.server.open_sessions import is_text
from weft.server.parts import Submission
from weft.server.refusal import Refusal, refusal_of
from weft.server.snapshot import reset_frame
from weft.server.sse import dialect_of, goodbye, last_words
from weft.server.telling import Telling, Voice, brought_up_to, end_of, together
from weft.sessions.store import SessionInfo

CLOSE = {"shutdown": 1012, "token": 4401, "deleted": 4404, "slow": 4413, "store": 1011}

_FIRST_WORD = 0.25
"""Seconds that the socket of one session waits for a cursor before it begins at the beginning."""
_LAST_WORD = 2.0
"""Seconds that a client has to take the close."""
_commands: "msgspec.json.Decoder[AnyCommand]" = msgspec.json.Decoder(AnyCommand)
_resumes = msgspec.json.Decoder(Resume)
_log = logging.getLogger("weft.server.websocket")


class _Ended(Exception):
    """The socket is to be closed."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason


class Socket:
    """One connection. `only` is the session that it is for, with its dialect; without one it is for many."""

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
        self._tellings: dict[str, tuple[Telling, asyncio.Task[None]]] = {}
        self._projects: dict[str, asyncio.Task[None]] = {}
        self._pace = Pace(context.settings.limits.messages_per_second)
        self._ended: asyncio.Future[_Ended] = asyncio.get_running_loop().create_future()

    async def run(self, after: str | int | None = None) -> None:
        """Until one side ends it. `after` is the cursor of a socket for one session."""
        offered: list[str] = self._socket.scope.get("subprotocols") or []
        await self._socket.accept("weft" if "weft" in offered else None)
        hearing = asyncio.create_task(self._hear(after))
        try:
            with self._context.admitted(self._caller, self._revoked):
                await asyncio.wait({hearing, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            hearing.cancel()
            await asyncio.wait({hearing})
            await self._close(hearing)
        finally:
            hearing.cancel()
            await self._forget_all()

    async def _close(self, hearing: "asyncio.Task[None]") -> None:
        ended = self._ended.result() if self._ended.done() else None
        if ended is None and not hearing.cancelled():
            error = hearing.exception()
            if isinstance(error, _Ended):
                ended = error
            elif error is not None and not isinstance(error, WebSocketDisconnect):
                _log.error("a socket failed", exc_info=error)
                ended = _Ended(1011, "Something went wrong here.")
        if ended is not None:
            try:
                async with asyncio.timeout(_LAST_WORD):
                    await self._socket.close(ended.code, ended.reason[:120])
            except TimeoutError:
                await cut(self._socket.scope)
            except Exception:
                _log.debug("a socket was gone before it was closed", exc_info=True)

    # --- what the client says ----------------------------------------------------------------------------------------

    async def _hear(self, after: str | int | None) -> None:
        if self._only is not None:
            first = await self._first() if after is None else None
            if first is None or not _is_subscribing(first):
                await self._subscribe(self._only, Subscribe(resume=after))
            if first is not None:
                await self._obey(first)
        while True:
            await self._obey(await self._next())

    async def _first(self) -> str | bytes | None:
        """What a client says at once; it may be its cursor."""
        try:
            async with asyncio.timeout(_FIRST_WORD):
                return await self._next()
        except TimeoutError:
            return None

    async def _next(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        if not self._pace.allows():
            raise _Ended(1008, "Too many messages a second.")
        said: str | bytes = message.get("text") or message.get("bytes") or ""
        if len(said) > self._context.settings.limits.message_bytes:
            raise _Ended(1009, "The message is too large; send large things as blobs over HTTP.")
        return said

    async def _obey(self, said: str | bytes) -> None:
        command: AnyCommand | None = None
        try:
            command = _read(said)
            result = await self._do(command)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            told = refusal.data() | {"type": "error", "id": command.id if command is not None else None}
            await self._say(told | {"session": command.session if command is not None else None})
            return
        if isinstance(command, Ping):
            await self._say({"type": "pong", "id": command.id})
        elif command.id is not None:
            await self._say({"type": "reply", "id": command.id, "result": result})

    async def _do(self, command: AnyCommand) -> object:
        if isinstance(command, Ping):
            return None
        if isinstance(command, Subscribe | Unsubscribe) and command.project is not None:
            return await self._watch(command.project, isinstance(command, Subscribe))
        info = await self._session(command.session)
        context = self._context
        match command:
            case Subscribe():
                return await self._subscribe(info, command)
            case Unsubscribe():
                await self._forget(info.id)
                return {}
            case SendMessage(text=text, content=content, client_request_id=request, when_busy=when_busy):
                wanted = Submission(text=text, content=content, client_request_id=request, when_busy=when_busy)
                return await submit(context, info, wanted)
            case CancelExchange(exchange=exchange, reason=reason):
                return await cancel(context, info, exchange, reason)
            case Approve(approval=approval, digest=digest, always=always, arguments=arguments):
                decide(context, info, approval, True, digest=digest, always=always, arguments=arguments)
            case Deny(approval=approval, reason=reason):
                decide(context, info, approval, False, reason=reason)
            case Answer(question=question, text=text):
                answer(context, info, question, text)
        return {}

    async def _session(self, named: str | None) -> SessionInfo:
        if self._only is not None:
            if named is not None and named != self._only.id:
                raise Refusal("invalid", "This socket is for one session; use /ws for several.")
            return await self._context.open.info(self._caller.owner, self._only.id)
        if named is None:
            raise Refusal("invalid", 'Say which session, as "session": "…".')
        return await self._context.open.info(self._caller.owner, named)

    # --- what it is told ---------------------------------------------------------------------------------------------

    async def _subscribe(self, info: SessionInfo, wanted: Subscribe) -> JsonObject:
        if info.id not in self._tellings and len(self._tellings) >= self._context.settings.limits.sessions_per_socket:
            raise _Ended(1008, "Too many sessions on one socket.")
        await self._forget(info.id)
        store = self._context.sessions.store
        dialect = dialect_of(self._dialect, info.id)
        cursor = read_cursor(wanted.resume, info)
        seq = cursor.seq
        if cursor.bad is not None and dialect.name != "native":
            raise _Ended(4409, "The cursor cannot be served; connect again without one.")
        if dialect.name == "native":
            await self._say({"type": "subscribed", "session": info.id, "seq": info.last_seq})
        if cursor.bad is not None:
            frame, seq = await reset_frame(store, info, cursor.bad)
            await self._say(frame)
        if wanted.end and dialect.name == "native" and (end := await end_of(store, info.id, seq, info.last_seq)):
            await self._send(together(end, "end", info.id).decode())
        await brought_up_to(dialect, store, info.id, seq)
        telling = Telling(store, self._context.open.hub, info.id, seq)
        self._tellings[info.id] = telling, asyncio.create_task(self._tell(telling, Voice(dialect, batch=wanted.batch)))
        return {"session": info.id, "seq": info.last_seq}

    async def _watch(self, project: str, wanted: bool) -> JsonObject:
        """Follow a project of the studio, or no longer."""
        watched = self._projects.pop(project, None)
        if watched is not None:
            watched.cancel()
            await asyncio.wait([watched])
        if not wanted:
            return {}
        if not is_text(project):
            raise Refusal("not_found", "There is no project of that name.")
        if self._context.watch_project is None or self._only is not None:
            raise Refusal("not_found", "There are no projects on this socket.")
        if len(self._projects) >= self._context.settings.limits.sessions_per_socket:
            raise _Ended(1008, "Too many projects on one socket.")
        states = self._context.watch_project(self._caller, project)
        first = await anext(states)
        self._projects[project] = asyncio.create_task(self._tell_states(first, states))
        return {"project": project}

    async def _tell_states(self, first: JsonObject, states: AsyncGenerator[JsonObject]) -> None:
        async with aclosing(states):
            with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                await self._say(first)
                async for state in states:
                    await self._say(state)

    async def _tell(self, telling: Telling, voice: Voice) -> None:
        dialect = voice.dialect
        told = telling.seq
        try:
            with self._context.streaming(self._caller, telling):
                async with aclosing(telling.batches(self._context.settings.heartbeat_seconds)) as batches:
                    async for entries in batches:
                        await self._send(*voice.texts(entries))
                        if not entries and dialect.name == "native":
                            await self._send('{"type":"heartbeat"}')
                        told = telling.seq
                if telling.farewell is not None:
                    await self._part(telling, dialect)
        except Refusal as refusal:
            self._end(1013, refusal.message)
        except TimeoutError:
            _log.warning("a slow reader was dropped", extra={"session": telling.session, "seq": told})
            self._end(CLOSE["slow"], f"Too slow; resume after {told}.")
        except (WebSocketDisconnect, RuntimeError):
            self._end(1001, "")

    async def _part(self, telling: Telling, dialect: Dialect) -> None:
        assert telling.farewell is not None
        if dialect.name == "native":
            await self._say(goodbye(telling.session, telling.farewell, telling.seq))
        elif telling.farewell == "store":
            await self._send(*(dialect.text(frame) for frame in last_words(dialect, "store")))
        if telling.farewell in ("shutdown", "token", "store") or self._only is not None:
            self._end(CLOSE[telling.farewell], f"Resume after {telling.seq}.")

    async def _say(self, data: Any) -> None:
        await self._send(encode_text(data))

    async def _send(self, *texts: str) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            for text in texts:
                _log.debug("%s", text)
        if not texts:
            return
        async with asyncio.timeout(self._context.settings.limits.stall_seconds):
            for text in texts:
                await self._socket.send_text(text)

    def _revoked(self) -> None:
        """The token is good no more. Those who tell say goodbye first."""
        if not self._tellings:
            self._end(CLOSE["token"], "The token was revoked.")

    def _end(self, code: int, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(_Ended(code, reason))

    async def _forget(self, session: str) -> None:
        telling, task = self._tellings.pop(session, (None, None))
        if telling is None or task is None:
            return
        telling.stop()
        task.cancel()
        await asyncio.wait([task])

    async def _forget_all(self) -> None:
        for session in list(self._tellings):
            await self._forget(session)
        for project in list(self._projects):
            await self._watch(project, False)


def _read(said: str | bytes) -> AnyCommand:
    resume = _resumed(said)
    if resume is not None:
        return Subscribe(resume=resume.resume)
    try:
        return decode(_commands, said)
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid", f"The message cannot be read: {str(error)[:300]}.") from None


def _is_subscribing(said: str | bytes) -> bool:
    try:
        return isinstance(_read(said), Subscribe)
    except Refusal:
        return False


def _resumed(said: str | bytes) -> Resume | None:
    """A message that is a cursor and nothing else."""
    if len(said) > 300:
        return None
    try:
        return decode(_resumes, said)
    except (ValueError, RecursionError):
        return None
