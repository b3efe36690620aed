"""A proxy that lets bytes through until it cuts: connections end in the middle of anything."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress


class CuttingProxy:
    """Cuts each connection after a random number of bytes from the server, as long as cuts are left."""

    def __init__(self, *, cuts: int, longest: int, seed: int) -> None:
        self.cuts = cuts
        """How many are still to come."""
        self.made = 0
        """How many there were."""
        self.port = 0
        self.to = 0
        """The server's port."""
        self._longest = longest
        self._random = random.Random(seed)
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut_all(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.to)
        both = (writer, there_writer)
        self._open.update(both)
        left = self._random.randrange(1, self._longest) if self.cuts > 0 else None
        up = asyncio.create_task(_pour(reader, there_writer))
        try:
            with suppress(ConnectionError):
                while data := await there_reader.read(4096):
                    if left is not None and self.cuts > 0 and len(data) >= left:
                        writer.write(data[:left])
                        await writer.drain()
                        self.cuts -= 1
                        self.made += 1
                        break
                    left = left - len(data) if left is not None else None
                    writer.write(data)
                    await writer.drain()
        finally:
            up.cancel()
            for side in both:
                self._open.discard(side)
                side.transport.abort()
            await asyncio.wait([up])


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def cutting(*, cuts: int, longest: int = 6000, seed: int = 0) -> AsyncGenerator[CuttingProxy]:
    proxy = CuttingProxy(cuts=cuts, longest=longest, seed=seed)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut_all()
        await asyncio.sleep(0.05)
