"""Notices that go directly from the node that writes a session to the nodes that read it.

A notice of the database wakes all its listeners, each in a transaction of its own, and commits with notices wait for
one another. So a node opens a port, and announces it together with its readers. Where all readers of a session are at
such ports, its events go there after their commit, and the database sends no notice.

The port is at the address by which the database knows the node, and is opened only where the connection to the database
is not encrypted either. Whoever connects says the secret that the node has announced through the database. The database
stays the truth: when a link breaks, its writer repeats the last notices of all its sessions by the database, and its
reader reads whatever it watches.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable, Sequence
from hmac import compare_digest
from secrets import token_hex
from time import monotonic

from heald.core.json import encode
from heald_nodes.postgres.driver import PostgresConnection, asyncpg
from heald_nodes.postgres.notices import Appended, Notice

_WELCOME = b"heald\n"
_GREETING_SECONDS = 2.0
"""How long either side waits for the words of the other one."""
_RETRY_SECONDS = 10.0
"""A port that could not be reached is not tried again before that."""
_UNHEARD_MS = 2000
"""A link whose bytes are not acknowledged for so long is broken, though nobody has closed it."""
_MOST_UNSENT = 1024 * 1024
"""Bytes that may wait for a node that does not read."""
_LONGEST_LINE = 4 * 1024 * 1024
_LONGEST_SECRET = 200
_MOST_SESSIONS = 1000
"""Sessions of a link whose last notices are repeated when it breaks."""
_HOST = """SELECT coalesce(host(inet_client_addr()), '127.0.0.1') FROM pg_stat_ssl
    WHERE pid = pg_backend_pid() AND NOT ssl"""
"""The address of this node as the database sees it, if the connection is not encrypted."""
_log = logging.getLogger("heald.store")


class LinkPort:
    """Takes notices from other nodes."""

    def __init__(self, on_line: Callable[[bytes], object], on_lost: Callable[[], object]) -> None:
        """`on_line` is called with each notice, `on_lost` when notices of a node that was connected may be missing."""
        self.on_line = on_line
        self.on_lost = on_lost
        self.secret = token_hex(16).encode()
        self.address = ""
        """What other nodes need to connect: host, port and secret. Empty if the port is not open."""
        self._server: asyncio.Server | None = None
        self._inbound: set[_Inbound] = set()

    async def open(self, host: str) -> None:
        """Open the port, unless `host` is not an address of this machine, as behind a translation of addresses."""
        try:
            self._server = await asyncio.get_running_loop().create_server(lambda: _Inbound(self), host, 0)
        except OSError as error:
            _log.debug("no port for other nodes at %s (%s)", host, type(error).__name__)
            return
        port = self._server.sockets[0].getsockname()[1]
        self.address = f"{host} {port} {self.secret.decode()}"

    def close(self) -> None:
        self.address = ""
        if self._server is not None:
            self._server.close()
        for inbound in list(self._inbound):
            inbound.abort()

    def add(self, inbound: "_Inbound") -> None:
        self._inbound.add(inbound)

    def remove(self, inbound: "_Inbound", *, is_accepted: bool) -> None:
        self._inbound.discard(inbound)
        if is_accepted and self.address:
            self.on_lost()


class _Inbound(asyncio.Protocol):
    """A connection of another node."""

    def __init__(self, port: LinkPort) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._is_accepted = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(_GREETING_SECONDS, self.abort)
        self._port.add(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not self._is_accepted and lines:
            self._greet(lines.pop(0))
        if not self._is_accepted:
            if len(self._rest) > _LONGEST_SECRET:
                self.abort()
            return
        if len(self._rest) > _LONGEST_LINE:
            self.abort()
        for line in lines:
            self._port.on_line(line)

    def _greet(self, secret: bytes) -> None:
        if self._transport is None or not compare_digest(secret, self._port.secret):
            self.abort()
            return
        self._is_accepted = True
        if self._timer is not None:
            self._timer.cancel()
        self._transport.write(_WELCOME)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._port.remove(self, is_accepted=self._is_accepted)


class _Outbound(asyncio.Protocol):
    """The connection to the port of another node."""

    def __init__(self, secret: str, on_lost: Callable[[], object]) -> None:
        self._secret = secret
        self._on_lost = on_lost
        self._heard = b""
        self._transport: asyncio.Transport | None = None
        self.is_lost = False
        self.welcomed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        option = getattr(socket, "TCP_USER_TIMEOUT", None)
        if option is not None:
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, option, _UNHEARD_MS)
        transport.write(self._secret.encode() + b"\n")

    def data_received(self, data: bytes) -> None:
        self._heard += data[: len(_WELCOME)]
        if self._heard == _WELCOME and not self.welcomed.done():
            self.welcomed.set_result(None)

    def send(self, line: bytes) -> None:
        assert self._transport is not None
        self._transport.write(line)
        if self._transport.get_write_buffer_size() > _MOST_UNSENT:
            self.abort()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        if not self.welcomed.done():
            self.welcomed.set_exception(exc or ConnectionResetError())
            self.welcomed.exception()  # whoever waits for it may have given up
        self._on_lost()


class NodeLinks:
    """The connections of a writer to the ports of other nodes, which are opened when they are first needed."""

    def __init__(self, on_broken: Callable[[Sequence[Appended]], object]) -> None:
        """`on_broken` is called with the last appends of all sessions of a link that broke."""
        self._on_broken = on_broken
        self._links: dict[str, _Outbound] = {}
        self._sent: dict[str, dict[str, Appended]] = {}  # by address and session, the last append
        self._connecting: dict[str, asyncio.Task[None]] = {}
        self._retries: dict[str, float] = {}
        self._is_closed = False

    def has(self, address: str) -> bool:
        """Whether there is a link to a port. If not, it is opened for later."""
        if address in self._links:
            return True
        if address not in self._connecting and self._retries.get(address, 0.0) <= monotonic() and not self._is_closed:
            self._connecting[address] = asyncio.create_task(self._connect(address), name="heald-link")
        return False

    def send(self, address: str, notice: Notice) -> bool:
        """Send a notice of appends. Returns False if the link is gone."""
        link = self._links.get(address)
        if link is None:
            return False
        sent = self._sent[address]
        for appended in notice.e:
            sent.pop(appended[0], None)
            sent[appended[0]] = appended
        while len(sent) > _MOST_SESSIONS:
            del sent[next(iter(sent))]
        link.send(encode(notice) + b"\n")
        return True

    async def close(self) -> None:
        self._is_closed = True
        for task in self._connecting.values():
            task.cancel()
        if self._connecting:
            await asyncio.wait(list(self._connecting.values()))
        links, self._links = self._links, {}
        for link in links.values():
            link.abort()
        await asyncio.sleep(0)  # their sockets are closed then

    async def _connect(self, address: str) -> None:
        link: _Outbound | None = None
        try:
            host, port, secret = address.split(" ")
            async with asyncio.timeout(_GREETING_SECONDS):
                _, link = await asyncio.get_running_loop().create_connection(
                    lambda: _Outbound(secret, lambda: self._remove(address)), host, int(port)
                )
                await link.welcomed
            if not link.is_lost:
                self._sent[address], self._links[address] = {}, link
                link = None
        except (OSError, TimeoutError, ValueError) as error:
            _log.debug("no link to another node (%s)", type(error).__name__)
            self._forget_retries()
            self._retries[address] = monotonic() + _RETRY_SECONDS
        finally:
            if link is not None:
                link.abort()
            del self._connecting[address]

    def _forget_retries(self) -> None:
        now = monotonic()
        self._retries = {address: until for address, until in self._retries.items() if until > now}

    def _remove(self, address: str) -> None:
        if self._links.pop(address, None) is None:
            return  # it was not in use
        self._retries[address] = monotonic() + _RETRY_SECONDS
        self._on_broken(list(self._sent.pop(address, {}).values()))


def notices_of(entries: Iterable[tuple[Appended, int, str | None]]) -> Notice:
    """Return a notice of appends, given with the first of their events and their rows, if it carries them."""
    listed = list(entries)
    return Notice(
        e=[appended for appended, _, _ in listed],
        d=[(appended[0], appended[1], first, rows) for appended, first, rows in listed if rows is not None],
    )


async def open_port(connection: PostgresConnection, port: LinkPort) -> None:
    """Open a port where the database says that this node is. Without one, notices go by the database."""
    try:
        host: str | None = await connection.fetchval(_HOST)
    except asyncpg.PostgresError as error:  # a database that only resembles PostgreSQL
        _log.debug("no port for other nodes (%s)", type(error).__name__)
        return
    if host is not None:
        await port.open(host)
