"""The one way out of a browser that looks at the web: each connection is checked, and what was checked is dialled.

A small forward proxy on loopback (RFC 9110: CONNECT, and requests in absolute form). It asks the rules for outgoing
requests about every name, so that redirects, parts of a page, frames and WebSockets all go through them. Time, bytes
and connections are limited.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from weft.tools.outcome import ToolFault
from weft.tools.web.outgoing import Outgoing
from weft.tools.web.target import Target, parse_target

MAX_BYTES = 100_000_000
MAX_CONNECTIONS = 600
_MAX_HEAD = 64 * 1024
_DIAL_SECONDS = 10.0
_HOP_BY_HOP = (b"connection", b"keep-alive", b"proxy-", b"te:", b"trailer", b"upgrade", b"host", b"expect")


class Proxy:
    """Serves one browser, from its first request to the host `first` on: what it wants before that is its own idea.

    `refused` says, for each host that was not let through, why.
    """

    def __init__(self, rules: Outgoing, first: str, *, max_bytes: int = MAX_BYTES) -> None:
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
    async def serving(self) -> AsyncGenerator["Proxy"]:
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
        except (OSError, ToolFault, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_DIAL_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        method, where, _ = line.decode("ascii").split(" ", 2)
        target = self._target(method, where)
        theirs, ours = await self._dial(target)
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await self._both_ways((reader, writer), (theirs, ours))
            else:
                ours.write(_request(method, target, fields))
                await self._both_ways((reader, writer), (theirs, ours), body=_length(fields))
        finally:
            ours.close()

    def _target(self, method: str, where: str) -> Target:
        target = parse_target(f"https://{where}/" if method == "CONNECT" else where)
        if self._first in ("", target.host):
            self._first = ""
            return target
        raise ToolFault("Nothing was asked for yet.")

    async def _dial(self, target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(_DIAL_SECONDS):
            try:
                addresses = await self._rules.checked(target)
            except ToolFault as fault:
                self.refused.setdefault(target.host, str(fault))
                raise
            for address in addresses[:-1]:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection(str(address), target.port)
            return await asyncio.open_connection(str(addresses[-1]), target.port)

    async def _both_ways(
        self,
        browser: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        body: int | None = None,
    ) -> None:
        """Pass bytes on until the server is done, or both are. Of a plain request only its body is passed on."""
        up = asyncio.create_task(self._pass_on(browser[0], server[1], body))
        try:
            await self._pass_on(server[0], browser[1], None)
        finally:
            up.cancel()
            await asyncio.gather(up, return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
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


def _request(method: str, target: Target, fields: bytes) -> bytes:
    """The request as the server itself gets it: origin form, the host that was checked, nothing meant for a proxy."""
    kept = [field for field in fields.split(b"\r\n") if field and not field.lower().startswith(_HOP_BY_HOP)]
    first = f"{method} {target.path} HTTP/1.1".encode("ascii")
    host = b"Host: " + target.url.partition("://")[2].partition("/")[0].encode("ascii")
    return b"\r\n".join([first, host, *kept, b"Connection: close", b"", b""])


def _length(fields: bytes) -> int:
    for field in fields.split(b"\r\n"):
        name, _, value = field.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return 0
