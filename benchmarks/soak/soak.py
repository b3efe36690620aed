"""Runs one server under load and attack, and compares at the end what was sent with what is stored.

    make chaos                                    ten minutes
    python -m benchmarks.soak.soak --seconds 60   a short one

Every twenty seconds something bad happens: the server is killed, frozen or runs out of disk; clients without a token
drip or send garbage; readers stop reading. The provider and a tool server misbehave all the time. It exits with 1 if an
event was lost, doubled or changed, if an accepted request has no end, or if memory grew while nothing was added.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic, time

import aiohttp

from benchmarks.soak.clients import HEADERS, NETWORK, TOKEN, Conversation, drip, read_nothing, send_garbage
from benchmarks.soak.hostile_provider import GOOD, HostileProvider
from heald.core.envelope import decode_event
from heald.core.json import encode
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald_check.checker import check_log

DISK = 3 * 1024 * 1024 * 1024
"""Bytes of the disk that is filled; the log of ten minutes needs a part of them."""
GROWTH = 40 * 1024 * 1024
"""Bytes of memory that the server may grow in a minute of good load, after it has warmed up."""


class Server:
    """`heald serve` in one life after the other, on one port and one folder."""

    def __init__(self, folder: Path, model: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.lives = 0
        self._folder = folder
        self._model = model
        self._process: asyncio.subprocess.Process | None = None
        (folder / "work").mkdir()

    async def start(self) -> None:
        self.lives += 1
        words = [
            sys.executable,
            "-m",
            "heald_cli.main",
            "serve",
            "--port",
            str(self.port),
            "--token",
            TOKEN,
            "--no-open",
        ]
        words += ["--data", str(self._folder / "data"), "--model", "m", "--base-url", self._model, "--tools", "files"]
        words += ["--permissions", "auto", "--workspace", str(self._folder / "work"), "--max-exchanges", "200"]
        words += ["--retry-base", "0.05", "--timeout-content", "20"]
        words += ["--mcp-server", f"hostile={sys.executable} -m benchmarks.soak.hostile_mcp"]
        with (self._folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*words, stdout=log, stderr=log, cwd=Path.cwd())
        async with asyncio.timeout(60), aiohttp.ClientSession() as client:
            while True:
                with suppress(*NETWORK):
                    async with client.get(f"{self.url}/health"):
                        return
                if self._process.returncode is not None:
                    raise SystemExit(f"The server ended: {(self._folder / 'log').read_text()[-2000:]}")
                await asyncio.sleep(0.1)

    def send_signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def kill(self, number: int = signal.SIGKILL) -> None:
        assert self._process is not None
        self.send_signal(number)
        await self._process.wait()

    @property
    def memory(self) -> int:
        """Resident bytes, without those of files."""
        assert self._process is not None
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) * 1024

    @property
    def log_bytes(self) -> int:
        return (self._folder / "log").stat().st_size


class Soak:
    """The load, the attacks and the comparison."""

    def __init__(self, options: argparse.Namespace, server: Server, folder: Path, has_disk: bool) -> None:
        self._options = options
        self._server = server
        self._folder = folder
        self._random = random.Random(options.seed)
        self._kinds = [kind for kind in options.attacks.split(",") if has_disk or kind != "disk"]
        self.done: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.conversations: list[Conversation] = []

    async def run(self, client: aiohttp.ClientSession, provider: HostileProvider) -> None:
        stop = asyncio.Event()
        self.conversations = [Conversation(self._server.url, client) for _ in range(self._options.sessions)]
        await asyncio.gather(*(conversation.open() for conversation in self.conversations))
        readers = [asyncio.create_task(conversation.read()) for conversation in self.conversations]
        askers = [asyncio.create_task(conversation.ask(stop)) for conversation in self.conversations]
        probe = asyncio.create_task(self._probe(client))
        end = monotonic() + self._options.seconds
        while monotonic() < end:
            await asyncio.sleep(min(self._options.every, max(end - monotonic(), 0)))
            if monotonic() < end:
                await self._attack(client)
        stop.set()
        _, late = await asyncio.wait(askers, timeout=self._options.patience)  # `compare` names what has no end
        for asker in late:
            asker.cancel()
        await asyncio.sleep(2)
        probe.cancel()
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, probe, return_exceptions=True)

    async def _probe(self, client: aiohttp.ClientSession) -> None:
        """How long `/health` takes, whatever happens."""
        while True:
            began = monotonic()
            with suppress(*NETWORK):
                async with client.get(f"{self._server.url}/health", timeout=aiohttp.ClientTimeout(20)):
                    self.latencies.append(monotonic() - began)
            await asyncio.sleep(0.2)

    async def _attack(self, client: aiohttp.ClientSession) -> None:
        kind = self._kinds[sum(self.done.values()) % len(self._kinds)]
        self.done[kind] += 1
        match kind:
            case "kill":
                await self._server.kill()
                await self._server.start()
            case "freeze":
                self._server.send_signal(signal.SIGSTOP)
                await asyncio.sleep(4)
                self._server.send_signal(signal.SIGCONT)
            case "disk":
                await self._fill_disk()
            case "drip":
                await drip(self._server.port, 8, 300)
            case "garbage":
                await send_garbage(self._server.port, 200)
            case _:
                await read_nothing(self._server.url, client, self.conversations[0].id, 8)

    async def _fill_disk(self) -> None:
        ballast = self._folder / "data" / "ballast"
        with ballast.open("wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):  # to the last byte
                with suppress(OSError):
                    while file.write(bytes(size)):
                        pass
        await asyncio.sleep(4)
        ballast.unlink(missing_ok=True)

    async def memory_growth(self, client: aiohttp.ClientSession) -> tuple[int, int]:
        """Memory before and after a time of good load, on a server that has warmed up."""
        await self._load(client, self._options.steady / 2)
        before = self._server.memory
        await self._load(client, self._options.steady)
        return before, self._server.memory

    async def _load(self, client: aiohttp.ClientSession, seconds: float) -> None:
        stop = asyncio.Event()
        talks = [Conversation(self._server.url, client) for _ in range(self._options.sessions)]
        await asyncio.gather(*(talk.open() for talk in talks))
        tasks = [asyncio.create_task(talk.read()) for talk in talks]
        askers = [asyncio.create_task(talk.ask(stop)) for talk in talks]
        await asyncio.sleep(seconds)
        stop.set()
        await asyncio.gather(*askers)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for talk in talks:
            async with client.delete(f"{self._server.url}/sessions/{talk.id}", headers=HEADERS):
                pass


async def compare(conversations: list[Conversation]) -> list[str]:
    """What differs between what was sent and what is stored."""
    faults: list[str] = []
    for talk in conversations:
        events = await talk.stored()
        seqs = [event["seq"] for event in events]
        if seqs != list(range(1, len(seqs) + 1)):
            faults.append(f"{talk.id}: the log has gaps")
        missing = [seq for seq in seqs if seq not in talk.seen]
        if missing:
            faults.append(f"{talk.id}: a reader lost {len(missing)} events, the first is {missing[0]}")
        if talk.doubled or talk.changed:
            faults.append(f"{talk.id}: a reader got {talk.doubled} events twice, {talk.changed} of them changed")
        requests = Counter(str(event["exchange"]) for event in events if event["type"] == "exchange_request")
        ends = Counter(str(event["exchange"]) for event in events if event["type"] == "exchange_response")
        faults += [
            f"{talk.id}: {exchange} began {requests[exchange]} times and ended {ends[exchange]} times"
            for exchange in talk.accepted
            if requests[exchange] != 1 or ends[exchange] != 1
        ]
        last = next((f"{event['type']} at {event['time']:.0f}" for event in reversed(events)), "none")
        if set(requests) - set(ends):
            faults.append(f"{talk.id}: the last event is {last}, and the comparison is at {time():.0f}")
        faults += [f"{talk.id}: {fault}" for fault in check_log(decode_event(encode(event)) for event in events)[:3]]
    return faults


async def soak(options: argparse.Namespace, folder: Path, has_disk: bool) -> int:
    provider = HostileProvider(options.seed)
    is_good = False

    def answer(request: ReceivedRequest) -> Reply:
        return GOOD if is_good else provider(request)

    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with ScriptedServer(answer) as model, aiohttp.ClientSession(connector=connector) as client:
        server = Server(folder, f"{model.url}/v1")
        await server.start()
        run = Soak(options, server, folder, has_disk)
        await run.run(client, provider)
        faults = await compare(run.conversations)
        is_good = True
        before, after = await run.memory_growth(client)
        await server.kill(signal.SIGTERM)
    if after - before > GROWTH:
        faults.append(f"memory grew by {(after - before) >> 20} MiB under good load")
    store_bytes = sum(file.stat().st_size for file in (folder / "data").rglob("*") if file.is_file())
    stored = sum(len(talk.seen) for talk in run.conversations)
    exchanges = sum(len(talk.accepted) for talk in run.conversations)
    latencies = sorted(run.latencies)
    breaks = sum(talk.breaks for talk in run.conversations)
    print(f"attacks: {dict(run.done)}; lives of the server: {server.lives}; breaks of readers: {breaks}")
    print(f"provider: {provider.counts}")
    print(f"load held: {len(run.conversations)} conversations, {exchanges} exchanges, {stored} events")
    print(f"/health: median {latencies[len(latencies) // 2]:.3f} s, p99 {latencies[int(len(latencies) * 0.99)]:.3f} s")
    print(f"memory: {before >> 20} MiB before and {after >> 20} MiB after {options.steady:g} s of good load")
    print(f"log: {server.log_bytes >> 10} KiB; store: {store_bytes >> 20} MiB")
    print(f"differences: {len(faults)}")
    for fault in faults[:20]:
        print(f"  {fault}")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--steady", type=float, default=30.0, help="seconds of good load for the comparison of memory")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for the last exchanges to end")
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attacks", default="kill,freeze,drip,garbage,slow,disk", help="the attacks, in their order")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two attacks")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the store and the server's log")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heald-soak-"))
    (folder / "data").mkdir()
    has_disk = _mount(folder / "data")
    if not has_disk:
        print("A full disk is left out: only root can mount a small one.")
    try:
        result = asyncio.run(soak(options, folder, has_disk))
        if options.keep:
            shutil.copytree(folder, f"{folder}-kept", ignore=shutil.ignore_patterns("ballast"))
            print(f"kept: {folder}-kept")
        return result
    finally:
        if has_disk:
            subprocess.run(["umount", "-l", str(folder / "data")], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _mount(folder: Path) -> bool:
    """Mount a small file system in memory, which can be filled."""
    if os.getuid() != 0:
        return False
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "heald-soak", str(folder)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
