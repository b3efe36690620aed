"""What serving a delta costs, and how late it reaches the client: Heald beside other servers, from 1 to 400 agents.

    python -m benchmarks.live [--agents 1,3,20] [--deltas 100] [--rounds 2] [--rows "bare proxy,native"] [--json FILE]
    python -m benchmarks.live --quick      fewer and shorter, to see that all works
    python -m benchmarks.live --resume     measure what the last run left out

All rows take turns at each number of agents, each server in a process of its own. A run ends after `--seconds`. A whole
one keeps its figures in results/live.json and served.json, and puts the curve and the table into docs/benchmarks.md.
"""

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from benchmarks.processes import enter_environment

POINTS = (1, 3, 10, 20, 50, 100, 200, 400)
RESULTS = Path(__file__).with_name("results") / "live.json"


def _parse() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--agents", default="", help="how many are watched at once, by commas (default: the curve)")
    options.add_argument("--deltas", type=int, default=100, help="deltas that each agent streams in a round")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--rows", default="", help="rows whose names contain one of these texts, by commas")
    options.add_argument("--seconds", type=float, default=320.0, help="the run ends after them (default: %(default)g)")
    options.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options.add_argument("--resume", action="store_true", help="measure only what the file of figures lacks")
    options.add_argument("--quick", action="store_true", help="1, 5 and 20 agents, one short round")
    return options.parse_args()


def main() -> None:
    arguments = _parse()
    enter_environment("benchmarks.live")
    from benchmarks.curve import Plan, cells_of, measure_curve, renew  # they need the packages of the environment

    is_whole = not (arguments.quick or arguments.rows or arguments.agents)
    points = POINTS if is_whole else (1, 5, 20)
    if arguments.agents:
        points = tuple(int(part) for part in arguments.agents.split(","))
    plan = Plan(
        cells=cells_of(points, [part.strip() for part in arguments.rows.split(",") if part.strip()]),
        deltas=50 if arguments.quick else arguments.deltas,
        rounds=1 if arguments.quick else arguments.rounds,
        seconds=arguments.seconds,
        command=" ".join(["python -m benchmarks.live", *sys.argv[1:]]),
    )
    place = arguments.json or (RESULTS if is_whole else None)
    with suppress(KeyboardInterrupt):
        curve = asyncio.run(measure_curve(plan, place, resume=arguments.resume))
        print(curve.table())
        missing = curve.missing(plan)
        if missing:
            advice = "run it again with --resume" if place else "allow more --seconds"
            print(f"\nMeasurements that are left: {missing}; {advice}.")
        elif is_whole:
            renew(curve)


if __name__ == "__main__":
    main()
