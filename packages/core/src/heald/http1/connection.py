"""One connection and the reply that it is receiving.

The connection fills the reply up to a mark and then pauses reading. One reader empties it, one read at a time.
"""

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING, cast

from heald.http1.body_framing import BodyFraming
from heald.http1.errors import ConnectionBroken, NetworkError, NotHttp
from heald.http1.request import Origin
from heald.http1.response_head import MAX_HEAD, check_start, end_of_head, parse_head
from heald.http1.shared_reads import shared_reads
from heald.http1.task_waiter import TaskWaiter
from heald.http1.tls import ResumingContext

if TYPE_CHECKING:
    from heald.http1.pool import ConnectionPool

HIGH_WATER = 256 * 1024
SMALL_READ = 16 * 1024
"""Bytes of a read after which a stream may wait with the next one. One that brings more is in a hurry."""


class HttpReply:
    """A response while it arrives: its connection fills it, one reader empties it."""

    __slots__ = (
        *("_error", "_loop", "_source", "_unread", "_waiter"),
        *("chunks", "ended", "headers", "shares_reads", "size", "status"),
    )

    def __init__(self, source: "HttpConnection", loop: asyncio.AbstractEventLoop) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunks: list[bytes] = []
        self.size = 0
        self.ended = False
        """The whole body has arrived."""
        self.shares_reads = False
        self._unread = False  # the reader is done before the end
        self._source: HttpConnection | None = source
        self._loop = loop
        self._waiter = TaskWaiter(loop)
        self._error: NetworkError | None = None

    async def begin(self) -> None:
        """Wait for the status and the headers."""
        while not self.status:
            if self._error is not None:
                raise self._error
            await self._wait()

    async def read(self) -> bytes:
        """Everything that arrived since the last read; empty at the end."""
        while not self.chunks:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            await self._wait()
        chunks = self.chunks
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        if self.size > HIGH_WATER and self._source is not None:
            self._source.resume()
        self.size = 0
        return data

    def at_end(self) -> bool:
        """Everything was read, as far as is known without waiting."""
        return self.ended and not self.chunks

    def release(self) -> None:
        """Stop reading. The connection is kept if the last bytes arrive soon."""
        self.chunks.clear()
        if self._source is None:
            return
        self._unread = True
        self._source.drain(self)

    def close(self) -> None:
        """Close the connection at once, unless the reply is complete."""
        if not self.at_end():
            self.fail(ConnectionBroken("it was closed on this side"))
        self.chunks.clear()

    def share_reads(self) -> None:
        """Let it be read together with the other streams of the loop, while they are."""
        self.shares_reads = True

    @property
    def is_draining(self) -> bool:
        """It was released and its end has not arrived yet."""
        return self._unread and self._source is not None

    async def wait_drained(self, seconds: float) -> None:
        """Wait for the end of a released reply, for a limited time."""
        timer = self._loop.call_later(seconds, self._waiter.wake)
        try:
            await self._waiter
        finally:
            timer.cancel()

    def open(self, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers

    def grow(self, size: int) -> bool:
        """Count new bytes. False if the buffer is full."""
        if self._unread:
            self.chunks.clear()
            return True
        self.size += size
        return self.size <= HIGH_WATER

    def end(self) -> None:
        if self._unread:
            self.chunks.clear()
        self.ended = True
        self._source = None

    def wake(self) -> None:
        """Continue the task that reads: something has arrived."""
        self._waiter.wake()

    def fail(self, fault: NetworkError) -> None:
        """End with an error, which is raised once everything that arrived is read."""
        source, self._source = self._source, None
        self._error = fault
        if source is not None:
            source.abort()
        self._waiter.wake_soon()

    async def _wait(self) -> None:
        try:
            await self._waiter
        except asyncio.CancelledError:
            self.close()
            raise


DRAIN_SECONDS = 1.0
_ONE_WRITE = 64 * 1024


class HttpConnection(asyncio.BufferedProtocol):
    """One connection: requests and their replies, one after another."""

    def __init__(self, loop: asyncio.AbstractEventLoop, origin: Origin, pool: "ConnectionPool") -> None:
        self.origin = origin
        self.idle_since = 0.0
        self.received = False
        """Some of the current reply has arrived."""
        self._loop = loop
        self._pool = pool
        self._buffer = pool.buffer
        self._transport: asyncio.Transport | None = None
        self._new_session: ssl.SSLObject | None = None  # its session was not remembered yet
        self._reply: HttpReply | None = None
        self._framing: BodyFraming | None = None
        self._head: bytes = b""
        self._head_size = 0
        self._bare = False  # the reply to HEAD has no body, regardless of its head
        self._keep = False
        self._paused = False
        self._reads = shared_reads(loop)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing() and self._reply is None

    def send(self, head: bytes, body: bytes) -> HttpReply:
        transport = self._transport
        self.received = False
        self._bare = head.startswith(b"HEAD ")
        reply = self._reply = HttpReply(self, self._loop)
        if transport is None:
            reply.fail(ConnectionBroken("it was closed before a request was sent"))
        elif len(body) <= _ONE_WRITE:
            transport.write(head + body)
        else:
            transport.write(head)
            transport.write(body)
        return reply

    def abort(self) -> None:
        self._reply = self._framing = None
        self._stop_timer()
        self._reads.discard(self.resume)
        if self._transport is not None:
            self._transport.abort()

    def drain(self, reply: HttpReply) -> None:
        """Read and drop the rest of a reply, for a second at most."""
        if not self._keep:
            reply.close()
            return
        self.resume()
        self._timer = self._loop.call_later(DRAIN_SECONDS, reply.close)
        self._pool.on_draining(self, reply)

    def resume(self) -> None:
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def _pause(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    # --- called by the event loop -------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        raw: socket.socket | None = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._new_session = transport.get_extra_info("ssl_object")
        self._pool.on_open(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = self._buffer[:nbytes].tobytes()
        reply = self._reply
        if reply is None:  # bytes without a request
            self.abort()
            return
        try:
            if self._framing is None:
                data = self._open(reply, data)
                if self._framing is None:
                    return
            rest = self._framing.feed(data, reply.chunks)
        except NetworkError as fault:
            reply.fail(fault)
            return
        if rest is not None:
            self._finish(reply, clean=not rest)
        elif not reply.grow(len(data)):
            self._pause()
        elif self._reads.is_active and reply.shares_reads and nbytes < SMALL_READ:
            self._reads.hold(self.resume)
            self._pause()
        reply.wake()  # last: the task that reads continues at once, and may send the next request

    def eof_received(self) -> None:
        self._over(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over(exc)
        self._transport = None
        self._pool.on_lost(self)

    # --- reading a reply ----------------------------------------------------------------------------------------

    def _open(self, reply: HttpReply, data: bytes) -> bytes:
        """Read heads until one is final (not 1xx) and return the bytes that follow it."""
        self.received = True
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
                raise NotHttp("it switches to another protocol, or sends too many interim responses")
        check_start(data)
        self._head = data
        return b""

    def _finish(self, reply: HttpReply, clean: bool) -> None:
        """The reply is complete. The connection is reused only if nothing unexpected happened."""
        if self._timer is not None:
            self._stop_timer()
        self._reply = self._framing = None
        transport = self._transport
        if self._new_session is not None:
            if isinstance(context := self._new_session.context, ResumingContext):
                context.remember(self._new_session)
            self._new_session = None
        reply.end()
        if transport is None:
            return
        if self._paused:
            self.resume()
        if clean and self._keep and not transport.is_closing() and not transport.get_write_buffer_size():
            self._pool.on_idle(self)
        else:
            transport.abort()

    def _over(self, error: Exception | None) -> None:
        """The server sends no more bytes."""
        reply, framing = self._reply, self._framing
        if reply is None:
            self.abort()
        elif framing is not None and framing.ends_with_connection and error is None:
            self._finish(reply, clean=True)
            self._loop.call_soon(reply.wake)
        else:
            when = "in the middle of an answer" if self.received else "before an answer came"
            reply.fail(ConnectionBroken(f"it was closed {when}", error))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
