"""Runs the benchmarks: all rows against one mock server, interleaved, and prints the tables.

python -m benchmarks.run                                   everything; renews figures.json and docs/benchmarks.md
python -m benchmarks.run --rows bare,heald --wires chat     a part of it
python -m benchmarks.run --rounds 20 --json results.json   longer, and kept
python -m benchmarks.run --quick                           two short rounds, imports timed once
"""

import argparse
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import chart, figures
from benchmarks.processes import Worker, first_turn_seconds, import_seconds, mock_server
from benchmarks.report import machine, tables
from benchmarks.results import Cell, Footprint, Results
from benchmarks.rows import ROWS
from benchmarks.scenarios import DEFAULT, WIRES, Wire, scenario

FRESH = 2


@dataclass(frozen=True)
class Options:
    """What to measure and for how long: `seconds` for a cell in each round, `budget` in all rounds."""

    rows: tuple[str, ...]
    wires: tuple[Wire, ...]
    scenarios: tuple[str, ...]
    rounds: int
    seconds: float
    budget: float
    limit: float
    fresh: int
    """Fresh interpreters for each import and each first turn."""
    json_path: Path | None
    keep: bool
    """Whether it is the run that docs/benchmarks.md shows: all of everything, for as long as it takes."""
    verbose: bool


@dataclass
class Bench:
    """A run in progress."""

    options: Options
    base_url: str
    workers: dict[str, Worker]
    results: Results
    _spent: dict[Cell, float] = field(default_factory=dict[Cell, float])

    def run(self) -> None:
        """A warm-up that counts only if it is long, then the rounds; rows take turns on every wire and scenario."""
        for round_ in range(self.options.rounds + 1):
            _print_progress(f"round {round_} of {self.options.rounds}" if round_ else "warm-up")
            for cell in self.results.cells():
                self._measure(cell, warm_up=round_ == 0)

    def _measure(self, cell: Cell, *, warm_up: bool) -> None:
        if cell in self.results.failures or self._spent.get(cell, 0) > self.options.budget:
            return
        row, wire, name = cell
        seconds = 0 if warm_up else self.options.seconds
        command = {"base_url": self.base_url, "wire": wire, "scenario": name, "seconds": seconds}
        answer = self.workers[row].ask(command, self.options.limit)
        if "error" in answer:
            self.results.failures[cell] = answer["error"]
            return
        footprint = self.results.footprints[row]
        footprint.memory_peak = max(footprint.memory_peak, answer["memory"]["peak"])
        if warm_up and answer["wall"] <= self.options.budget:
            return
        self.results.add(cell, answer["cpu"], answer["wall"])
        self._spent[cell] = self._spent.get(cell, 0) + answer["wall"] * answer["runs"]


def run(options: Options) -> Results:
    results = Results(options.rows, options.wires, options.scenarios)
    with ExitStack() as stack:
        base_url = stack.enter_context(mock_server())
        workers: dict[str, Worker] = {}
        for row in options.rows:
            worker = stack.enter_context(Worker(row, verbose=options.verbose))
            if "error" in worker.hello:
                results.broken[row] = worker.hello["error"]
                continue
            workers[row] = worker
            results.supported[row] = tuple(worker.hello["wires"])
            results.footprints[row] = _footprint(worker, base_url, options.fresh)
        Bench(options, base_url, workers, results).run()
    return results


def _footprint(worker: Worker, base_url: str, fresh: int) -> Footprint:
    _print_progress(f"import of {worker.row}")
    hello = worker.hello
    return Footprint(
        version=hello["version"],
        imports=hello["imports"],
        import_seconds=import_seconds(hello["imports"], fresh),
        first_turn_seconds=first_turn_seconds(worker.row, base_url, fresh),
        memory_imported=hello["memory"]["now"],
        memory_peak=hello["memory"]["peak"],
    )


def _print_progress(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def parse(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Heald against its peers.")
    parser.add_argument("--rows", default=",".join(ROWS), help="rows, with commas between them (default: %(default)s)")
    parser.add_argument("--wires", default=",".join(WIRES), help="wires (default: %(default)s)")
    parser.add_argument("--scenarios", default=",".join(DEFAULT), help="scenarios (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds after the warm-up (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="least time for a cell in a round (default: %(default)s)"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=2,
        help="stop repeating a cell after this time; a warm-up that lasts longer counts (default: %(default)s)",
    )
    parser.add_argument(
        "--limit", type=float, default=60, help="give up on a cell after this time (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="two rounds, as short as they can be; imports timed once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all samples here")
    parser.add_argument("--verbose", action="store_true", help="show what the rows write to standard error")
    chosen = parser.parse_args(arguments)
    rows = tuple(chosen.rows.split(","))
    for unknown in set(rows) - set(ROWS):
        parser.error(f"there is no row {unknown!r}; the rows are {', '.join(ROWS)}")
    asked_wires: list[str] = chosen.wires.split(",")
    wires: tuple[Wire, ...] = tuple(wire for wire in WIRES if wire in asked_wires)
    for unknown in set(asked_wires) - set(WIRES):
        parser.error(f"there is no wire {unknown!r}; the wires are {', '.join(WIRES)}")
    scenarios = tuple(chosen.scenarios.split(","))
    for name in scenarios:
        try:
            scenario(name)
        except ValueError as error:
            parser.error(str(error))
    return Options(
        rows=rows,
        wires=wires,
        scenarios=scenarios,
        rounds=2 if chosen.quick else chosen.rounds,
        seconds=0 if chosen.quick else chosen.seconds,
        budget=chosen.budget,
        limit=chosen.limit,
        fresh=1 if chosen.quick else FRESH,
        json_path=chosen.json,
        keep=not chosen.quick and (rows, wires, scenarios) == (tuple(ROWS), WIRES, DEFAULT),
        verbose=chosen.verbose,
    )


def main() -> None:
    options = parse(sys.argv[1:])
    results = run(options)
    print(tables(results))
    print("\n" + machine())
    if options.json_path is not None:
        options.json_path.write_text(json.dumps(results.as_json(), indent=1) + "\n")
    if options.keep:
        _keep(results)


def _keep(results: Results) -> None:
    stored = figures.figures_of(results)
    figures.write(stored)
    chart.renew(stored)
    print("\nbenchmarks/figures.json, and the chart and table of docs/benchmarks.md, are those of this run.")


if __name__ == "__main__":
    main()
