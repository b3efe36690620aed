"""The curve of the served path: CPU and lag of each server at growing numbers of agents, and its file."""

import json
import re
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from os import getloadavg
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks.pacing import DELTAS_A_SECOND
from benchmarks.report import commit_name, machine
from benchmarks.served_figures import BASELINE, PAGE, Served, ServedRow, keep, put_table, table, without_load
from benchmarks.served_path import CLIENTS, measure, start_servers
from benchmarks.server import Process, percentile

COLUMNS = {
    BASELINE: "bare proxy",
    "heald, native, SQLite": "heald, SQLite",
    "heald, ag-ui, SQLite": "heald, ag-ui",
    "heald, native, PostgreSQL": "heald, PostgreSQL",
    "pydantic-ai, its AG-UI adapter": "pydantic-ai",
    "langgraph behind FastAPI": "langgraph",
}
"""The rows of the curve, and their heads in its table."""
ALL_ROWS_AT = 20
"""The number of agents at which every row is measured."""
FULL = 0.9
"""A server that used so much of a core is asked for no more agents."""
_CURVE = re.compile(r"^\| agents \|.*\n(?:\|.*\n)*\n.*\n", re.M)
_BEFORE = re.compile(r"^Many readers of one server are measured", re.M)

Cell = tuple[str, int]
"""A row and a number of agents."""


@dataclass(frozen=True)
class Plan:
    """What a run measures."""

    cells: Sequence[Cell]
    deltas: int
    rounds: int
    seconds: float
    command: str


@dataclass(frozen=True)
class Sample:
    """One measurement. CPU of a delta in microseconds, lags in milliseconds, and how busy the machine was."""

    row: str
    agents: int
    cpu: float
    median: float
    p99: float
    load: float


@dataclass(frozen=True)
class Failure:
    """Why a row was not measured at a number of agents. It is asked for no more than that; 0 if it does not start."""

    row: str
    agents: int
    reason: str


@dataclass
class Curve:
    """The samples of a run, and where and how it was made."""

    command: str
    commit: str
    machine: str
    measured: str
    deltas: int
    """Deltas of each agent in a measurement."""
    pace: int = DELTAS_A_SECOND
    failures: list[Failure] = field(default_factory=list[Failure])
    samples: list[Sample] = field(default_factory=list[Sample])

    def of(self, cell: Cell) -> list[Sample]:
        return [sample for sample in self.samples if (sample.row, sample.agents) == cell]

    def summary(self, cell: Cell) -> ServedRow | None:
        """The least CPU of the rounds, which other work can only add to, and the medians of their lags."""
        samples = self.of(cell)
        if not samples:
            return None
        lags = median(sample.median for sample in samples), median(sample.p99 for sample in samples)
        return ServedRow(cell[0], min(sample.cpu for sample in samples), *lags)

    def is_full(self, cell: Cell) -> bool:
        """Whether the row had no core left at fewer agents."""
        row, agents = cell
        return any(
            sample.row == row and sample.agents < agents and sample.cpu * sample.agents * self.pace / 1e6 > FULL
            for sample in self.samples
        )

    def is_failed(self, cell: Cell) -> bool:
        row, agents = cell
        return any(failure.row == row and failure.agents <= agents for failure in self.failures)

    def needs(self, cell: Cell, rounds: int) -> int:
        """How often a cell is still to be measured."""
        if self.is_full(cell) or self.is_failed(cell):
            return 0
        return max(rounds - len(self.of(cell)), 0)

    def missing(self, plan: Plan) -> int:
        """How many measurements of a plan are still to be made."""
        return sum(self.needs(cell, plan.rounds) for cell in plan.cells)

    def table(self) -> str:
        """CPU of a delta, the same beside the proxy, and the median and p99 lag, by agents and server."""
        rows = [row for row in CLIENTS if any(sample.row == row for sample in self.samples)]
        points = sorted({sample.agents for sample in self.samples})
        if len(points) > 1:
            rows = [row for row in rows if row in COLUMNS]
        lines = [
            f"| agents | {' | '.join(COLUMNS.get(row, row) for row in rows)} |",
            f"|---:|{'---|' * len(rows)}",
            *(f"| {agents} | {' | '.join(self._entry(row, agents) for row in rows)} |" for agents in points),
        ]
        how = f"CPU per delta, relative to the proxy; lag as median / p99; {self.pace} deltas a second per agent. "
        return "\n".join([*lines, "", f"{how}{without_load(self.machine)}, {self.measured}."])

    def _entry(self, row: str, agents: int) -> str:
        summary = self.summary((row, agents))
        if summary is None:
            return "full" if self.is_full((row, agents)) else "–"
        proxy = self.summary((BASELINE, agents))
        times = f", {summary.cpu / proxy.cpu:.1f} ×" if proxy is not None else ""
        return f"{summary.cpu:.0f} µs{times}; {summary.median:.1f} / {summary.p99:.1f} ms"

    def store(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")


def cells_of(points: Sequence[int], parts: Sequence[str]) -> list[Cell]:
    """The rows of the curve at each point and all rows at one of them, or the rows whose names contain a part."""
    return [
        (row, agents)
        for agents in points
        for row in CLIENTS
        if (any(part in row for part in parts) if parts else row in COLUMNS or agents == ALL_ROWS_AT)
    ]


def read(path: Path) -> Curve:
    stored = json.loads(path.read_text("utf-8"))
    samples = [Sample(**sample) for sample in stored.pop("samples")]
    failures = [Failure(**failure) for failure in stored.pop("failures")]
    return Curve(**stored, samples=samples, failures=failures)


def begin(plan: Plan, place: Path | None, *, resume: bool) -> Curve:
    """Return an empty curve, or the stored one if it is of the same commit and has as many deltas."""
    curve = Curve(plan.command, commit_name(), machine(), datetime.now(UTC).strftime("%Y-%m"), plan.deltas)
    if not resume:
        return curve
    if place is None or not place.exists():
        raise SystemExit("There is no file of figures to resume; run it without --resume, or name the file by --json.")
    stored = read(place)
    if (stored.deltas, stored.commit) != (curve.deltas, curve.commit):
        made = f"with {stored.deltas} deltas at commit {stored.commit}"
        raise SystemExit(f"{place.name} was measured {made}, which is not this run; run it without --resume.")
    stored.failures = []  # they are tried again
    return stored


async def measure_curve(plan: Plan, place: Path | None, *, resume: bool) -> Curve:
    """Measure the cells of a plan until its time is over, and store each measurement at once."""
    curve = begin(plan, place, resume=resume)
    until = monotonic() + plan.seconds
    async with AsyncExitStack() as stack:
        servers = await start_servers(stack, {CLIENTS[row].server for row, _ in plan.cells})
        for row in dict.fromkeys(row for row, _ in plan.cells):
            if CLIENTS[row].server not in servers:
                curve.failures.append(Failure(row, 0, "its server could not be started"))
            elif isinstance(outcome := await _measure(row, servers, 2, 20), Failure):  # it warms up
                curve.failures.append(Failure(row, 0, outcome.reason))
        if place is not None:
            curve.store(place)
        for number in range(1, plan.rounds + 1):
            for row, agents in plan.cells:
                if monotonic() > until:
                    return curve
                if not curve.needs((row, agents), number):
                    continue
                outcome = await _measure(row, servers, agents, plan.deltas)
                if isinstance(outcome, Failure):
                    curve.failures.append(outcome)
                else:
                    curve.samples.append(outcome)
                if place is not None:
                    curve.store(place)
    return curve


async def _measure(row: str, servers: dict[str, Process], agents: int, deltas: int) -> Sample | Failure:
    client = CLIENTS[row]
    try:
        lags, cost = await measure(client, servers[client.server], agents, deltas)
    except (RuntimeError, TimeoutError, OSError) as error:
        failure = Failure(row, agents, str(error) or type(error).__name__)
        print(f"failed: {row} with {agents} agents ({failure.reason})", file=sys.stderr)
        return failure
    lag = percentile(lags, 0.5), percentile(lags, 0.99)
    return Sample(row, agents, cost * 1e6, *lag, load=getloadavg()[0])


def renew(curve: Curve) -> None:
    """Put the curve, and the table of all rows, into the page of figures."""
    rows = [summary for row in CLIENTS if (summary := curve.summary((row, ALL_ROWS_AT))) is not None]
    served = Served(curve.command, curve.commit, curve.measured, machine(), ALL_ROWS_AT, curve.pace, rows)
    print(f"\n{table(served)}")
    keep(served)
    page = PAGE.read_text("utf-8")
    if _CURVE.search(page):
        put_table(PAGE, _CURVE, curve.table())
        return
    before = _BEFORE.search(page)
    if before is None:
        raise SystemExit(f"{PAGE.name} has no place for the curve; put its table there by hand once.")
    PAGE.write_text(f"{page[: before.start()]}{curve.table()}\n\n{page[before.start() :]}", "utf-8")
