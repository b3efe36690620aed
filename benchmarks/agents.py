"""How many agents one process carries on one core while each of them streams 50 deltas a second.

The mock server runs on another core and writes into each delta when it was sent. A row carries a number of agents if
99 of 100 deltas reach its code within 100 ms. Rows take turns at each number; a row that misses it is asked again,
because a busy machine can only make it look worse, and leaves the climb when it misses it every time. Then the gap
between the last number that it carried and the first that it did not is closed from both sides.

    python -m benchmarks.agents [--rows bare,heald-agent] [--quick]
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.processes import environment, mock_server, server_stats
from benchmarks.report import machine, table
from benchmarks.rows import ROWS
from benchmarks.scenarios import WIRES, Wire

CROWD = ("bare", "heald-agent", "strands", "openai-agents", "pydantic-ai", "langgraph")
LADDER = (10, 20, 30, 40, 60, 80, 100, 150, 200, 250, 300, 400, 500, 600, 800)
QUICK_LADDER = (10, 25, 50, 100, 200, 300, 400)
GOOD = 0.1
SERVER_GOOD = 0.02
"""If more than one of 100 ticks of the server is later than this, the server and not the row was measured."""
DELIVERED = 0.95
"""If less than this part of the deltas arrived while they were counted, the row fell behind."""
UNDISTURBED = 0.05
"""If other work had the core for more of the time than this while the row could have run, the table says so."""

_LIMIT = 90.0


@dataclass(frozen=True)
class Options:
    wire: Wire
    ladder: Sequence[int]
    ramp: float
    seconds: float
    tries: int
    close: float
    """The gap is closed until its ends differ by less than this part."""


@dataclass(frozen=True)
class Measured:
    """One number of agents: lags in seconds, the share of the core that was used, and that which other work took
    away while it was needed; how late the server itself was, and which part of all deltas arrived."""

    agents: int
    p50: float = 0
    p99: float = 0
    cpu: float = 0
    waited: float = 0
    late: float = 0
    delivered: float = 1
    error: str | None = None

    @property
    def good(self) -> bool:
        return self.error is None and self.p99 < GOOD and self.delivered > DELIVERED

    @property
    def words(self) -> str:
        if self.error is not None:
            return "failed"
        doubts = ["server late"] * (self.late > SERVER_GOOD)
        doubts += [f"{self.delivered * 100:.0f} % arrived"] * (self.delivered <= DELIVERED)
        doubts += [f"core taken {self.waited * 100:.0f} %"] * (self.waited > UNDISTURBED)
        return f"{self.p50 * 1000:.1f} / {self.p99 * 1000:.0f} ms, {self.cpu * 100:.0f} %" + (
            f" ({', '.join(doubts)})" if doubts else ""
        )


class Climb:
    """A row on its way up."""

    def __init__(self, row: str) -> None:
        self.row = row
        self.measured: dict[int, Measured] = {}

    @property
    def carried(self) -> int:
        return max((agents for agents, measured in self.measured.items() if measured.good), default=0)

    @property
    def missed(self) -> int | None:
        return min((agents for agents, measured in self.measured.items() if not measured.good), default=None)

    def next_between(self, close: float) -> int | None:
        """The middle of the gap, if it is still worth a look."""
        if self.missed is None or not self.carried or self.missed <= self.carried * (1 + close):
            return None
        middle = (self.carried + self.missed) // 2
        return middle if middle not in self.measured else None


@dataclass(frozen=True)
class Cores:
    """Two cores that do not disturb each other, where the system has and tells them."""

    server: int | None = None
    row: int | None = None

    @classmethod
    def of_this_machine(cls) -> "Cores":
        if not hasattr(os, "sched_getaffinity"):
            return cls()
        cores = sorted(os.sched_getaffinity(0))
        return cls(cores[0], cores[1]) if len(cores) > 1 else cls()


class Bench:
    def __init__(self, base_url: str, options: Options, core: int | None) -> None:
        self._base_url = base_url
        self._options = options
        self._core = core

    def climb(self, climbs: Sequence[Climb]) -> None:
        """All rows up the ladder together, each until it misses a rung; then all gaps together."""
        for agents in self._options.ladder:
            for climb in climbs:
                if climb.missed is None:
                    self._measure(climb, agents)
        while True:
            open_gaps = [(climb, agents) for climb in climbs if (agents := climb.next_between(self._options.close))]
            if not open_gaps:
                return
            for climb, agents in open_gaps:
                self._measure(climb, agents)

    def _measure(self, climb: Climb, agents: int) -> None:
        best: Measured | None = None
        for _ in range(self._options.tries):
            attempt = self._once(climb.row, agents)
            if best is None or (best.error is not None) or (attempt.error is None and attempt.p99 < best.p99):
                best = attempt
            if best.good:
                break
        assert best is not None
        climb.measured[agents] = best
        outcome = best.error or best.words
        print(f"{climb.row}, {agents} agents: {outcome}", file=sys.stderr, flush=True)

    def _once(self, row: str, agents: int) -> Measured:
        options = self._options
        arguments = [row, self._base_url, options.wire, str(agents), str(options.ramp), str(options.seconds)]
        if self._core is not None:
            arguments.append(str(self._core))
        command = [sys.executable, "-m", "benchmarks.agents_worker", *arguments]
        server_stats(self._base_url)
        try:
            ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            return Measured(agents, error=f"took over {_LIMIT:g} s")
        late = server_stats(self._base_url)["late"]["p99"]
        try:
            report = json.loads(ended.stdout)
        except ValueError:
            lines = ended.stderr.strip().splitlines()
            return Measured(agents, error=lines[-1][:200] if lines else "the process died")
        if "error" in report:
            return Measured(agents, error=report["error"])
        return Measured(
            agents, report["p50"], report["p99"], report["cpu"], report["waited"], late, report["delivered"]
        )


def report(climbs: Sequence[Climb]) -> str:
    rungs = sorted({agents for climb in climbs for agents in climb.measured})
    head = ["agents", *(climb.row for climb in climbs)]
    parts = [
        "### agents: the most that one process on one core carries with 99 of 100 deltas within 100 ms",
        table(["row", "agents", "first that it did not carry", "CPU of one agent"], map(_most, climbs)),
        "### agents: lag of a delta (median / 99th of 100), and the share of the core in use",
        table(head, (_rung(climbs, agents) for agents in rungs)),
    ]
    problems = list(_problems(climbs))
    if problems:
        parts += ["### What did not work", "\n".join(problems)]
    return "\n\n".join(parts)


def _most(climb: Climb) -> list[str]:
    carried = climb.measured.get(climb.carried)
    share = f"{carried.cpu / carried.agents * 100:.2f} % of a core" if carried is not None else "–"
    return [climb.row, str(climb.carried), str(climb.missed) if climb.missed is not None else "not reached", share]


def _rung(climbs: Sequence[Climb], agents: int) -> list[str]:
    cells = (climb.measured.get(agents) for climb in climbs)
    return [str(agents), *(cell.words if cell is not None else "" for cell in cells)]


def _problems(climbs: Sequence[Climb]) -> Iterator[str]:
    for climb in climbs:
        for measured in climb.measured.values():
            if measured.error is not None:
                yield f"- {climb.row}, {measured.agents} agents: {measured.error}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description="Agents in one process.")
    parser.add_argument("--rows", default=",".join(CROWD), help="rows, with commas between them (default: %(default)s)")
    parser.add_argument("--wire", default="chat", choices=[wire for wire in WIRES if wire != "responses"])
    parser.add_argument("--ladder", help="numbers of agents to try, with commas between them")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each is counted (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="fewer rungs, shorter, and gaps stay open")
    arguments = parser.parse_args()
    rows = arguments.rows.split(",")
    for unknown in set(rows) - set(ROWS):
        parser.error(f"there is no row {unknown!r}; the rows are {', '.join(ROWS)}")
    ladder = QUICK_LADDER if arguments.quick else LADDER
    options = Options(
        wire=arguments.wire,
        ladder=[int(agents) for agents in arguments.ladder.split(",")] if arguments.ladder else ladder,
        ramp=1.0 if arguments.quick else 2.0,
        seconds=2.0 if arguments.quick else arguments.seconds,
        tries=2 if arguments.quick else 3,
        close=1.0 if arguments.quick else 0.08,
    )
    climbs = [Climb(row) for row in rows]
    cores = Cores.of_this_machine()
    with mock_server(cores.server) as base_url:
        Bench(base_url, options, cores.row).climb(climbs)
    print(report(climbs))
    print("\n" + machine())


if __name__ == "__main__":
    main()
