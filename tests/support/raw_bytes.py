"""Bytes on a socket, without a library that would mend them."""

import asyncio
import base64
import os
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from serving_parts import TOKEN, Served

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, mask: bytes | None = None, bits: int = 0) -> bytes:
    """One WebSocket frame as a client sends it."""
    key = os.urandom(4) if mask is None else mask
    size = len(payload)
    head = bytes([(0x80 if fin else 0) | bits | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += bytes([0x80 | 126]) + struct.pack("!H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", size)
    if not any(key):
        return head + key + payload
    return head + key + bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


class Raw:
    """A connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.head = b""
        """What the server answered to an upgrade."""

    async def send(self, data: bytes) -> bool:
        """False if the other side has gone."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError:
            return False
        return not self.writer.is_closing()

    async def rest(self, seconds: float = 10.0) -> bytes:
        """All that comes until the other side closes, or for so long."""
        got = b""
        try:
            async with asyncio.timeout(seconds):
                while piece := await self.reader.read(65536):
                    got = (got + piece)[-1_000_000:]
        except (TimeoutError, ConnectionError):
            pass
        return got

    async def close_code(self, seconds: float = 10.0) -> int | None:
        """The code of the close frame that comes, None if there is none."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    first, second = await self.reader.readexactly(2)
                    size = second & 0x7F
                    if size == 126:
                        (size,) = struct.unpack("!H", await self.reader.readexactly(2))
                    elif size == 127:
                        (size,) = struct.unpack("!Q", await self.reader.readexactly(8))
                    payload = await self.reader.readexactly(size)
                    if first & 0x0F == CLOSE:
                        return struct.unpack("!H", payload[:2])[0] if size >= 2 else 1005
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
            return None


@asynccontextmanager
async def raw(server: Served) -> AsyncGenerator[Raw]:
    """A connection, with nothing said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.context.settings.port)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def raw_socket(server: Served, path: str = "/ws", *, more: str = "", token: str = TOKEN) -> AsyncGenerator[Raw]:
    """A WebSocket that was let in."""
    async with raw(server) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        await connection.send(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.context.settings.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {token}\r\n{more}\r\n".encode()
        )
        head = await connection.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        connection.head = head
        yield connection


def resident() -> int:
    """Bytes of memory that this process has, now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
