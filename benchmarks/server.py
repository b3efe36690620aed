"""What the server costs: listeners that are idle, and exchanges that run beside them.

    python -m benchmarks.server [--quick]

Lags are from the making of an event to its arrival, over the store and a socket.
The clients run in this process and share the machine with the server.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from time import clock_gettime

import aiohttp

from benchmarks.listeners import Listener, disconnect_all, listen_all
from benchmarks.server_worker import TOKEN

_PROCESS_CLOCK = 2
"""The clock of a process is named by its number: in nanoseconds, where /proc counts in hundredths of a second."""
NO_LIMIT = aiohttp.ClientTimeout(total=None)


class Process:
    """A server in a process of its own."""

    def __init__(self, pid: int, url: str, client: aiohttp.ClientSession) -> None:
        self.pid = pid
        self.url = url
        self.client = client

    @property
    def megabytes(self) -> float:
        """Memory that it holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20

    @property
    def cpu(self) -> float:
        """Seconds of the processor that it and its workers have used."""
        workers = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return sum(clock_gettime(~pid << 3 | _PROCESS_CLOCK) for pid in (self.pid, *map(int, workers)))

    async def session(self, model: str) -> str:
        async with self.client.post("/sessions", json={"model": model}) as answer:
            return (await answer.json())["id"]

    async def ask(self, session: str) -> None:
        async with self.client.post(f"/sessions/{session}/messages", json={"text": "Go."}) as answer:
            assert answer.status == 202, await answer.text()


@asynccontextmanager
async def start_program(*arguments: str, python: str = sys.executable) -> AsyncGenerator[Process]:
    """Start a program of the benchmarks that prints its port."""
    process = await asyncio.create_subprocess_exec(
        python, "-m", *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        url = f"http://127.0.0.1:{json.loads(await process.stdout.readline())['port']}"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(url, headers=headers, timeout=NO_LIMIT) as client:
            yield Process(process.pid, url, client)
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def started(kind: str) -> AsyncGenerator[Process]:
    with tempfile.TemporaryDirectory() as folder:
        async with start_program("benchmarks.server_worker", kind, folder) as process:
            yield process


def both(session: str) -> list[tuple[str, bool]]:
    """A stream of server-sent events and a socket."""
    return [(f"/sessions/{session}/events", False), (f"/sessions/{session}/ws?after=0", True)]


async def over(listeners: list[Listener]) -> None:
    await asyncio.gather(*(listener.over for listener in listeners))


def percentile(lags: list[float], part: float) -> float:
    """In milliseconds."""
    ranked = sorted(lags)
    return ranked[min(int(len(ranked) * part), len(ranked) - 1)] * 1000


def lags_of(listeners: list[Listener]) -> list[float]:
    return [lag for listener in listeners for lag in listener.lags]


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


async def idle_and_active(idle: int, active: int, deltas: int) -> None:
    """Listeners that hear nothing, and what they do to those that hear something."""
    async with started("heald") as server:
        quiet = [await server.session("paced/10@0") for _ in range(10)]
        warm = await listen_all(server.url, [*both(quiet[0])] * 10, TOKEN)
        disconnect_all(warm)
        await asyncio.sleep(1)
        before = server.megabytes
        paths = [both(quiet[number % 10])[number % 2] for number in range(2 * idle)]
        idlers = await listen_all(server.url, paths, TOKEN)
        await asyncio.sleep(2)
        grown, used = server.megabytes - before, server.cpu
        await asyncio.sleep(5)
        pulse = (server.cpu - used) / 5
        row("idle", f"{idle:,} SSE + {idle:,} WebSocket", f"+{grown:.0f} MB ({grown * 1024 / len(idlers):.1f} KB each)")
        row("", "CPU of the idle ones", f"{pulse * 100:.1f} %")
        sessions = [await server.session(f"paced/{deltas}@50") for _ in range(active)]
        listeners = await listen_all(server.url, [path for session in sessions for path in both(session)], TOKEN)
        used = server.cpu
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(server.ask(session) for session in sessions))
        await over(listeners)
        took = asyncio.get_running_loop().time() - began
        lags = lags_of(listeners)
        tell = (
            f"p50 {percentile(lags, 0.5):.0f} ms, p99 {percentile(lags, 0.99):.0f} ms, worst {max(lags) * 1000:.0f} ms"
        )
        row(f"{active} active beside them", f"{len(lags):,} events, 50 deltas a second each", tell)
        row("", "CPU", f"{(server.cpu - used) / took * 100:.0f} %")
        disconnect_all([*idlers, *listeners])


async def main(quick: bool) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 10_000)), hard))
    row("what", "how much", "figures")
    row("---", "---", "---")
    await idle_and_active(100 if quick else 1000, 10, 100 if quick else 500)
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer and shorter, to see that all works")
    asyncio.run(main(options.parse_args().quick))
