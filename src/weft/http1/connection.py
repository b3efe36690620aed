"""One connection: a request goes out, its answer comes in, and both sides may then go on.

What the network brings is read as it comes; an answer fills up to a mark and then the network is told to wait.
"""

import asyncio
import socket
from typing import Protocol, cast

from weft.http1.faults import Broken, Fault, NotHttp
from weft.http1.framing import Framing
from weft.http1.head import MAX_HEAD, check_start, end_of_head, parse_head
from weft.http1.reply import Reply
from weft.http1.request import Origin

DRAIN_SECONDS = 1.0
_ONE_WRITE = 64 * 1024


class Owner(Protocol):
    """Who is told how a connection fares."""

    buffer: memoryview
    """What the network brings is put here first. It is taken out at once, so one serves all connections."""

    def made(self, connection: "Connection") -> None: ...

    def idle(self, connection: "Connection") -> None:
        """An answer has come whole and all is well."""
        ...

    def settling(self, connection: "Connection", reply: Reply) -> None:
        """An answer was released and its end is still under way."""
        ...

    def lost(self, connection: "Connection") -> None: ...


class Connection(asyncio.BufferedProtocol):
    """Requests and their answers, one after another."""

    def __init__(self, loop: asyncio.AbstractEventLoop, origin: Origin, owner: Owner) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self.heard = False
        """Some of the current answer has come."""
        self._loop = loop
        self._owner = owner
        self._buffer = owner.buffer
        self._transport: asyncio.Transport | None = None
        self._reply: Reply | None = None
        self._framing: Framing | None = None
        self._head: bytes = b""
        self._head_size = 0
        self._bare = False  # whatever its head says, the answer has no body
        self._keep = False
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing() and self._reply is None

    def send(self, head: bytes, body: bytes) -> Reply:
        transport = self._transport
        self.heard = False
        self._bare = head.startswith(b"HEAD ")
        reply = self._reply = Reply(self, self._loop)
        if transport is None:
            reply.fail(Broken("it was closed before a request was sent"))
        elif len(body) <= _ONE_WRITE:
            transport.write(head + body)
        else:
            transport.write(head)
            transport.write(body)
        return reply

    def abort(self) -> None:
        self._reply = self._framing = None
        self._stop_timer()
        if self._transport is not None:
            self._transport.abort()

    def drain(self, reply: Reply) -> None:
        """Read the rest of an answer for nobody, for a second at most."""
        if not self._keep:
            reply.close()
            return
        self.resume()
        self._timer = self._loop.call_later(DRAIN_SECONDS, reply.close)
        self._owner.settling(self, reply)

    def resume(self) -> None:
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    # --- what the network says ----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        raw: socket.socket | None = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._owner.made(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = self._buffer[:nbytes].tobytes()
        reply = self._reply
        if reply is None:  # nobody asked
            self.abort()
            return
        try:
            if self._framing is None:
                data = self._open(reply, data)
                if self._framing is None:
                    return
            rest = self._framing.feed(data, reply.chunks)
        except Fault as fault:
            reply.fail(fault)
            return
        if rest is not None:
            self._finish(reply, clean=not rest)
        elif not reply.grow(len(data)) and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._over(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over(exc)
        self._transport = None
        self._owner.lost(self)

    # --- reading an answer --------------------------------------------------------------------------------------

    def _open(self, reply: Reply, data: bytes) -> bytes:
        """Read heads until one is no mere notice (1xx). Gives out the bytes that follow it."""
        self.heard = True
        start = max(len(self._head) - 2, 0)
        data = self._head + data
        while (end := end_of_head(data, start)) >= 0:
            head = parse_head(data[:end], bare=self._bare)
            data, start = data[end:], 0
            self._head_size += end
            if head.status >= 200:
                self._head, self._head_size = b"", 0
                self._framing = head.framing
                self._keep = head.keep and not head.framing.ends_with_connection
                reply.open(head.status, head.headers)
                return data
            if head.status == 101 or self._head_size > MAX_HEAD:
                raise NotHttp("it wants to speak another protocol, or says again and again that it will answer")
        check_start(data)
        self._head = data
        return b""

    def _finish(self, reply: Reply, clean: bool) -> None:
        """The answer is whole. A connection with anything odd about it is not used again."""
        self._stop_timer()
        self._reply = self._framing = None
        transport = self._transport
        reply.end()
        if transport is None:
            return
        self.resume()
        if clean and self._keep and not transport.is_closing() and not transport.get_write_buffer_size():
            self._owner.idle(self)
        else:
            transport.abort()

    def _over(self, error: Exception | None) -> None:
        """The server sends no more."""
        reply, framing = self._reply, self._framing
        if reply is None:
            self.abort()
        elif framing is not None and framing.ends_with_connection and error is None:
            self._finish(reply, clean=True)
        else:
            when = "in the middle of an answer" if self.heard else "before an answer came"
            reply.fail(Broken(f"it was closed {when}", error))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
