"""Runs random schedules of faults against the real code of nodes, in virtual time, and checks what must hold.

    python -m benchmarks.nodes.simulation --schedules 10000 --seed 1

A violation is printed with the seed of its schedule; `--schedules 1 --seed SEED` repeats it. It exits with 1 if there
was one.
"""

import argparse
import json
import logging
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.nodes.simulation.schedule import FAULTS, Simulation
from benchmarks.report import machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1000, help="number of schedules (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first one; the others follow it")
    parser.add_argument("--first", action="store_true", help="stop at the first violation")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, help="kinds of faults (default: all)")
    parser.add_argument("--output", type=Path, help="file for the figures, as JSON")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the troubles of nodes are what is simulated
    began, worked = perf_counter(), process_time()
    faults: Counter[str] = Counter()
    failed = events = schedules = 0
    virtual = 0.0
    simulation = Simulation()
    for outcome in simulation.run(range(arguments.seed, arguments.seed + arguments.schedules), arguments.faults):
        schedules += 1
        events += outcome.events
        virtual += outcome.virtual_seconds
        faults.update(fault.rsplit(" ", 2)[0] for fault in outcome.faults)
        if outcome.violations:
            failed += 1
            print(f"seed {outcome.seed}, after {', '.join(outcome.faults)}:")
            for violation in outcome.violations:
                print(f"  {violation}")
            if arguments.first:
                break
    simulation.close()
    seconds, cpu = perf_counter() - began, process_time() - worked
    print(f"{schedules} schedules, {failed} with violations, {events} events, {virtual / 3600:.1f} virtual hours")
    print(f"{seconds:.1f} s, {cpu:.1f} s of CPU: {schedules / cpu * 60:.0f} schedules a minute of CPU")
    print("faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(faults.items())))
    if arguments.output is not None:
        figures = {
            "command": f"python -m benchmarks.nodes.simulation --schedules {schedules} --seed {arguments.seed}",
            "machine": machine(),
            "schedules": schedules,
            "violations": failed,
            "events": events,
            "virtual_seconds": round(virtual),
            "cpu_seconds": round(cpu, 1),
            "schedules_per_cpu_minute": round(schedules / cpu * 60),
            "faults": dict(sorted(faults.items())),
        }
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
