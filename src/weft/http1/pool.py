"""The connections of one event loop: kept while idle, at most a minute, and taken up again by the next request."""

import asyncio
import ssl

from weft.http1.connection import Connection
from weft.http1.dial import dial
from weft.http1.faults import Broken
from weft.http1.reply import Reply
from weft.http1.request import Origin

IDLE_SECONDS = 60.0
MAX_IDLE = 256
SETTLE_SECONDS = 0.02
_BUFFER = 256 * 1024
_CLOSING_ROUNDS = 10


class Pool:
    """Connections by origin. Nothing limits how many are in use at once."""

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(_BUFFER))
        self._loop = asyncio.get_running_loop()
        self._all: set[Connection] = set()
        self._idle: dict[Origin, list[Connection]] = {}
        self._settling: dict[Origin, Reply] = {}  # the last one whose end nobody waited for
        self._timer: asyncio.TimerHandle | None = None

    async def send(
        self, origin: Origin, head: bytes, body: bytes, *, tls: ssl.SSLContext | None, connect_timeout: float
    ) -> Reply:
        """Send a request and hand out its answer as it begins."""
        connection = self._take(origin) or await self._settled(origin)
        if connection is not None:
            reply = connection.send(head, body)
            try:
                await reply.begin()
            except Broken:
                # It was closed while nobody looked, and nobody read the request: another connection may be better.
                if connection.heard:
                    raise
            else:
                return reply
        connection = await self._connect(origin, tls, connect_timeout)
        reply = connection.send(head, body)
        await reply.begin()
        return reply

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self._all):
            connection.abort()
        for _ in range(_CLOSING_ROUNDS):
            if not self._all:
                return
            await asyncio.sleep(0)

    async def _connect(self, origin: Origin, tls: ssl.SSLContext | None, seconds: float) -> Connection:
        return await dial(lambda: Connection(self._loop, origin, self), tls, seconds)

    def _take(self, origin: Origin) -> Connection | None:
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
        return None

    async def _settled(self, origin: Origin) -> Connection | None:
        """One whose last bytes are still under way: mostly sooner here than a new one."""
        reply = self._settling.pop(origin, None)
        if reply is None or not reply.settling:
            return None
        await reply.settled(SETTLE_SECONDS)
        return self._take(origin)

    def _sweep(self) -> None:
        """Let go of those that nobody has wanted for long."""
        old = self._loop.time() - IDLE_SECONDS
        for idle in self._idle.values():
            while idle and idle[0].idle_since <= old:
                idle.pop(0).abort()
        self._idle = {origin: idle for origin, idle in self._idle.items() if idle}
        self._settling = {origin: reply for origin, reply in self._settling.items() if reply.settling}
        oldest = min((idle[0].idle_since for idle in self._idle.values()), default=None)
        self._timer = None if oldest is None else self._loop.call_at(oldest + IDLE_SECONDS, self._sweep)

    # --- what connections say -----------------------------------------------------------------------------------

    def made(self, connection: Connection) -> None:
        self._all.add(connection)

    def idle(self, connection: Connection) -> None:
        idle = self._idle.setdefault(connection.origin, [])
        connection.idle_since = self._loop.time()
        idle.append(connection)
        if len(idle) > MAX_IDLE:
            idle.pop(0).abort()
        if self._timer is None:
            self._timer = self._loop.call_later(IDLE_SECONDS, self._sweep)

    def settling(self, connection: Connection, reply: Reply) -> None:
        self._settling[connection.origin] = reply

    def lost(self, connection: Connection) -> None:
        self._all.discard(connection)
        if connection in (idle := self._idle.get(connection.origin, [])):
            idle.remove(connection)
