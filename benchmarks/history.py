"""What a turn costs in a conversation that is already long: after 50, 200 and 800 turns.

All rows take turns in one run. A short and a long exchange are measured: their difference is what its further turns
cost, and what is left of the short one is the opening, paid once, in which a row takes up what was said before. A
request holds the whole conversation, so a turn must cost more when more was said; the last columns tell how much for
each kilobyte that is sent, and that as a multiple of the bare loop.

    python -m benchmarks.history [--wires chat,messages] [--quick]
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from benchmarks.processes import Worker, mock_server, server_stats
from benchmarks.report import machine, table, times
from benchmarks.results import BASELINE
from benchmarks.rows import ROWS
from benchmarks.scenarios import WIRES, Wire

PASTS = (50, 200, 800)
SHORT, LONG = 2, 22
LIMIT = 120.0
BUDGET = 20.0
"""A row that has used this many seconds is not asked again."""


@dataclass
class Samples:
    """One row on one wire after one past: CPU seconds of short and long exchanges, and the bytes of a request."""

    short: list[float] = field(default_factory=list[float])
    long: list[float] = field(default_factory=list[float])
    sent: float = 0
    spent: float = 0
    error: str | None = None

    @property
    def turn(self) -> float:
        return (median(self.long) - median(self.short)) / (LONG - SHORT)

    @property
    def opening(self) -> float:
        return max(0.0, median(self.short) - (SHORT + 1) * self.turn)


Cell = tuple[Wire, str, int]
Found = dict[Cell, Samples]


class Bench:
    """A run in progress."""

    def __init__(self, base_url: str, workers: dict[str, Worker]) -> None:
        self._base_url = base_url
        self._workers = workers
        self.found: Found = {
            (wire, row, past): Samples()
            for wire in WIRES
            for past in PASTS
            for row, worker in workers.items()
            if wire in worker.hello.get("wires", ())
        }

    def run(self, wires: Sequence[Wire], rounds: int) -> None:
        """A warm-up with the shortest past, which is not counted; then the rounds."""
        self.found = {cell: samples for cell, samples in self.found.items() if cell[0] in wires}
        for round_ in range(rounds + 1):
            print(f"round {round_} of {rounds}" if round_ else "warm-up", file=sys.stderr, flush=True)
            for cell, samples in self.found.items():
                if round_ == 0 and cell[2] == PASTS[0]:
                    self._exchange(cell, samples, SHORT)
                elif round_ > 0 and samples.error is None and samples.spent < BUDGET:
                    samples.short += self._exchange(cell, samples, SHORT)
                    samples.long += self._exchange(cell, samples, LONG)

    def _exchange(self, cell: Cell, samples: Samples, turns: int) -> list[float]:
        """The CPU of one exchange, or nothing if it failed."""
        wire, row, past = cell
        command = {"wire": wire, "scenario": f"history-{turns}-over-{past}", "seconds": 0}
        server_stats(self._base_url)
        answer = self._workers[row].ask(command | {"base_url": self._base_url}, LIMIT)
        if "error" in answer:
            samples.error = answer["error"]
            return []
        stats = server_stats(self._base_url)
        samples.sent = stats["received"] / stats["requests"]
        samples.spent += answer["wall"] * answer["runs"]
        return [answer["cpu"]]


def report(samples: Found) -> str:
    head = ["wire", "row", *(f"a turn after {past}" for past in PASTS)]
    head += [f"opening after {PASTS[-1]}", f"sent after {PASTS[-1]}", "CPU for each KB", "× bare"]
    problems = [
        f"- {row}, {wire}, {past} turns: {sample.error}"
        for (wire, row, past), sample in samples.items()
        if sample.error
    ]
    return "\n\n".join(
        [
            "### history: CPU of a further turn (median, and × bare), by the turns that were held before",
            table(head, _lines(samples)),
            *(["\n".join(problems)] if problems else []),
        ]
    )


def _lines(samples_by_cell: Found) -> Iterator[list[str]]:
    pairs: dict[tuple[Wire, str], None] = {(wire, row): None for wire, row, _ in samples_by_cell}
    for wire, row in pairs:
        samples = [samples_by_cell[wire, row, past] for past in PASTS]
        if any(sample.error for sample in samples):
            yield [wire, row, *["failed"] * len(PASTS), "", "", "", ""]
            continue
        bare = [samples_by_cell.get((wire, BASELINE, past)) for past in PASTS]
        slope, base = _slope(samples), _slope([sample for sample in bare if sample is not None])
        yield [
            wire,
            row,
            *(
                _time(sample.turn) + (f" ({times(sample.turn / by.turn)})" if by is not None else "")
                for sample, by in zip(samples, bare, strict=True)
            ),
            _time(samples[-1].opening),
            f"{samples[-1].sent / 1000:.0f} KB",
            f"{slope * 1e6:.1f} µs" if slope is not None else "–",
            times(slope / base) if slope is not None and base else "–",
        ]


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def _slope(samples: Sequence[Samples]) -> float | None:
    """Seconds for each kilobyte more."""
    if len(samples) < len(PASTS):
        return None
    return (samples[-1].turn - samples[0].turn) / (samples[-1].sent - samples[0].sent) * 1000


def run(rows: Sequence[str], wires: Sequence[Wire], rounds: int) -> Found:
    with ExitStack() as stack:
        base_url = stack.enter_context(mock_server())
        bench = Bench(base_url, {row: stack.enter_context(Worker(row, verbose=False)) for row in rows})
        bench.run(wires, rounds)
        return bench.found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description="Turns of long conversations.")
    parser.add_argument("--rows", default=",".join(ROWS), help="rows, with commas between them (default: %(default)s)")
    parser.add_argument("--wires", default=",".join(WIRES), help="wires (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the warm-up (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="the chat wire alone, two rounds")
    options = parser.parse_args()
    rows = options.rows.split(",")
    for unknown in set(rows) - set(ROWS):
        parser.error(f"there is no row {unknown!r}; the rows are {', '.join(ROWS)}")
    asked: list[str] = ["chat"] if options.quick else options.wires.split(",")
    for unknown in set(asked) - set(WIRES):
        parser.error(f"there is no wire {unknown!r}; the wires are {', '.join(WIRES)}")
    wires: list[Wire] = [wire for wire in WIRES if wire in asked]
    print(report(run(rows, wires, 2 if options.quick else options.rounds)))
    print("\n" + machine())


if __name__ == "__main__":
    main()
