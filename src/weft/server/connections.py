"""Bounds the connections of a server, so that clients without a token cannot use up its descriptors or its time.

A connection is unknown until a request on it was authenticated. Of unknown ones only a number is kept: a further one
closes the one that has waited longest of the address with most of them, so a client that sends its request at once is
answered. Heads and bodies have a time limit, and bodies of known clients a minimum rate. A client that reads slowly is
served as long as it reads.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0
"""For the head of each request of a connection, the first included."""
BODY_SECONDS = 10.0
"""For the whole body of an unknown client, and for each `BODY_BYTES` of a known one."""
BODY_BYTES = 10 * 1024
UNREAD_SECONDS = 2.0
"""For the rest of a body whose response is complete."""
ACCEPTS_PER_TICK = 16
"""Connections accepted before those accepted earlier are read. Some ticks pass until a new one is read, and until then
further ones must not close it: see `MIN_UNKNOWN`."""
MIN_UNKNOWN = 16 * ACCEPTS_PER_TICK
WAITING_CONNECTIONS = 2048
"""Connections that the kernel holds until they are accepted."""
_DESCRIPTORS = 1024
_REPEAT_SECONDS = 10.0

_log = logging.getLogger("weft.server.connections")


def raise_descriptor_limit() -> None:
    """Use as many descriptors as the system grants this process; shells start programs with fewer."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def descriptor_limit() -> int:
    try:
        import resource
    except ImportError:
        return _DESCRIPTORS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft > 0 else 1_000_000  # RLIM_INFINITY


@dataclass(eq=False, slots=True)
class Connection:
    """One client's connection, whichever protocol it speaks."""

    table: "ConnectionTable"
    transport: asyncio.Transport
    address: str
    deadline: float | None
    """When the client must have sent what the server waits for; None while it waits for nothing."""
    is_known: bool = False

    def authenticate(self) -> bool:
        """Count the connection as a known client's. False if there are too many of those."""
        return self.table.promote(self)

    def close(self) -> None:
        """Forget a connection that is closed."""
        self.table.discard(self)

    @property
    def unaccepted(self) -> int:
        """Bytes that were written and that the client's machine has not accepted yet."""
        return self.transport.get_write_buffer_size() + _queued_bytes(self.transport)


def _queued_bytes(transport: asyncio.Transport) -> int:
    """Bytes that the kernel holds until the other side accepts them; 0 where it does not tell."""
    try:
        import fcntl
        import termios
    except ImportError:  # Windows
        return 0
    count = bytearray(4)
    try:
        fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, count)
    except (OSError, ValueError):  # ValueError: the connection is closed
        return 0
    return int.from_bytes(count, sys.byteorder)


class Patience:
    """Waits for a client that reads slowly, as long as it reads at all.

    A batch of events is far more than a slow line carries in the time limit. A client that was disconnected there would
    ask for the same batch for ever.
    """

    def __init__(self, scope: Scope, seconds: float) -> None:
        self._seconds = seconds
        self._connection: Connection | None = scope.get("state", {}).get("connection")
        """None under other servers, which do not show what was accepted."""

    async def send(self, send: Callable[[], Awaitable[None]]) -> None:
        """Send something. Raises `TimeoutError` once the client has accepted nothing for the time limit.

        `send` is called a second time if it was cancelled while it waited; it has sent nothing then.
        """
        connection = self._connection
        while True:
            before = connection.unaccepted if connection is not None else 0
            try:
                async with asyncio.timeout(self._seconds):
                    await send()
                return
            except TimeoutError:
                if connection is None or connection.unaccepted >= before:
                    raise


class ConnectionTable:
    """All connections of a server."""

    def __init__(self, known: int, unknown: int, clock: Callable[[], float] = monotonic) -> None:
        self.max_known = known
        self.max_unknown = unknown
        self.clock = clock
        self._known: dict[Connection, None] = {}
        self._unknown: dict[Connection, None] = {}
        self._by_address: dict[str, dict[Connection, None]] = {}
        """The unknown ones, oldest first."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    @classmethod
    def from_descriptors(cls, known: int | None = None) -> "ConnectionTable":
        """Half of the descriptors are for known clients, a quarter for unknown ones, the rest for the server itself."""
        descriptors = descriptor_limit()
        return cls(known or max(8, descriptors // 2), min(1024, max(MIN_UNKNOWN, descriptors // 4)))

    def __len__(self) -> int:
        return len(self._known) + len(self._unknown)

    def open(self, transport: asyncio.Transport) -> Connection:
        """Add a new connection, and close an older one if there are too many unknown ones."""
        peer: tuple[str, int] | None = transport.get_extra_info("peername")
        address = peer[0] if peer else ""
        connection = Connection(self, transport, address, self.clock() + HEAD_SECONDS)
        self._unknown[connection] = None
        self._by_address.setdefault(address, {})[connection] = None
        if self._is_stopped:
            self._abort(connection)
        elif len(self._unknown) > self.max_unknown:
            group = max(self._by_address.values(), key=len)
            self._abort(next((each for each in group if each.deadline is not None), next(iter(group))))
        return connection

    def promote(self, connection: Connection) -> bool:
        if connection.is_known:
            return True
        if len(self._known) >= self.max_known:
            return False
        if connection in self._unknown:
            self.discard(connection)
            self._known[connection] = None
            connection.is_known = True
        return True

    def discard(self, connection: Connection) -> None:
        self._known.pop(connection, None)
        if connection in self._unknown:
            del self._unknown[connection]
            group = self._by_address[connection.address]
            del group[connection]
            if not group:
                del self._by_address[connection.address]

    def _abort(self, connection: Connection) -> None:
        self.discard(connection)
        connection.transport.abort()

    def close_late(self) -> None:
        """Close the connections whose client is too slow."""
        now = self.clock()
        for connection in [*self._unknown, *self._known]:
            if connection.deadline is not None and connection.deadline < now:
                self._abort(connection)

    def start(self) -> None:
        """Close late connections every second, until `stop`."""
        self.close_late()
        self._timer = asyncio.get_running_loop().call_later(1.0, self.start)

    def stop(self) -> None:
        """Close the unknown connections, and those that still come: nothing is lost with them."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        for connection in [*self._unknown]:
            self._abort(connection)


class BoundedHttp(H11Protocol):
    """An HTTP connection that belongs to a table, and keeps its deadline current."""

    def __init__(self, table: ConnectionTable, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._table = table
        self._body_bytes = 0
        self._is_answered = False
        """The response is complete, and the rest of its request is still to come."""
        self._is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._connection = self._table.open(transport)
        self.app_state = self.app_state | {
            "abort_connection": transport.abort,
            "body_writer": ChunkWriter(self),
            "connection": self._connection,
        }
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.close()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self.conn.their_state
        super().data_received(data)
        self._body_bytes += len(data)
        if not self._is_upgraded:
            self._set_deadline(before)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        super().handle_websocket_upgrade(event)
        self._is_upgraded = True
        self._connection.deadline = None  # a socket sends when it likes, and has limits of its own

    def on_response_complete(self) -> None:
        before = self.conn.their_state
        self._is_answered = before is h11.SEND_BODY
        super().on_response_complete()
        if self._is_answered:
            self._connection.deadline = self._table.clock() + UNREAD_SECONDS
        else:
            self._set_deadline(h11.DONE)

    def _set_deadline(self, before: type[h11.IDLE] | Any) -> None:
        """Follow the state of the request: head, body, or complete."""
        connection, now = self._connection, self._table.clock()
        state = self.conn.their_state
        if state is h11.IDLE:
            self._is_answered = False
            if not self.conn.trailing_data[0]:
                connection.deadline = None  # between requests: the time limit for kept connections applies
            elif before is not h11.IDLE or connection.deadline is None:
                connection.deadline = now + HEAD_SECONDS
        elif state is not h11.SEND_BODY:
            connection.deadline = None
        elif self._is_answered:
            return
        elif before is not h11.SEND_BODY or self._is_reading_paused or self._has_brought_enough:
            self._body_bytes = 0
            connection.deadline = now + BODY_SECONDS

    @property
    def _is_reading_paused(self) -> bool:
        return self.flow.read_paused  # the server is slow, not the client

    @property
    def _has_brought_enough(self) -> bool:
        return self._connection.is_known and self._body_bytes >= BODY_BYTES


class ChunkWriter:
    """Writes parts of the current response's body, past ASGI and h11: for streams that write many times a second."""

    def __init__(self, protocol: BoundedHttp) -> None:
        self._protocol = protocol

    @property
    def is_ready(self) -> bool:
        """Whether a response has begun, and its client reads what was written."""
        protocol = self._protocol
        cycle = protocol.cycle
        return (
            cycle is not None  # pyright: ignore[reportUnnecessaryComparison]
            and cycle.response_started
            and not cycle.response_complete
            and not cycle.disconnected
            and not protocol.flow.write_paused
        )

    def write(self, body: bytes) -> None:
        """Write a part of the body as a chunk (RFC 9112, section 7.1)."""
        self._protocol.transport.write(b"%x\r\n%b\r\n" % (len(body), body))


class RepeatFilter:
    """Lets a line through once in a while, and counts those between."""

    def __init__(self, seconds: float = _REPEAT_SECONDS, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next: dict[str, float] = {}
        self._omitted: dict[str, int] = {}

    def allows(self, line: str) -> int | None:
        """The number of equal lines that were left out before this one; None if this one is left out."""
        now = self._clock()
        if now < self._next.get(line, 0.0):
            self._omitted[line] = self._omitted.get(line, 0) + 1
            return None
        if len(self._next) > 1000:
            self._next.clear()
        self._next[line] = now + self._seconds
        return self._omitted.pop(line, 0)


def log_loop_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Log what fails inside the event loop, each kind once in a while: running out of descriptors repeats for ever."""
    repeats = RepeatFilter()

    def on_error(_: asyncio.AbstractEventLoop, details: dict[str, Any]) -> None:
        error: BaseException | None = details.get("exception")
        message = f"{details.get('message', 'The event loop failed')} ({error!r})"
        omitted = repeats.allows(message)
        if omitted is not None:
            _log.error("%s; %d more of these since the last line.", message, omitted, exc_info=error)

    loop.set_exception_handler(on_error)
