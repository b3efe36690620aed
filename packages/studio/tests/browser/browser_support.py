"""A sink that counts whoever comes, and a browser for tests."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

from heald_studio.browser.browser import Browser


class Sink(asyncio.DatagramProtocol):
    """Listens on a loopback port for TCP and UDP, and counts what comes. `paths` are the requests it was sent."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.datagrams = 0
        self.requests: list[str] = []

    @property
    def count(self) -> int:
        return self.connections + self.datagrams

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.datagrams += 1

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(2):
                self.requests.append((await reader.readline()).decode("latin-1").strip())
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            )
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def listening() -> AsyncGenerator[Sink]:
    sink = Sink()
    server = await asyncio.start_server(sink.accept, "127.0.0.1", 0)
    sink.port = server.sockets[0].getsockname()[1]
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: sink, local_addr=("127.0.0.1", sink.port)
    )
    try:
        yield sink
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


@contextlib.contextmanager
def running(browser: Browser) -> Generator[Browser]:
    try:
        yield browser
    finally:
        browser.close()


def below(pid: int) -> list[int]:
    """Every process below this one."""
    pids: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                pids += [child, *below(child)]
    return pids


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def processes_ended(pids: list[int], seconds: float = 120.0) -> bool:
    """Whether all of them end in time."""
    for _ in range(int(seconds * 20)):
        if not any(map(alive, pids)):
            return True
        await asyncio.sleep(0.05)
    return False


def kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
