"""Server-sent events: a session's log over plain HTTP, from a cursor on, for as long as the client listens."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, encode
from weft.dialects.dialect import Dialect
from weft.dialects.frame import Frame
from weft.dialects.registry import open_dialect
from weft.dialects.sentences import NOT_STORED
from weft.server.context import ServerContext
from weft.server.cursor import read_cursor
from weft.server.cut import cut
from weft.server.guard import Caller
from weft.server.hub import Entry
from weft.server.refusal import Refusal
from weft.server.snapshot import reset_frame
from weft.server.telling import Farewell, Telling, Voice, brought_up_to
from weft.sessions.store import SessionInfo

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_HEARTBEAT = b": heartbeat\n\n"

_log = logging.getLogger("weft.server.sse")


async def listen(context: ServerContext, caller: Caller, info: SessionInfo, request: Request) -> Response:
    """The answer to `GET /sessions/{id}/events`."""
    dialect = dialect_of(request.query_params.get("dialect", "native"), info.id)
    given = request.headers.get("last-event-id", request.query_params.get("after"))
    cursor = read_cursor(given, info)
    head = b"retry: 1000\n\n"
    seq = cursor.seq
    if cursor.bad is not None:
        if dialect.name != "native":
            raise Refusal("invalid_cursor", "The cursor cannot be served; ask again without one.")
        frame, seq = await reset_frame(context.sessions.store, info, cursor.bad)
        head += _event("reset", frame)
    await brought_up_to(dialect, context.sessions.store, info.id, seq)
    return EventStreamResponse(context, caller, info, dialect, seq, head)


class EventStreamResponse(Response):
    """Writes what a session tells until the client leaves; with `exchange`, until that one is over."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        info: SessionInfo,
        dialect: Dialect,
        seq: int,
        head: bytes = b"",
        *,
        exchange: str | None = None,
    ) -> None:
        super().__init__(headers={**HEADERS, **dialect.headers}, media_type=dialect.content_type)
        del self.headers["content-length"]
        self._context = context
        self._caller = caller
        self._session = info.id
        self._voice = Voice(dialect)
        self._telling = Telling(context.sessions.store, context.open.hub, info.id, seq)
        self._head = head
        self._exchange = exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        with self._context.streaming(self._caller, self._telling):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            leaving = asyncio.create_task(_gone(receive, self._telling))
            try:
                await self._tell(send)
            except TimeoutError:
                self._telling.stop("slow")
                _log.warning("a slow reader was dropped", extra={"session": self._session, "seq": self._telling.seq})
                await cut(scope)  # it would not take the last words either
                return
            finally:
                leaving.cancel()
                await asyncio.wait([leaving])
            await self._part(send)

    async def _tell(self, send: Send) -> None:
        await self._write(send, self._head)
        heartbeat = self._context.settings.heartbeat_seconds
        async with aclosing(self._telling.batches(heartbeat)) as batches:
            async for entries in batches:
                body = self._voice.sse(self._wanted(entries), self._session) if entries else _HEARTBEAT
                if _log.isEnabledFor(logging.DEBUG):
                    _log.debug("%s", body.decode(), extra={"session": self._session})
                await self._write(send, body)
                if self._exchange is not None and any(map(self._is_last, entries)):
                    return

    async def _part(self, send: Send) -> None:
        """The last words: what is still open is closed, and where to go on is said."""
        body = b""
        farewell, dialect = self._telling.farewell, self._voice.dialect
        if farewell in (None, "store") or self._exchange is not None:
            body = b"".join(dialect.sse(frame) for frame in last_words(dialect, farewell))
        if farewell is not None and dialect.name == "native":
            body += _event("goodbye", goodbye(self._session, farewell, self._telling.seq))
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _write(self, send: Send, body: bytes) -> None:
        """Write, and wait while the client takes nothing: for so long, not longer."""
        if not body:
            return
        async with asyncio.timeout(self._context.settings.limits.stall_seconds):
            await send({"type": "http.response.body", "body": body, "more_body": True})

    def _wanted(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        if self._exchange is None:
            return entries
        return [entry for entry in entries if entry.event.exchange == self._exchange]

    def _is_last(self, entry: Entry) -> bool:
        return entry.event.exchange == self._exchange and entry.event.type == "exchange_response"


def dialect_of(name: str, session: str) -> Dialect:
    try:
        return open_dialect(name, session)
    except ConfigurationError as error:
        raise Refusal("invalid", str(error)) from None


def last_words(dialect: Dialect, farewell: Farewell | None) -> list[Frame]:
    """What is still open is closed, with the reason where there is more to say than that the stream ended."""
    return dialect.close(NOT_STORED) if farewell == "store" else dialect.close()


def goodbye(session: str, reason: Farewell, seq: int) -> JsonObject:
    return {"type": "goodbye", "session": session, "reason": reason, "resume": seq}


def _event(name: str, data: JsonObject) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(data))


async def _gone(receive: Receive, telling: Telling) -> None:
    """Stop when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    telling.stop()
