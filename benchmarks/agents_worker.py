"""Many agents of one row in one process, each of which streams a paced answer; prints how late deltas arrive.

    python -m benchmarks.agents_worker ROW BASE_URL WIRE AGENTS RAMP SECONDS [CORE]

The agents start one after the other over RAMP seconds. What arrives in the SECONDS after that, which begin with a
moment to settle, is counted. One line of JSON tells the lags and the CPU time, or what went wrong.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from pathlib import Path

from benchmarks.pacing import DELTAS_A_SECOND
from benchmarks.row import Ask, Row
from benchmarks.rows import ROWS
from benchmarks.scenarios import Wire
from benchmarks.stamps import Arrivals

SETTLE = 0.5
_MARGIN = 2.0
_ENOUGH = 0.5


async def crowd(row: Row, base_url: str, wire: Wire, agents: int, ramp: float, seconds: float) -> dict[str, object]:
    """Runs the agents and gives the lags of the counted time."""
    lags: list[float] = []
    deltas = round((ramp + SETTLE + seconds + _MARGIN) * DELTAS_A_SECOND)
    ask = Ask(base_url, wire, f"bench-paced-{deltas}", pieces=lambda: Arrivals(lags))
    loop = asyncio.get_running_loop()
    begin = loop.time()
    tasks: list[asyncio.Task[object]] = []
    for number in range(agents):
        tasks.append(asyncio.ensure_future(row.converse(ask)))
        await asyncio.sleep(max(0.0, begin + (number + 1) * ramp / agents - loop.time()))
    await asyncio.sleep(SETTLE)
    lags.clear()
    waited, cpu, wall = _waited(), time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    wall = time.monotonic() - wall
    cpu = time.process_time() - cpu
    waited = _waited() - waited
    counted = sorted(lags)
    for task in tasks:
        if task.done() and (error := task.exception()) is not None:
            return {"error": f"{type(error).__name__}: {str(error)[:200]}"}
    expected = agents * DELTAS_A_SECOND * wall
    if len(counted) < expected * _ENOUGH:
        return {"error": f"only {len(counted)} of {expected:.0f} deltas arrived in time"}
    return {
        "p50": counted[len(counted) // 2] / 1e6,
        "p99": counted[len(counted) * 99 // 100] / 1e6,
        "max": counted[-1] / 1e6,
        "cpu": cpu / wall,
        "waited": waited / wall,
        "delivered": len(counted) / expected,
    }


def _waited() -> float:
    """Seconds for which this thread could have run, but somebody else had the core; 0 where that is not told."""
    statistics = Path("/proc/thread-self/schedstat")
    return int(statistics.read_text().split()[1]) / 1e9 if statistics.exists() else 0.0


def main() -> None:
    name, base_url, wire, agents, ramp, seconds, *core = sys.argv[1:]
    if core:
        os.sched_setaffinity(0, {int(core[0])})
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    row: Row = importlib.import_module(ROWS[name]).ROW

    async def work() -> None:
        report = await crowd(row, base_url, wire, int(agents), float(ramp), float(seconds))  # pyright: ignore[reportArgumentType]
        print(json.dumps(report), file=replies, flush=True)
        os._exit(0)  # the agents are in the middle of their answers; there is nothing left to save

    asyncio.run(work())


if __name__ == "__main__":
    main()
