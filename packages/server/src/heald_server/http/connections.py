"""Bounds the connections of a server, so that clients without a token cannot use up its descriptors or its time.

A connection is unknown until a request on it was authenticated. Of unknown ones only a number is kept: a further one
closes the one that has waited longest of the address with most of them, so a client that sends its request at once is
answered. Heads and bodies have a time limit, and bodies of known clients a minimum rate. A client that reads slowly is
served as long as it reads.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from heald_server.http.descriptors import descriptor_limit

HEAD_SECONDS = 15.0
"""For the head of each request of a connection, the first included."""

ACCEPTS_PER_TICK = 16
"""Connections accepted before those accepted earlier are read. Some ticks pass until a new one is read, and until then
further ones must not close it: see `MIN_UNKNOWN`."""
MIN_UNKNOWN = 16 * ACCEPTS_PER_TICK
WAITING_CONNECTIONS = 2048
"""Connections that the kernel holds until they are accepted."""


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
    """Bytes that the kernel holds until the other side accepts them; 0 where that is not known."""
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


class ConnectionTable:
    """All connections of a server."""

    def __init__(self, max_known: int, max_unknown: int, clock: Callable[[], float] = monotonic) -> None:
        self.max_known = max_known
        self.max_unknown = max_unknown
        self.clock = clock
        self._known: dict[Connection, None] = {}
        self._unknown: dict[Connection, None] = {}
        self._by_address: dict[str, dict[Connection, None]] = {}
        """The unknown ones, oldest first."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    @classmethod
    def from_descriptors(cls, max_known: int | None = None) -> "ConnectionTable":
        """Half of the descriptors are for known clients, a quarter for unknown ones, the rest for the server itself."""
        descriptors = descriptor_limit()
        return cls(max_known or max(8, descriptors // 2), min(1024, max(MIN_UNKNOWN, descriptors // 4)))

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
            self._abort(next((candidate for candidate in group if candidate.deadline is not None), next(iter(group))))
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
