"""The proxy of one sandboxed command: reaches hosts by name that a gate lets through, and nothing else.

A connection is a tunnel (CONNECT) or one plain request in absolute form. TLS is not opened: the name in its ClientHello
must be the host of the tunnel. The host of a plain request must be that of its Host field, and one connection carries
one request, so that no second one can follow unchecked. Names are resolved here, once; a connection goes to an address
that was checked, so that a name that changes its answer gains nothing. Connections, bytes and idle time are limited.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from heald.tools.shell.network.client_hello import MAX_HELLO, ClientHello, NotTls, parse_client_hello
from heald.tools.shell.network.request_head import MAX_HEAD, BadRequest, ProxyRequest, parse_request_head
from heald.tools.tool_fault import ToolFault
from heald.tools.web.urls import Address, WebTarget

_MIB = 1024 * 1024
_PIECE = 64 * 1024
_MAX_LISTED = 20
"""Hosts that a report lists one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLimits:
    """Limits of the network of one command."""

    connections: int = 64
    """At the same time."""
    all_connections: int = 20_000
    bytes: int = 8192 * _MIB
    """In both directions together."""
    idle_seconds: float = 120.0
    """Without a byte in either direction."""
    head_seconds: float = 30.0
    """Until a request, or the first TLS message, is complete."""
    connect_seconds: float = 20.0


class HostGate(Protocol):
    """Decides which hosts a command may reach."""

    async def refusal(self, target: WebTarget) -> str | None:
        """Return why a host may not be reached, in one sentence, or None if it may. It may ask a person."""
        ...

    async def addresses(self, target: WebTarget) -> list[Address]:
        """Resolve a host and return its addresses, all of them checked. Raises ToolFault."""
        ...


class _Refused(Exception):
    def __init__(self, host: str, reason: str, status: str = "403 Forbidden") -> None:
        super().__init__(reason)
        self.host = host
        self.reason = reason
        self.status = status


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[str, int], Awaitable[Streams]]
"""Connects to an address and a port."""


async def dial_address(address: str, port: int) -> Streams:
    return await asyncio.open_connection(address, port, limit=MAX_HEAD)


class NetworkProxy:
    """Serves the connections of one command until it is closed. `report` says which hosts were reached and refused."""

    def __init__(
        self,
        gate: HostGate,
        limits: ProxyLimits | None = None,
        on_connection: Callable[[str, str | None], object] | None = None,
        dial: "Dial | None" = None,
    ) -> None:
        self._gate = gate
        self._limits = limits or ProxyLimits()
        self._on_connection = on_connection  # called with the host, and why it was refused
        self._dial = dial or dial_address
        self._listener: socket.socket | None = None
        self._loop = asyncio.get_running_loop()
        self._connections: set[asyncio.Task[None]] = set()
        self._accepted = 0
        self._bytes = 0
        self._allowed: Counter[str] = Counter()
        self._refused: dict[str, str] = {}

    def serve(self, listener: socket.socket) -> None:
        """Accept connections of a listening socket, which the proxy closes in the end."""
        listener.setblocking(False)
        self._listener = listener
        self._loop.add_reader(listener.fileno(), self._accept, listener)

    def close(self) -> None:
        """Close the listener and cut every connection."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.remove_reader(listener.fileno())
            listener.close()
        for task in self._connections:
            task.cancel()

    def report(self) -> list[str]:
        """Return a sentence about the hosts that were reached, and one about each host that was refused."""
        notes: list[str] = []
        if self._allowed:
            hosts = [f"{host} ({count})" for host, count in self._allowed.most_common(_MAX_LISTED)]
            more = f" and {len(self._allowed) - _MAX_LISTED} more hosts" if len(self._allowed) > _MAX_LISTED else ""
            notes.append(f"Network: connected to {', '.join(hosts)}{more}.")
        notes += [
            f"Network: {host} was refused. {reason}" for host, reason in list(self._refused.items())[:_MAX_LISTED]
        ]
        if len(self._refused) > _MAX_LISTED:
            notes.append(f"Network: {len(self._refused) - _MAX_LISTED} more hosts were refused.")
        return notes

    # --- connections --------------------------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, ConnectionError):  # it was closed before it was accepted
            return
        except OSError:  # there is no descriptor left: waiting for one would block everything else
            self.close()
            return
        self._accepted += 1
        if self._accepted > self._limits.all_connections:
            self.close()
        if len(self._connections) >= self._limits.connections or self._listener is None:
            connection.close()
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._serve(connection), name="heald-proxy-connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection, limit=MAX_HEAD)
        try:
            await self._answer((reader, writer))
            writer.close()  # sends what is buffered
            async with asyncio.timeout(self._limits.idle_seconds):
                await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # either side went away, was silent for too long, or sent too much
        finally:
            writer.transport.abort()

    async def _answer(self, client: Streams) -> None:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                request = await _read_head(client[0])
            server = await self._open(request)
        except _Refused as refused:
            self._note_refusal(refused)
            _refuse(client[1], refused)
            return
        try:
            if request.is_tunnel:
                await self._tunnel(client, server, request)
            else:
                await self._forward(client, server, request)
        except _Refused as refused:
            self._note_refusal(refused)
        finally:
            server[1].transport.abort()

    async def _open(self, request: ProxyRequest) -> Streams:
        """Ask the gate and connect to the host of a request."""
        target = request.target
        reason = await self._gate.refusal(target)
        if reason is not None:
            raise _Refused(_place(target), reason)
        try:
            addresses = await self._gate.addresses(target)
        except ToolFault as fault:
            raise _Refused(_place(target), str(fault), "502 Bad Gateway") from None
        self._allowed[_place(target)] += 1
        if self._on_connection is not None and self._allowed[_place(target)] == 1:
            self._on_connection(_place(target), None)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.connect_seconds):
                for address in addresses:
                    with suppress(OSError):
                        return await self._dial(str(address), target.port)
        raise _Refused(_place(target), "The host did not accept the connection.", "504 Gateway Timeout")

    def _note_refusal(self, refused: _Refused) -> None:
        if refused.host in self._refused or len(self._refused) > 1000:
            return
        self._refused[refused.host] = refused.reason
        if self._on_connection is not None:
            self._on_connection(refused.host, refused.reason)

    # --- tunnels ------------------------------------------------------------------------------------------------------

    async def _tunnel(self, client: Streams, server: Streams, request: ProxyRequest) -> None:
        host = request.target.host
        client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with asyncio.timeout(self._limits.head_seconds):
            first, hello = await _read_hello(client[0], _place(request.target))
        if hello.is_encrypted:
            raise _Refused(_place(request.target), "Its TLS ClientHello is encrypted, so that its host cannot be seen.")
        literal = request.target.address is not None
        if hello.server_name != ("" if literal else host):
            named = f"names {hello.server_name[:100]!r}" if hello.server_name else "names no host"
            raise _Refused(_place(request.target), f"The TLS connection {named}; it must name {host}.")
        server[1].write(first)
        self._count(len(first))
        await self._relay_both(self._relay(client[0], server[1]), self._relay(server[0], client[1]))

    # --- plain requests -----------------------------------------------------------------------------------------------

    async def _forward(self, client: Streams, server: Streams, request: ProxyRequest) -> None:
        server[1].write(request.forwarded_head())
        await self._relay_both(self._send_body(client[0], server[1], request), self._send_answer(server[0], client[1]))

    async def _send_body(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: ProxyRequest
    ) -> None:
        """Send the body of the one request, and nothing that follows it."""
        if request.is_chunked:
            await self._send_chunks(reader, writer)
        left = request.length
        while left:
            piece = await self._read(reader, min(left, _PIECE))
            if not piece:
                raise ConnectionError
            left -= len(piece)
            writer.write(piece)
            await writer.drain()

    async def _send_chunks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            line = await self._line(reader)
            digits = line.partition(b";")[0].strip()
            if not 0 < len(digits) <= 8 or digits.strip(b"0123456789abcdefABCDEF"):
                raise ConnectionError
            size = int(digits, 16)
            if size == 0:
                break
            writer.write(b"%x\r\n" % size)
            while size:
                piece = await self._read(reader, min(size, _PIECE))
                if not piece:
                    raise ConnectionError
                size -= len(piece)
                writer.write(piece)
                await writer.drain()
            writer.write(b"\r\n")
            if await self._line(reader) != b"":
                raise ConnectionError
        while await self._line(reader):
            pass  # trailers are dropped
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _line(self, reader: asyncio.StreamReader) -> bytes:
        async with asyncio.timeout(self._limits.idle_seconds):
            line = await reader.readuntil(b"\r\n")
        self._count(len(line))
        return line[:-2]

    async def _send_answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay the answer. Its head says that the connection ends with it."""
        while True:
            async with asyncio.timeout(self._limits.idle_seconds):
                head = await reader.readuntil(b"\r\n\r\n")
            status = head[9:12]
            if status == b"101" or not head.startswith(b"HTTP/1."):
                raise ConnectionError
            if not status.startswith(b"1"):
                break
            writer.write(head)
            await writer.drain()
        lines = [line for line in head[:-4].split(b"\r\n") if not line.lower().startswith(_CONNECTION_FIELDS)]
        writer.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        await self._relay(reader, writer)
        raise _AnswerEnded

    # --- relaying -----------------------------------------------------------------------------------------------------

    async def _relay_both(self, *directions: Coroutine[Any, Any, None]) -> None:
        """Run both directions until both have ended, one fails, or the answer of a plain request has ended."""
        tasks = [asyncio.ensure_future(direction) for direction in directions]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if (error := task.exception()) is not None and not isinstance(error, _AnswerEnded):
                    raise error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await self._read(reader, _PIECE):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            with suppress(OSError):
                writer.write_eof()

    async def _read(self, reader: asyncio.StreamReader, size: int) -> bytes:
        while True:
            before = self._bytes
            try:
                async with asyncio.timeout(self._limits.idle_seconds):
                    piece = await reader.read(size)
            except TimeoutError:
                if self._bytes == before:  # nothing moves in the other direction either
                    raise
                continue
            self._count(len(piece))
            return piece

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._limits.bytes:
            self.close()
            raise ConnectionError


class _AnswerEnded(Exception):
    """The answer of a plain request is complete."""


_CONNECTION_FIELDS = (b"connection:", b"keep-alive:", b"proxy-connection:", b"upgrade:")


def _place(target: WebTarget) -> str:
    """The host, with its port unless that is the usual one."""
    return target.host if target.port in (80, 443) else target.authority


async def _read_head(reader: asyncio.StreamReader) -> ProxyRequest:
    head = await reader.readuntil(b"\r\n\r\n")
    try:
        return parse_request_head(head[:-4])
    except BadRequest as error:
        raise _Refused("a malformed request", f"The proxy refused it: {error}.", "400 Bad Request") from None
    except ToolFault as fault:
        raise _Refused("an invalid host", str(fault), "400 Bad Request") from None


async def _read_hello(reader: asyncio.StreamReader, place: str) -> tuple[bytes, ClientHello]:
    data = b""
    while len(data) <= MAX_HELLO:
        piece = await reader.read(_PIECE)
        if not piece:
            raise ConnectionError
        data += piece
        try:
            hello = parse_client_hello(data)
        except NotTls as error:
            raise _Refused(place, f"A tunnel must carry TLS, and {error}.") from None
        if hello is not None:
            return data, hello
    raise ConnectionError


def _refuse(writer: asyncio.StreamWriter, refused: _Refused) -> None:
    text = f"Heald: {refused.host} was refused. {refused.reason}\n".encode("utf-8", "replace")
    head = f"HTTP/1.1 {refused.status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(text)}\r\n"
    writer.write(head.encode() + b"Connection: close\r\n\r\n" + text)
