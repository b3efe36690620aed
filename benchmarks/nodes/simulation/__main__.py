"""Runs random schedules of faults against the real code of nodes, in virtual time, and checks what must hold.

    python -m benchmarks.nodes.simulation --schedules 10000 --seed 1 --processes 2
    python -m benchmarks.nodes.simulation --old-faults

A violation is printed with the seed of its schedule; `--schedules 1 --seed SEED` repeats it. It exits with 1 if there
was one. `--old-faults` brings back each fault that nodes had, and counts the schedules until it is found; it exits with
1 if one was not.
"""

import _sqlite3
import argparse
import ctypes
import gc
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.nodes.simulation.old_faults import OLD_FAULTS
from benchmarks.nodes.simulation.schedule import FAULTS, LENGTHS, ScheduleOutcome, Simulation
from benchmarks.report import commit_name, machine

_PORTION = 50
"""Schedules that a process runs before it hands over their outcomes."""
_MOST_SCHEDULES = 2000
"""Schedules in which an old fault has to be found."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt."""
_SINGLE_THREAD, _COUNTS_MEMORY, _LOOKASIDE = 1, 9, 13
"""Parameters of sqlite3_config, which has no effect while SQLite is initialized."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1000, help="number of schedules (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first one; the others follow it")
    parser.add_argument("--first", action="store_true", help="stop at the first violation")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, help="kinds of faults (default: all)")
    parser.add_argument("--length", choices=[*LENGTHS], default="", help="length of all schedules (default: by seed)")
    parser.add_argument("--processes", type=int, default=1, help="processes that share the work (default: 1)")
    parser.add_argument("--old-faults", action="store_true", help="bring back each old fault, and see it found")
    parser.add_argument("--output", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    figures = _find_old_faults(arguments) if arguments.old_faults else _run_schedules(arguments)
    if arguments.output is not None:
        command = " ".join(["python -m benchmarks.nodes.simulation", *sys.argv[1:]])
        place = {"command": command, "commit": commit_name(), "machine": machine()}
        result = place | {"arguments": _public_arguments(arguments), **figures}
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(1 if figures["failed"] else 0)


def _public_arguments(arguments: argparse.Namespace) -> dict[str, object]:
    """The arguments of the run, without paths."""
    return {name: value for name, value in vars(arguments).items() if name != "output"}


def _run_schedules(arguments: argparse.Namespace) -> dict[str, object]:
    began = perf_counter()
    faults: Counter[str] = Counter()
    failed = events = schedules = 0
    virtual = cpu = 0.0
    for outcomes, worked in _portions(arguments):
        cpu += worked
        for outcome in outcomes:
            schedules += 1
            events += outcome.events
            virtual += outcome.virtual_seconds
            faults.update(fault.rsplit(" ", 2)[0] for fault in outcome.faults)
            if outcome.violations:
                failed += 1
                print(f"seed {outcome.seed}, after {', '.join(outcome.faults)}:")
                for violation in outcome.violations:
                    print(f"  {violation}")
        if failed and arguments.first:
            break
    seconds = perf_counter() - began
    print(f"{schedules} schedules, {failed} with violations, {events} events, {virtual / 3600:.1f} virtual hours")
    print(
        f"{seconds:.1f} s with {arguments.processes} processes: {schedules / seconds * 60:.0f} schedules a minute; "
        f"{cpu:.1f} s of CPU: {schedules / cpu * 60:.0f} a minute of CPU"
    )
    print("faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(faults.items())))
    return {
        "schedules": schedules,
        "failed": failed,
        "events": events,
        "virtual_seconds": round(virtual),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "schedules_per_minute": round(schedules / seconds * 60),
        "schedules_per_cpu_minute": round(schedules / cpu * 60),
        "faults": dict(sorted(faults.items())),
    }


def _portions(arguments: argparse.Namespace) -> Iterator[tuple[list[ScheduleOutcome], float]]:
    """Yield the outcomes of portions of the schedules, with the seconds of CPU that they took."""
    end = arguments.seed + arguments.schedules
    portions = [range(first, min(first + _PORTION, end)) for first in range(arguments.seed, end, _PORTION)]
    run = partial(_run_portion, faults=arguments.faults, length=arguments.length)
    if arguments.processes == 1:
        _prepare_process()
        yield from map(run, portions)
        return
    with ProcessPoolExecutor(arguments.processes, initializer=_prepare_process) as executor:
        yield from executor.map(run, portions)


def _prepare_process() -> None:
    logging.disable(logging.CRITICAL)  # the troubles of nodes are what is simulated
    if sys.platform == "linux":  # elsewhere, functions with optional parameters may be called in another way
        _prepare_memory()
    gc.freeze()
    gc.disable()


def _prepare_memory() -> None:
    """SQLite frees and needs the same memory with every statement."""
    with suppress(OSError, AttributeError):
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_TRIM_THRESHOLD, 1 << 28)
        allocator.mallopt(_MMAP_THRESHOLD, 1 << 25)
        sqlite = ctypes.CDLL(_sqlite3.__file__)
        sqlite.sqlite3_shutdown()  # the module has initialized it; no connection was made
        sqlite.sqlite3_config(_SINGLE_THREAD)
        sqlite.sqlite3_config(_COUNTS_MEMORY, 0)
        sqlite.sqlite3_config(_LOOKASIDE, 512, 200)
        sqlite.sqlite3_initialize()


def _run_portion(seeds: Sequence[int], faults: Sequence[str], length: str) -> tuple[list[ScheduleOutcome], float]:
    began = process_time()
    with closing(Simulation()) as simulation:
        outcomes = list(simulation.run(seeds, faults, length))
    gc.collect()
    return outcomes, process_time() - began


def _find_old_faults(arguments: argparse.Namespace) -> dict[str, object]:
    _prepare_process()
    rows: dict[str, dict[str, object]] = {}
    seeds = range(arguments.seed, arguments.seed + _MOST_SCHEDULES)
    for fault in OLD_FAULTS:
        began = process_time()
        with closing(Simulation()) as simulation:
            seed, violation = fault.find(simulation, seeds, arguments.faults, arguments.length) or (
                seeds[-1],
                "not found",
            )
        cpu = process_time() - began
        gc.collect()
        schedules = seed - arguments.seed + 1
        rows[fault.name] = {"schedules": schedules, "cpu_seconds": round(cpu, 1), "violation": violation}
        print(f"{fault.name}: {schedules} schedules, {cpu:.1f} s of CPU: {violation}", flush=True)
    return {"failed": sum(row["violation"] == "not found" for row in rows.values()), "old_faults": rows}


if __name__ == "__main__":
    main()
