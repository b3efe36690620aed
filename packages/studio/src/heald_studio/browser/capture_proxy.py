"""A proxy with the rules for outgoing requests: the only address that a capturing browser reaches.

It is a small forward proxy on loopback (RFC 9110: CONNECT, and requests in absolute form). It checks every host, also
those of redirects, parts of a page, frames and WebSockets, dials the address that it checked, and limits time, bytes
and connections.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald.tools.web.urls import WebTarget, parse_target

MAX_BYTES = 100_000_000
MAX_CONNECTIONS = 600
_MAX_HEAD = 64 * 1024
_DIAL_SECONDS = 10.0
_HOP_BY_HOP = (b"connection", b"keep-alive", b"proxy-", b"te:", b"trailer", b"upgrade", b"host", b"expect")


_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CaptureProxy:
    """The proxy of one browser. Requests before the first one to the host `first` are the browser's own and refused.

    `refused` holds the reason for each refused host.
    """

    def __init__(self, rules: WebFetcher, first: str, *, max_bytes: int = MAX_BYTES) -> None:
        self.port = 0
        self.refused: dict[str, str] = {}
        self.exceeded = asyncio.Event()
        self._rules = rules
        self._first = first
        self._left = max_bytes
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["CaptureProxy"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MAX_HEAD)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            self._connections += 1
            if self._connections <= MAX_CONNECTIONS:
                await self._serve(reader, writer)
        except (OSError, ToolFault, ValueError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_DIAL_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        method, where, _ = line.decode("ascii").split(" ", 2)
        target = parse_target(f"https://{where}/" if method == "CONNECT" else where)
        if self._first not in ("", target.host):
            return
        self._first = ""
        theirs, ours = await self._dial(target)
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await self._relay((reader, writer), (theirs, ours))
            else:
                ours.write(_request(method, target, fields))
                await self._relay((reader, writer), (theirs, ours), body=_length(fields))
        finally:
            ours.close()

    async def _dial(self, target: WebTarget) -> _Streams:
        async with asyncio.timeout(_DIAL_SECONDS):
            try:
                addresses = await self._rules.checked_addresses(target)
            except ToolFault as fault:
                self.refused.setdefault(target.host, str(fault))
                raise
            for address in addresses[:-1]:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection(str(address), target.port)
            return await asyncio.open_connection(str(addresses[-1]), target.port)

    async def _relay(self, browser: _Streams, server: _Streams, body: int | None = None) -> None:
        """Copy bytes both ways until the server is done. Of a plain request only the body is copied."""
        up = asyncio.create_task(self._copy_stream(browser[0], server[1], body))
        try:
            await self._copy_stream(server[0], browser[1], None)
        finally:
            up.cancel()
            await asyncio.gather(up, return_exceptions=True)

    async def _copy_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
        left = self._left if most is None else most
        while left > 0:
            chunk = await reader.read(min(65536, left))
            if not chunk:
                break
            left -= len(chunk) if most is not None else 0
            self._left -= len(chunk)
            if self._left < 0:
                self.exceeded.set()
                break
            writer.write(chunk)
            await writer.drain()
        if most is None and writer.can_write_eof():
            with contextlib.suppress(OSError):
                writer.write_eof()


def _request(method: str, target: WebTarget, fields: bytes) -> bytes:
    """Return the request in origin form, with the checked host and without fields for a proxy."""
    forwarded = [field for field in fields.split(b"\r\n") if field and not field.lower().startswith(_HOP_BY_HOP)]
    first = f"{method} {target.path} HTTP/1.1".encode("ascii")
    host = b"Host: " + target.url.partition("://")[2].partition("/")[0].encode("ascii")
    return b"\r\n".join([first, host, *forwarded, b"Connection: close", b"", b""])


def _length(fields: bytes) -> int:
    for field in fields.split(b"\r\n"):
        name, _, value = field.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return 0
