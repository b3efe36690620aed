"""What many readers cost: 1,000 of one session, and one of each of 1,000 sessions, beside a bare broadcaster.

    python -m benchmarks.fan_out [--readers 1000] [--seconds 5] [--rounds 2] [--quick]

The broadcaster is Starlette with a queue for each reader: it sends bytes that were made once, stores nothing and knows
no cursor. Servers take turns, each in a fresh process. CPU, memory and lags are those of a window in which all streams
run. A whole run keeps its figures in fan_out.json and puts the table into README.md beside it.
"""

import argparse
import asyncio
import resource
from collections.abc import Sequence

from benchmarks.fan_out_figures import FanOut, FanOutRow, keep, table
from benchmarks.listeners import Listener, disconnect_all, listen_all
from benchmarks.report import commit_name, machine
from benchmarks.server import Process, lags_of, percentile, started
from benchmarks.server_worker import TOKEN

ONE, MANY = "one session", "a session each"
RATES = {ONE: 5, MANY: 1}
"""Events a second of each session."""
_LONG = 600
"""Seconds for which a session streams at most: longer than any setup takes."""
_AT_ONCE = 50
_SETTLE = 1.0


async def measure(server: Process, kind: str, shape: str, readers: int, seconds: float) -> FanOutRow:
    """Let all readers listen, and count what reaches them in a window."""
    warm = await listen_all(server.url, await _paths(server, kind, ONE, 10), TOKEN)
    disconnect_all(warm)
    await asyncio.sleep(_SETTLE)
    before = server.megabytes
    paths = await _paths(server, kind, shape, readers)
    listeners = await listen_all(server.url, paths, TOKEN)
    await _start(server, kind, shape, paths)
    await asyncio.sleep(_SETTLE)
    for listener in listeners:
        listener.lags.clear()
    used = server.cpu
    await asyncio.sleep(seconds)
    cpu, lags = server.cpu - used, lags_of(listeners)
    memory = (server.megabytes - before) * 1024 / readers
    _check(listeners, lags, RATES[shape] * seconds)
    disconnect_all(listeners)
    return FanOutRow(shape, kind, readers, cpu / len(lags) * 1e6, memory, percentile(lags, 0.5), percentile(lags, 0.99))


async def _paths(server: Process, kind: str, shape: str, readers: int) -> list[tuple[str, bool]]:
    if kind == "bare":
        return [("/events", False)] * readers
    model = f"paced/{RATES[shape] * _LONG}@{RATES[shape]}"
    names: list[str] = []
    for start in range(0, 1 if shape == ONE else readers, _AT_ONCE):
        count = 1 if shape == ONE else min(_AT_ONCE, readers - start)
        names += await asyncio.gather(*(server.session(model) for _ in range(count)))
    return [(f"/sessions/{names[number % len(names)]}/events", False) for number in range(readers)]


async def _start(server: Process, kind: str, shape: str, paths: Sequence[tuple[str, bool]]) -> None:
    if kind == "bare":
        async with server.client.post(f"/start?rate={RATES[shape]}&shared={int(shape == ONE)}") as answer:
            assert answer.status == 200
        return
    sessions = list(dict.fromkeys(path.split("/")[2] for path, _ in paths))
    for start in range(0, len(sessions), _AT_ONCE):
        await asyncio.gather(*(server.ask(session) for session in sessions[start : start + _AT_ONCE]))


def _check(listeners: Sequence[Listener], lags: Sequence[float], expected: float) -> None:
    """Refuse a window in which a server fell behind: then its figures say nothing."""
    if len(lags) < 0.7 * expected * len(listeners):
        raise RuntimeError(f"only {len(lags)} of {expected * len(listeners):.0f} events arrived")


def best(rows: Sequence[FanOutRow]) -> FanOutRow:
    """The least of all rounds."""
    fields = {name: min(getattr(row, name) for row in rows) for name in ("cpu", "memory", "median", "p99")}
    return FanOutRow(rows[0].shape, rows[0].server, rows[0].readers, **fields)


async def main(readers: int, seconds: float, rounds: int) -> list[FanOutRow]:
    measured: dict[tuple[str, str], list[FanOutRow]] = {}
    for _ in range(rounds):
        for shape in RATES:
            for kind in ("bare", "heald"):
                async with started(kind) as server:
                    try:
                        row = await measure(server, kind, shape, readers, seconds)
                    except RuntimeError as error:
                        print(f"failed: {kind}, {shape} ({error})", flush=True)
                        continue
                measured.setdefault((shape, kind), []).append(row)
    return [best(rows) for rows in measured.values()]


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--readers", type=int, default=1000)
    options.add_argument("--seconds", type=float, default=5.0, help="of each window")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--quick", action="store_true", help="fewer and shorter, to see that all works")
    arguments = options.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 10_000)), hard))
    size = (100, 2.0, 1) if arguments.quick else (arguments.readers, arguments.seconds, arguments.rounds)
    measured = asyncio.run(main(*size))
    paces = f"{RATES[ONE]} events a second of the one session, {RATES[MANY]} of each of the many."
    fan_out = FanOut("python -m benchmarks.fan_out", commit_name(), machine(), paces, measured)
    print(table(fan_out))
    if not arguments.quick and len(measured) == 2 * len(RATES):
        keep(fan_out)
