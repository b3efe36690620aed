"""What long sessions and large stores cost: writing, opening, listing, searching, resuming, forking, and how it grows.

Each size is written by a scripted agent with a tool call in every exchange, as a real one would be, then measured in
fresh processes. Figures are CPU milliseconds and, where it matters, megabytes of memory. A server with idle sessions is
measured before and after clients watch some of them.

    python -m benchmarks.long_sessions [--turns 100,1000,10000] [--megabytes 100] [--idle 20000] [--watched 500]
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

import heald
from benchmarks.listeners import disconnect_all, listen_all
from benchmarks.report import commit_name, machine, table
from benchmarks.server import start_program
from benchmarks.server_worker import TOKEN
from heald.sessions import Sessions, SqliteStore

S = heald.testing.ScriptedModel
_WORDS = "The quick brown fox jumps over the lazy dog while the stream goes on. "
_REPEATS = 5
_PIECE = 8
_MOST_PIECES = 40
"""Deltas of an answer: long answers come in longer pieces."""
_NO_REQUEST: Any = None


@heald.tool
def look_up(number: int) -> str:
    """Look up an entry."""
    return f"entry {number}: {_WORDS}"


def _answers(first: int, count: int, length: int) -> list[Any]:
    """The turns of some exchanges: a call, then a text of some length."""
    text = (_WORDS * (length // len(_WORDS) + 1))[:length]
    turns: list[Any] = []
    for number in range(first, first + count):
        turns += [[S.call("look_up", number=number)], f"Answer {number}. {text}"]
    return turns


class _Player(S):
    """A scripted model that keeps no requests: each of them holds the whole conversation."""

    def next_script(self, request: Any) -> Any:
        script = super().next_script(request)
        self.requests[-1] = _NO_REQUEST
        return script


async def write_session(path: Path, turns: int, length: int) -> str:
    """Write a session of exchanges with two turns each. Returns its id."""
    store = SqliteStore(path)
    created = await Sessions(store).create(permissions="auto")
    model = _Player(_answers(0, turns // 2, length), piece=max(_PIECE, length // _MOST_PIECES))
    agent = heald.Agent(model, tools=[look_up], permissions="auto")
    async with heald.open_session(created.id, agent, store=store) as session:
        for number in range(turns // 2):
            await session.run(f"Question {number}?")
    await store.close()
    return created.id


def _resident() -> float:
    """Return the megabytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def _megabytes(path: Path) -> float:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6


async def _timed(work: Callable[[], Awaitable[object]], repeats: int = _REPEATS) -> float:
    """Return the median CPU milliseconds of a piece of work."""
    samples: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        await work()
        samples.append((time.process_time() - start) * 1000)
    return median(samples)


async def measure_session(path: Path, session: str) -> dict[str, float]:
    """Measure what a reader and a writer of a stored session pay, in this process."""
    store = SqliteStore(path)
    sessions = Sessions(store)
    info = await store.info(session)
    figures: dict[str, float] = {"events": info.last_seq, "megabytes": _megabytes(path)}

    async def open_and_continue() -> None:
        agent = heald.Agent(S(["Yes.", "Yes."]), tools=[look_up], permissions="auto")
        before, start = _resident(), time.process_time()
        async with heald.open_session(session, agent, store=store) as opened:
            figures["open"] = (time.process_time() - start) * 1000
            figures["memory of opening"] = _resident() - before
            for name in ("first exchange", "next exchange"):
                start = time.process_time()
                await opened.run("Still there?")
                figures[name] = (time.process_time() - start) * 1000

    async def resume_at_end() -> None:
        await store.read(session, after=max(info.last_seq - 100, 0))

    async def read_whole() -> None:
        cursor = 0
        while events := await store.read(session, after=cursor):
            cursor = events[-1].seq

    async def fork_in_the_middle() -> None:
        fork = await sessions.fork(session, info.last_seq // 2)
        await sessions.delete(fork.id)

    await open_and_continue()
    figures["list"] = await _timed(sessions.list)
    figures["search"] = await _timed(lambda: sessions.list(search="Question 7"))
    figures["resume at the end"] = await _timed(resume_at_end)
    figures["read whole"] = await _timed(read_whole, 1)
    figures["fork in the middle"] = await _timed(fork_in_the_middle, 1)
    await store.close()
    return figures


async def measure_server(folder: Path, count: int) -> dict[str, float]:
    """Measure the memory of a server with the sessions of a folder, before and after clients watch some of them."""
    store = SqliteStore(folder / "sessions.db")
    watched = [info.id for info in (await Sessions(store).list(limit=count)).sessions]
    await store.close()
    async with start_program("benchmarks.server_worker", "heald", str(folder)) as server:
        async with server.client.get("/sessions") as answer:
            assert answer.status == 200, await answer.text()
        before = server.megabytes
        listeners = await listen_all(server.url, [(f"/sessions/{name}/events", False) for name in watched], TOKEN)
        figures = {"memory": before, "watched": float(len(watched)), "memory, watched": server.megabytes}
        disconnect_all(listeners)
    return figures


async def measure_store(path: Path, count: int) -> dict[str, float]:
    """Measure a store with many idle sessions."""
    store = SqliteStore(path)
    sessions = Sessions(store)
    start = time.process_time()
    for number in range(count):
        await sessions.create(title=f"Session {number} about {_WORDS.split()[number % 12]}")
    figures = {"sessions": float(count), "create": (time.process_time() - start) * 1000 / count}
    figures["list 50"] = await _timed(lambda: sessions.list(limit=50))
    figures["search"] = await _timed(lambda: sessions.list(search="about quick", limit=50))
    figures["recover at a start"] = await _timed(sessions.recover, 1)
    figures["megabytes"] = _megabytes(path)
    await store.close()
    return figures


def _in_fresh_process(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.long_sessions", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _print_table(rows: list[dict[str, float]]) -> None:
    names = list(rows[0])
    print(table(names, [[f"{row[name]:,.1f}".removesuffix(".0") for name in names] for row in rows]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_sessions", description="Long sessions, many sessions."
    )
    parser.add_argument("--turns", default="100,1000,10000", help="turns of the sessions (default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=100, help="the size of one further log (default: %(default)s)")
    parser.add_argument("--idle", default="1000,20000", help="idle sessions of a store (default: %(default)s)")
    parser.add_argument(
        "--watched", type=int, default=500, help="sessions that clients watch, at most (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "SESSION"), help=argparse.SUPPRESS)
    parser.add_argument("--store", nargs=2, metavar=("FILE", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asyncio.run(measure_session(Path(options.one[0]), options.one[1]))))
        return
    if options.store:
        print(json.dumps(asyncio.run(measure_store(Path(options.store[0]), int(options.store[1])))))
        return
    rows: list[dict[str, float]] = []
    stores: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="heald-long-") as folder:
        sizes = [(int(turns), 300) for turns in options.turns.split(",")]
        if options.megabytes:
            sizes.append((2000, options.megabytes * 1000))
        for turns, length in sizes:
            path = Path(folder) / f"{turns}-{length}.db"
            start = time.process_time()
            session = asyncio.run(write_session(path, turns, length))
            written = (time.process_time() - start) * 1000 / turns
            rows.append({"turns": turns, "write a turn": written, **_in_fresh_process("--one", str(path), session)})
            print(f"{turns:,} turns with answers of {length:,} characters: done", file=sys.stderr, flush=True)
            os.unlink(path)
        for count in options.idle.split(","):
            place = Path(folder) / f"idle-{count}"
            place.mkdir()
            stores.append(_in_fresh_process("--store", str(place / "sessions.db"), count))
            stores[-1] |= asyncio.run(measure_server(place, options.watched))
    print(f"CPU milliseconds; memory in MB. {machine()}\n")
    _print_table(rows)
    _print_table(stores)
    if options.json is not None:
        command = " ".join(["python -m benchmarks.long_sessions", *sys.argv[1:]])
        report = {"command": command, "commit": commit_name(), "machine": machine(), "sessions": rows, "stores": stores}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
