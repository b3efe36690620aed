"""Kills nodes while agents stream, and counts what readers lost, got twice, or waited for. Uses HTTP alone.

    python -m benchmarks.nodes.chaos --start 'heald serve --store postgresql://heald@localhost/heald --node {node}
        --port {port} --base-url {model} --model m --no-open' --restart 'pg_ctlcluster 15 main restart'

`{node}`, `{port}` and `{model}` in the command are filled in by the driver, which also is the model. It exits with 1 if
an event was lost or doubled, or if an exchange did not complete.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from time import time
from typing import Any

import aiohttp

from benchmarks.nodes.cluster import TOKEN, ChaosNode
from benchmarks.nodes.paced_model import BIRTH, PacedModel

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
_CLOCKS = 0.1
"""How far the clocks of nodes may differ, in seconds."""
_ERRORS = (aiohttp.ClientError, OSError, TimeoutError, asyncio.IncompleteReadError)


@dataclass
class Reader:
    """One session, its asker and its reader on another node."""

    session: str
    number: int
    seqs: list[int] = field(default_factory=list[int])
    doubled: int = 0
    lost: int = 0
    responses: list[str] = field(default_factory=list[str])
    asked: int = 0
    lags: list[float] = field(default_factory=list[float])
    written: float = 0.0
    """When the last event was written, by the clock of its node."""
    resumed: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When the session was continued by another node, and when the last event before that was written."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class ChaosDriver:
    """Runs the streams, the readers and the kills."""

    def __init__(
        self,
        options: argparse.Namespace,
        restart: Callable[[], object] | None = None,
        stall: Callable[[float], object] | None = None,
    ) -> None:
        self._options = options
        self._restart = restart
        self._stall = stall
        self._model = PacedModel(int(options.rate * options.length), options.rate)
        self._nodes: list[ChaosNode] = []
        self._kills: list[float] = []
        self._restarted: float | None = None
        self._stop = False
        self._closing = False

    async def run(self) -> int:
        async with self._running(), self._reading() as readers:
            asking = [asyncio.create_task(self._ask(reader)) for reader in readers]
            try:
                await self._kill_nodes()
                if self._restart is not None:
                    await asyncio.sleep(self._options.kill_every)  # the work of the last victim has moved
                    print("the fault of the store", flush=True)
                    self._restarted = time()
                    await asyncio.to_thread(self._restart)
                    await asyncio.sleep(self._options.kill_every)
                self._stop = True
                async with asyncio.timeout(self._options.length * 6 + 60):
                    await asyncio.gather(*(reader.ended.wait() for reader in readers))
            except TimeoutError:
                print("some exchanges have not ended in time", flush=True)
            finally:
                await _cancel(asking)
            whole = await self._check_logs(readers)
        return self._report(readers, whole)

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None]:
        """Run the model and the nodes for the duration of the block."""
        options = self._options
        await self._model.start()
        self._nodes = [
            ChaosNode(f"node-{number}", options.start, self._model.url, options.log)
            for number in range(1, options.nodes + 1)
        ]
        try:
            for node in self._nodes:
                node.start()
            for node in self._nodes:
                await node.wait_ready()
            yield
        finally:
            for node in self._nodes:
                node.kill()
            await self._model.stop()

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[list[Reader]]:
        """Create the sessions, and read each of them for the duration of the block."""
        self._closing = False
        readers = [Reader(await self._create(number), number) for number in range(self._options.streams)]
        reading = [asyncio.create_task(self._read(reader)) for reader in readers]
        try:
            yield readers
        finally:
            self._closing = True
            await _cancel(reading)

    # --- the agents --------------------------------------------------------------------------------------------------

    def _living(self, number: int) -> ChaosNode:
        """A node of the balancer: the next one that runs."""
        for step in range(len(self._nodes)):
            node = self._nodes[(number + step) % len(self._nodes)]
            if node.is_running:
                return node
        return self._nodes[number % len(self._nodes)]

    async def _request(self, number: int, method: str, path: str, body: Any = None) -> Any:
        """Send a request as a client behind a balancer does: until a node has answered it."""
        for attempt in range(200):
            try:
                async with (
                    aiohttp.ClientSession(self._living(number + attempt).url, headers=HEADERS) as http,
                    http.request(method, path, json=body, timeout=aiohttp.ClientTimeout(total=15)) as answer,
                ):
                    if answer.status < 400:
                        return await answer.json()
                    if answer.status not in (429, 503):
                        raise RuntimeError(f"{method} {path}: {answer.status} {await answer.text()}")
            except _ERRORS:
                pass
            await asyncio.sleep(0.2)
        raise RuntimeError(f"{method} {path} was never answered.")

    async def _create(self, number: int) -> str:
        return (await self._request(number, "POST", "/sessions"))["id"]

    async def _ask(self, reader: Reader) -> None:
        """Send one message after the other, each as soon as the one before is answered."""
        await asyncio.sleep(random.uniform(0, self._options.length))
        while not self._stop:
            await self._send_next(reader)
            while len(reader.responses) < reader.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        reader.ended.set()

    async def _send_next(self, reader: Reader) -> None:
        reader.asked += 1
        body = {"text": f"Message {reader.asked}", "client_request_id": f"m{reader.asked}"}
        await self._request(reader.number, "POST", f"/sessions/{reader.session}/messages", body)

    async def _count_ready(self) -> int:
        """Count the nodes that want requests, half a minute after the last fault at most."""
        for node in self._nodes:
            with suppress(TimeoutError):
                await node.wait_ready(30.0)
        return sum([await node.is_ready() for node in self._nodes])

    async def _read(self, reader: Reader) -> None:
        """Read the session on another node than the one that is asked; if it dies, on the next."""
        number = reader.number
        while not self._closing:
            number += 1
            with suppress(*_ERRORS):
                await self._read_from(self._living(number), reader)
            await asyncio.sleep(0.1)

    async def _read_from(self, node: ChaosNode, reader: Reader) -> None:
        headers = {**HEADERS, "Last-Event-ID": str(reader.seqs[-1] if reader.seqs else 0)}
        timeout = aiohttp.ClientTimeout(total=None, connect=3, sock_read=20)
        async with (
            aiohttp.ClientSession(node.url, headers=headers, timeout=timeout) as http,
            http.get(f"/sessions/{reader.session}/events") as answer,
        ):
            if answer.status != 200:
                return
            name = b""
            async for line in answer.content:
                if line.startswith(b"event: "):
                    name = line[7:].strip()
                elif line.startswith(b"data: ") and name not in (b"goodbye", b"reset"):
                    self._on_event(reader, json.loads(line[6:]))

    def _on_event(self, reader: Reader, event: dict[str, Any]) -> None:
        last = reader.seqs[-1] if reader.seqs else 0
        if event["seq"] <= last:
            reader.doubled += 1
            return
        reader.lost += event["seq"] - last - 1
        reader.seqs.append(event["seq"])
        match event["type"]:
            case "text_delta":
                reader.lags += [time() - float(birth) for birth in BIRTH.findall(event["data"].get("text", ""))]
            case "session_resumed":
                reader.resumed.append((time(), reader.written))
            case "exchange_response":
                reader.responses.append(event["data"]["status"])
                if event["data"]["status"] != "completed":
                    print(f"{reader.session}: {event['data'].get('error')}", flush=True)
            case _:
                pass
        reader.written = event["time"]

    # --- the chaos ---------------------------------------------------------------------------------------------------

    async def _kill_nodes(self) -> None:
        end = time() + self._options.seconds
        while time() + self._options.kill_every < end:
            await asyncio.sleep(self._options.kill_every)
            victim = random.choice([node for node in self._nodes if node.is_running])
            victim.kill()
            self._kills.append(time())
            print(f"{victim.name} is killed", flush=True)
            await asyncio.sleep(1.0)
            victim.start()
            if self._stall is not None and self._options.stall > 0:
                print(f"the store stalls for {self._options.stall:g} s", flush=True)
                await asyncio.to_thread(self._stall, self._options.stall)

    # --- the verdict -------------------------------------------------------------------------------------------------

    async def _check_logs(self, readers: list[Reader]) -> int:
        """Count the sessions whose stored log is what their reader has seen."""
        whole = 0
        for reader in readers:
            with suppress(RuntimeError):
                info = await self._request(0, "GET", f"/sessions/{reader.session}")
                whole += info["last_seq"] == len(reader.seqs) and reader.seqs == list(range(1, len(reader.seqs) + 1))
        return whole

    def _takeovers(self, readers: list[Reader]) -> tuple[list[float], int]:
        """Return the seconds from each kill until the sessions of the victim went on, sorted, and how many sessions
        went on elsewhere for another reason: the restart of the store, or a node that was wrongly judged dead."""
        seconds: list[float] = []
        others = 0
        for moment, written in (takeover for reader in readers for takeover in reader.resumed):
            kill = next((kill for kill in self._kills if written - _CLOCKS < kill <= moment), None)
            if kill is None or (self._restarted is not None and kill < self._restarted <= moment):
                others += 1
            else:
                seconds.append(moment - kill)
        return sorted(seconds), others

    def _report(self, readers: list[Reader], whole: int) -> int:
        lags = sorted(lag for reader in readers for lag in reader.lags)
        takeovers, others = self._takeovers(readers)
        statuses = [status for reader in readers for status in reader.responses]
        asked = sum(reader.asked for reader in readers)
        lost, doubled = sum(reader.lost for reader in readers), sum(reader.doubled for reader in readers)
        result = {
            "nodes": self._options.nodes,
            "streams": len(readers),
            "kills": len(self._kills),
            "events": sum(len(reader.seqs) for reader in readers),
            "lost": lost,
            "doubled": doubled,
            "logs_whole": f"{whole}/{len(readers)}",
            "exchanges_asked": asked,
            "exchanges_completed": statuses.count("completed"),
            "exchanges_otherwise": len(statuses) - statuses.count("completed"),
            "model_requests": self._model.requests,
            "takeovers": len(takeovers),
            "takeover_seconds": {
                "p50": percentile(takeovers, 50),
                "p99": percentile(takeovers, 99),
                "max": percentile(takeovers, 100),
            },
            "takeovers_without_a_kill": others,
            "lag_ms": {"p50": percentile(lags, 50, 1000), "p99": percentile(lags, 99, 1000)},
        }
        print(json.dumps(result, indent=2))
        failed = lost or doubled or whole < len(readers) or statuses.count("completed") < asked
        return 1 if failed else 0


def _run_stall(command: str, seconds: float) -> object:
    return subprocess.run(command.format(seconds=seconds), shell=True, check=True)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def percentile(values: list[float], percent: float, factor: float = 1.0) -> float | None:
    """A percentile of sorted values."""
    if not values:
        return None
    return round(values[min(int(len(values) * percent / 100), len(values) - 1)] * factor, 3)


def main(
    start: str = "", restart: Callable[[], object] | None = None, stall: Callable[[float], object] | None = None
) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--start", default=start, required=not start, help="starts a node, with {node}, {port} and {model}"
    )
    parser.add_argument("--restart", default="", help="command that restarts the store, at the end")
    parser.add_argument(
        "--stall", type=float, default=0.0, help="seconds that the store stalls after each kill, with --stall-command"
    )
    parser.add_argument("--stall-command", default="", help="command that stalls the store for {seconds}")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=180.0, help="duration of the killing")
    parser.add_argument("--kill-every", type=float, default=10.0, help="seconds between two kills")
    parser.add_argument("--rate", type=float, default=20.0, help="pieces of text a second and stream")
    parser.add_argument("--length", type=float, default=5.0, help="seconds of one answer")
    parser.add_argument("--log", default="/dev/null", help="file for the output of the nodes")
    options = parser.parse_args()
    if options.restart:
        restart = partial(subprocess.run, options.restart, shell=True, check=True)
    if options.stall_command:
        stall = partial(_run_stall, options.stall_command)
    return asyncio.run(ChaosDriver(options, restart, stall).run())


if __name__ == "__main__":
    sys.exit(main())
