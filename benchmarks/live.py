"""How late a delta reaches a client that watches: from the provider's write to the client's read, over a real server.

    python -m benchmarks.live [--agents 1,20] [--deltas 100] [--rounds 3]

A mock provider sends 50 deltas a second to each agent, and each delta holds the time at which it was written. The
clients are raw sockets in this process. All kinds of clients take turns in one run, beside a proxy that stores nothing.
"""

import argparse
import asyncio
import os
import re
import tempfile
from contextlib import AsyncExitStack
from statistics import median
from time import monotonic_ns
from urllib.parse import urlsplit

from benchmarks.listeners import UPGRADE
from benchmarks.server import Process, percentile, row, start_program
from benchmarks.server_worker import TOKEN

_STAMPS = re.compile(rb"  (\d{6,}) ")
_KEEP = 40
"""Bytes that may hold the beginning of a stamp whose end is still to come."""

CLIENTS = {
    "bare proxy": ("/{session}", False),
    "native SSE": ("/sessions/{session}/events", False),
    "native socket": ("/sessions/{session}/ws?after=0", True),
    "ai-sdk": ("/sessions/{session}/events?dialect=ai-sdk", False),
    "ag-ui": ("/sessions/{session}/events?dialect=ag-ui", False),
}


class Watcher(asyncio.Protocol):
    """One connection. `lags` are in seconds, one for each delta."""

    def __init__(self, request: bytes, deltas: int) -> None:
        loop = asyncio.get_running_loop()
        self._request = request
        self._deltas = deltas
        self._rest = b""
        self.lags: list[float] = []
        self.open: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[None] = loop.create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = monotonic_ns() // 1000
        if not self.open.done():
            self.open.set_result(None)
        data = self._rest + data
        end = 0
        for match in _STAMPS.finditer(data):
            end = match.end()
            if len(self.lags) < self._deltas:  # the complete message repeats them
                self.lags.append((now - int(match[1])) / 1e6)
        self._rest = data[max(end, len(data) - _KEEP) :]
        if len(self.lags) >= self._deltas and not self.over.done():
            self.over.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        for waiting in (self.open, self.over):
            if not waiting.done():
                waiting.set_exception(RuntimeError("the server closed the connection"))


async def watch(url: str, path: str, deltas: int, *, upgrade: bool) -> Watcher:
    address = urlsplit(url)
    head = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
    request = f"{head}{UPGRADE if upgrade else ''}\r\n".encode()
    _, watcher = await asyncio.get_running_loop().create_connection(
        lambda: Watcher(request, deltas), address.hostname or "127.0.0.1", address.port or 80
    )
    return watcher


async def measure(kind: str, server: Process, agents: int, deltas: int) -> tuple[list[float], float]:
    """Watch some agents. Returns the lags in seconds, and the seconds of CPU that a delta costs the server."""
    path, upgrade = CLIENTS[kind]
    model = f"bench-paced-{deltas}"
    proxied = kind == "bare proxy"
    sessions = [model if proxied else await server.session(model) for _ in range(agents)]
    used = server.cpu
    watchers = [await watch(server.url, path.format(session=session), deltas, upgrade=upgrade) for session in sessions]
    if not proxied:
        await asyncio.gather(*(watcher.open for watcher in watchers))
        await asyncio.sleep(0.3)  # the streams have read the stored events
        used = server.cpu
        for session in sessions:
            await server.ask(session)
    async with asyncio.timeout(60 + deltas / 10):
        await asyncio.gather(*(watcher.over for watcher in watchers))
    spent = server.cpu - used
    for watcher in watchers:
        if watcher.transport is not None:
            watcher.transport.abort()
    return [lag for watcher in watchers for lag in watcher.lags], spent / (agents * deltas)


async def main(counts: list[int], deltas: int, rounds: int) -> None:
    row("client", "agents", "median", "p99", "worst", "CPU a delta")
    row("---", "---:", "---:", "---:", "---:", "---:")
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        provider = await stack.enter_async_context(start_program("benchmarks.mock_server"))
        worker = "benchmarks.server_worker"
        weft = await stack.enter_async_context(start_program(worker, "live", folder, provider.url))
        proxy = await stack.enter_async_context(start_program(worker, "proxy", folder, provider.url))
        servers = {kind: proxy if kind == "bare proxy" else weft for kind in CLIENTS}
        for kind in CLIENTS:
            await measure(kind, servers[kind], 2, 20)
        for agents in counts:
            lags: dict[str, list[float]] = {kind: [] for kind in CLIENTS}
            costs: dict[str, list[float]] = {kind: [] for kind in CLIENTS}
            for _ in range(rounds):
                for kind in CLIENTS:
                    found, cost = await measure(kind, servers[kind], agents, deltas)
                    lags[kind] += found
                    costs[kind].append(cost)
            for kind, found in lags.items():
                figures = [f"{percentile(found, part):.1f} ms" for part in (0.5, 0.99, 1.0)]
                row(kind, agents, *figures, f"{median(costs[kind]) * 1e6:.0f} µs")
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--agents", default="1,20", help="how many are watched at once, several numbers in turn")
    options.add_argument("--deltas", type=int, default=100, help="deltas that each agent streams in a round")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    asyncio.run(main([int(count) for count in given.agents.split(",")], given.deltas, given.rounds))
