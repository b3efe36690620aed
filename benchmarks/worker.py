"""One row in a process of its own: takes commands as lines of JSON and answers each with a measurement.

The first line it writes says what the row is, or why it could not be loaded. Then each command
`{"base_url", "wire", "scenario", "seconds"}` is answered by one line. Between commands the process sleeps.
"""

import asyncio
import gc
import importlib
import json
import os
import resource
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from benchmarks.earlier_exchanges import exchanges_of
from benchmarks.row import Ask, Row, Seen
from benchmarks.rows import ROWS
from benchmarks.scenarios import Expected, Scenario, Wire, scenario
from benchmarks.tools import ledger


class WrongResultError(Exception):
    """The row finished, but did not do the work."""


def memory() -> dict[str, int]:
    """Resident memory now and at its peak, in bytes."""
    status = Path("/proc/self/status")
    if not status.exists():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {"now": peak, "peak": peak}
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return {
        "now": int(fields["VmRSS"].split()[0]) * 1024,
        "peak": int(fields["VmHWM"].split()[0]) * 1024,
    }


def check(seen: Seen, expected: Expected, least_deltas: int) -> None:
    """Refuses a result without the work: text, deltas, executed calls and their arguments must be there."""
    if ledger.calls != expected.calls:
        raise WrongResultError(f"executed {ledger.calls} tool calls instead of {expected.calls}")
    if ledger.characters != expected.characters:
        raise WrongResultError(f"the tool got {ledger.characters} characters instead of {expected.characters}")
    if seen.text != expected.text:
        raise WrongResultError(f"ended with {len(seen.text)} characters of text instead of {len(expected.text)}")
    if seen.deltas < least_deltas:
        raise WrongResultError(f"saw {seen.deltas} deltas instead of {least_deltas}")


async def measure(row: Row, base_url: str, wire: Wire, load: Scenario, seconds: float) -> dict[str, Any]:
    """Repeats the scenario for at least that long, and gives the time of one run."""
    ask = Ask(base_url, wire, f"bench-{load.name}", row.remember(wire, exchanges_of(load.past)))
    expected = load.expected
    gc.collect()
    runs = 0
    wall_start = time.perf_counter()
    cpu_start = time.process_time()
    while True:
        ledger.clear()
        seen = await row.converse(ask)
        check(seen, expected, 1 if row.joins else expected.deltas)
        runs += 1
        wall = time.perf_counter() - wall_start
        if wall >= seconds:
            break
    cpu = time.process_time() - cpu_start
    return {"cpu": cpu / runs, "wall": wall / runs, "runs": runs, "memory": memory()}


def load_row(name: str) -> tuple[Row | None, dict[str, Any]]:
    """The row, and the first line to write."""
    try:
        row: Row = importlib.import_module(ROWS[name]).ROW
        hello = {
            "version": version(row.package),
            "imports": row.imports,
            "wires": row.wires,
            "memory": memory(),
        }
    except Exception as error:
        return None, {"error": describe(error)}
    return row, hello


def describe(error: BaseException) -> str:
    """One line for the table; the traceback goes to standard error."""
    traceback.print_exception(error)
    if isinstance(error, WrongResultError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def answer(runner: asyncio.Runner, row: Row, command: dict[str, Any]) -> dict[str, Any]:
    load = scenario(command["scenario"])
    try:
        return runner.run(measure(row, command["base_url"], command["wire"], load, command["seconds"]))
    except Exception as error:
        return {"error": describe(error)}


def main() -> None:
    replies = _redirect_stdout()
    row, hello = load_row(sys.argv[1])
    print(json.dumps(hello), file=replies, flush=True)
    if row is None:
        return
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            print(json.dumps(answer(runner, row, json.loads(line))), file=replies, flush=True)
        os._exit(0)  # clients keep connections and threads open; there is nothing left to save


def _redirect_stdout() -> TextIO:
    """Standard output for the replies alone: whatever a library prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies


if __name__ == "__main__":
    main()
