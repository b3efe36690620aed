"""The connections of one event loop. Idle ones are kept for at most a minute and reused by the next request."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from time import monotonic

from heald.http1.connection import HttpConnection, HttpReply
from heald.http1.dial import open_connection
from heald.http1.errors import ConnectionBroken, NetworkError
from heald.http1.request import Origin, RequestTarget

IDLE_SECONDS = 60.0
MAX_IDLE = 256
DRAIN_WAIT_SECONDS = 0.02
MAX_EARLY = 8
"""Connections that are opened before a request at the same time."""
EARLY_SECONDS = 5.0
"""How long one of them may take."""
EARLY_RETRY_SECONDS = 60.0
"""How long none is opened early to an origin that could not be reached."""
_BUFFER = 256 * 1024
_CLOSING_ROUNDS = 10
_IDEMPOTENT = (b"GET ", b"HEAD ")


class ConnectionPool:
    """Connections by origin. The number of connections in use is not limited."""

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(_BUFFER))
        """The receive buffer. It is emptied at once, so one serves all connections."""
        self._loop = asyncio.get_running_loop()
        self._all: set[HttpConnection] = set()
        self._idle: dict[Origin, list[HttpConnection]] = {}
        self._draining: dict[Origin, HttpReply] = {}  # the last released reply whose end has not arrived
        self._opening: dict[Origin, asyncio.Future[None]] = {}  # early, and no request waits for it yet
        self._unreachable: dict[Origin, float] = {}  # until when no connection is opened early
        self._timer: asyncio.TimerHandle | None = None

    async def send(
        self, origin: Origin, head: bytes, body: bytes, *, tls: ssl.SSLContext | None, connect_timeout: float
    ) -> HttpReply:
        """Send a request and return its reply once the head has arrived."""
        connection = self._pop_idle(origin) or await self._pop_drained(origin) or await self._pop_opened_early(origin)
        if connection is not None:
            reply = connection.send(head, body)
            try:
                await reply.begin()
            except ConnectionBroken:
                # The server closed an idle connection, most likely without reading the request. Only a request without
                # effects is sent once more (RFC 9110, section 9.2.2): the caller decides on all others.
                if connection.received or not head.startswith(_IDEMPOTENT):
                    raise
            else:
                return reply
        connection = await self._connect(origin, tls, connect_timeout)
        reply = connection.send(head, body)
        await reply.begin()
        return reply

    async def open_early(self, origin: Origin, *, tls: ssl.SSLContext | None) -> None:
        """Open a connection for the next request to an origin, unless one is idle or being opened.

        Does nothing while many are being opened, and for a while after the origin could not be reached.
        """
        if origin in self._opening or len(self._opening) >= MAX_EARLY or self._unreachable.get(origin, 0) > monotonic():
            return
        if any(connection.usable for connection in self._idle.get(origin, ())):
            return
        opened = self._opening[origin] = self._loop.create_future()
        try:
            self.on_idle(await self._connect(origin, tls, EARLY_SECONDS))
            self._unreachable.pop(origin, None)
        except (NetworkError, OSError):
            now = monotonic()
            self._unreachable = {other: until for other, until in self._unreachable.items() if until > now}
            self._unreachable[origin] = now + EARLY_RETRY_SECONDS
            raise
        finally:
            if self._opening.get(origin) is opened:
                del self._opening[origin]
            if not opened.done():
                opened.set_result(None)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self._all):
            connection.abort()
        for _ in range(_CLOSING_ROUNDS):
            if not self._all:
                return
            await asyncio.sleep(0)

    async def _connect(self, origin: Origin, tls: ssl.SSLContext | None, seconds: float) -> HttpConnection:
        return await open_connection(lambda: HttpConnection(self._loop, origin, self), tls, seconds)

    def _pop_idle(self, origin: Origin) -> HttpConnection | None:
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
        return None

    async def _pop_drained(self, origin: Origin) -> HttpConnection | None:
        """Wait briefly for a connection that is draining: mostly faster than a new one."""
        reply = self._draining.pop(origin, None)
        if reply is None or not reply.is_draining:
            return None
        await reply.wait_drained(DRAIN_WAIT_SECONDS)
        return self._pop_idle(origin)

    async def _pop_opened_early(self, origin: Origin) -> HttpConnection | None:
        """Wait for the connection that is being opened for the next request. Only one request waits for it."""
        opened = self._opening.pop(origin, None)
        if opened is None:
            return None
        await asyncio.wait([opened])
        return self._pop_idle(origin)

    def _sweep(self) -> None:
        """Close connections that were idle for too long."""
        now = monotonic()
        old = now - IDLE_SECONDS
        for idle in self._idle.values():
            while idle and idle[0].idle_since <= old:
                idle.pop(0).abort()
        self._idle = {origin: idle for origin, idle in self._idle.items() if idle}
        self._draining = {origin: reply for origin, reply in self._draining.items() if reply.is_draining}
        oldest = min((idle[0].idle_since for idle in self._idle.values()), default=None)
        self._timer = None if oldest is None else self._loop.call_later(oldest + IDLE_SECONDS - now, self._sweep)

    # --- called by connections -----------------------------------------------------------------------------------

    def on_open(self, connection: HttpConnection) -> None:
        self._all.add(connection)

    def on_idle(self, connection: HttpConnection) -> None:
        """A reply is complete and the connection can be reused."""
        idle = self._idle.setdefault(connection.origin, [])
        connection.idle_since = monotonic()
        idle.append(connection)
        if len(idle) > MAX_IDLE:
            idle.pop(0).abort()
        if self._timer is None:
            self._timer = self._loop.call_later(IDLE_SECONDS, self._sweep)

    def on_draining(self, connection: HttpConnection, reply: HttpReply) -> None:
        """A reply was released and its end has not arrived yet."""
        self._draining[connection.origin] = reply

    def on_lost(self, connection: HttpConnection) -> None:
        self._all.discard(connection)
        if connection in (idle := self._idle.get(connection.origin, [])):
            idle.remove(connection)


@asynccontextmanager
async def get_once(
    target: RequestTarget, headers: Mapping[str, str], *, tls: ssl.SSLContext | None, connect_timeout: float
) -> AsyncGenerator[HttpReply]:
    """Send a GET on a connection of its own, which is closed when the block ends."""
    pool = ConnectionPool()
    head = target.encode_head("GET", headers, last=True)
    try:
        yield await pool.send(target.origin, head, b"", tls=tls, connect_timeout=connect_timeout)
    finally:
        await pool.close()


@asynccontextmanager
async def post_once(
    target: RequestTarget,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tls: ssl.SSLContext | None,
    connect_timeout: float,
) -> AsyncGenerator[HttpReply]:
    """Send a POST on a connection of its own, which is closed when the block ends."""
    pool = ConnectionPool()
    head = target.encode_post_head(headers, len(body))
    try:
        yield await pool.send(target.origin, head, body, tls=tls, connect_timeout=connect_timeout)
    finally:
        await pool.close()
