"""Clients that only listen, thousands of them in one process, at the least cost: raw sockets, no parser.

Of what arrives they look for one thing, the time that each event says it was made, and take the difference to now.
"""

import asyncio
import re
from time import time
from urllib.parse import urlsplit

_TIMES = re.compile(rb'"type":"(\w+)","layer":"\w+","time":([0-9.]+)')
_KEEP = 400
"""Bytes that may hold the beginning of an event whose end is still to come."""
_PING = b"\x89\x04"
"""A ping with four bytes, as the server sends it. No other byte above 127 comes, but for lengths."""
_PONG = b"\x8a\x84\0\0\0\0"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
)


class Listener(asyncio.Protocol):
    """One connection. `lags` are in seconds, one an event."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._rest = b""
        self._began = False
        self.lags: list[float] = []
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time()
        if not self._began:
            self._begin(data)
        ping = data.find(_PING)
        if ping >= 0 and self.transport is not None:
            self.transport.write(_PONG + data[ping + 2 : ping + 6])
        data = self._rest + data
        end = 0
        for match in _TIMES.finditer(data):
            end = match.end()
            self.lags.append(now - float(match[2]))
            if match[1] == b"exchange_response" and not self.over.done():
                self.over.set_result(None)
        self._rest = data[max(end, len(data) - _KEEP) :]

    def _begin(self, data: bytes) -> None:
        self._began = True
        status = data.split(b" ", 2)[1]
        if status not in (b"200", b"101"):
            self.open.set_exception(RuntimeError(data[:300].decode()))
        else:
            self.open.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        for waiting in (self.open, self.over):
            if not waiting.done():
                waiting.cancel()


async def listen(url: str, path: str, token: str = "", *, upgrade: bool = False) -> Listener:
    """Connect, and wait until the server has answered."""
    address = urlsplit(url)
    head = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
    request = f"{head}{UPGRADE if upgrade else ''}\r\n".encode()
    loop = asyncio.get_running_loop()
    host, port = address.hostname or "127.0.0.1", address.port or 80
    _, listener = await loop.create_connection(lambda: Listener(request), host, port)
    await listener.open
    return listener


async def listen_all(url: str, paths: list[tuple[str, bool]], token: str = "", at_once: int = 50) -> list[Listener]:
    """Many, some at a time."""
    listeners: list[Listener] = []
    for start in range(0, len(paths), at_once):
        some = paths[start : start + at_once]
        listeners += await asyncio.gather(*(listen(url, path, token, upgrade=upgrade) for path, upgrade in some))
    return listeners


def disconnect_all(listeners: list[Listener]) -> None:
    for listener in listeners:
        if listener.transport is not None:
            listener.transport.abort()
