"""The latency of /health while strangers without a token hold connections: none and many, taking turns in one run.

    python -m benchmarks.strangers [--strangers 2000] [--rounds 3] [--seconds 6]

A stranger opens a connection, begins a request and sends a byte now and then. The reader that measures opens a new
connection for each request, as a load balancer does. Strangers run in a process of their own; with two cores they still
share the processor with the server, so the ratio is an upper bound.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
from pathlib import Path
from time import monotonic

import aiohttp

from benchmarks.soak.clients import NETWORK, drip
from benchmarks.soak.soak import Server

PAUSE = 0.02
"""Seconds between two measured requests."""
WARM_UP = 3.0
"""Seconds until all strangers are connected."""


def _raise_descriptors() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _measure(url: str, seconds: float) -> tuple[list[float], int]:
    """Milliseconds of each answered request, and the number of those that were not answered."""
    latencies: list[float] = []
    failures = 0
    until = monotonic() + seconds
    while monotonic() < until:
        began = monotonic()
        try:
            timeout = aiohttp.ClientTimeout(10)
            async with aiohttp.ClientSession(timeout=timeout) as client, client.get(f"{url}/health") as answer:
                await answer.read()
            latencies.append((monotonic() - began) * 1000)
        except NETWORK:
            failures += 1
        await asyncio.sleep(PAUSE)
    return latencies, failures


async def _measure_beside(server: Server, strangers: int, seconds: float) -> tuple[list[float], int]:
    words = [sys.executable, "-m", "benchmarks.strangers", "--be", str(server.port), str(strangers)]
    crowd = await asyncio.create_subprocess_exec(*words, cwd=Path.cwd())
    await asyncio.sleep(WARM_UP)
    try:
        return await _measure(server.url, seconds)
    finally:
        crowd.kill()
        await crowd.wait()


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def main(options: argparse.Namespace) -> None:
    quiet: list[float] = []
    crowded: list[float] = []
    unanswered = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), "http://127.0.0.1:9")
        await server.start()
        try:
            for _ in range(options.rounds):
                latencies, failures = await _measure(server.url, options.seconds)
                quiet += latencies
                unanswered += failures
                latencies, failures = await _measure_beside(server, options.strangers, options.seconds)
                crowded += latencies
                unanswered += failures
                await asyncio.sleep(1)  # the server closes what the strangers left
        finally:
            await server.kill()
    for name, latencies in (("no strangers", quiet), (f"{options.strangers:,} strangers", crowded)):
        shares = "   ".join(
            f"{label} {_share(latencies, share):6.1f} ms" for label, share in (("p50", 0.5), ("p99", 0.99))
        )
        print(f"{name:<18} {shares}   {len(latencies)} answers")
    print(f"p99 is {_share(crowded, 0.99) / _share(quiet, 0.99):.1f} times the quiet one; {unanswered} unanswered")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--be", type=int, nargs=2, metavar=("PORT", "COUNT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    _raise_descriptors()
    if arguments.be:
        port, count = arguments.be
        asyncio.run(drip(port, 3600, count))
    else:
        asyncio.run(main(arguments))
