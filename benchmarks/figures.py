"""The figures of docs/benchmarks.md: the CPU of each row in milliseconds and as a multiple of the bare loop's, kept in
figures.json.

A full run of `benchmarks.run` writes the file; the page's table and its chart are made from it and from nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import commit_name, machine
from benchmarks.results import BASELINE, Results

FILE = Path(__file__).with_name("figures.json")
SCENARIOS: Mapping[str, str] = {
    "text-1000": "1,000 text deltas",
    "turns-20": "20 tool turns",
    "calls-8": "eight parallel calls",
    "text-1": "one short answer",
    "history-20": "the same after 200 turns",
    "args-200k": "200 KB of arguments",
}
ROWS: Mapping[str, str] = {
    "heald-agent": "heald.Agent, all events",
    "anthropic": "anthropic SDK",
    "openai": "openai SDK",
    "google-genai": "google-genai SDK",
    "openai-agents": "openai-agents",
    "strands": "strands",
    "pydantic-ai": "pydantic-ai",
    "langgraph": "langgraph",
}

Range = tuple[float, float]


@dataclass(frozen=True)
class Figures:
    """Ranges over the wires that a row speaks, by row and scenario; what was not measured is left out."""

    command: str
    commit: str
    measured: str
    machine: str
    multiples: Mapping[str, Mapping[str, Range]]
    milliseconds: Mapping[str, Mapping[str, Range]]

    def get(self, row: str, scenario: str) -> Range | None:
        return self.multiples.get(row, {}).get(scenario)

    @property
    def scenarios(self) -> Mapping[str, str]:
        """The titles of the scenarios that were measured."""
        measured = {scenario for ranges in self.multiples.values() for scenario in ranges}
        return {scenario: title for scenario, title in SCENARIOS.items() if scenario in measured}

    def as_json(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "commit": self.commit,
            "measured": self.measured,
            "machine": self.machine,
            "multiples": self.multiples,
            "milliseconds": self.milliseconds,
        }


def figures_of(results: Results) -> Figures:
    """What a run found, as the page shows it."""
    multiples: dict[str, dict[str, Range]] = {}
    milliseconds: dict[str, dict[str, Range]] = {}
    for row, wire, scenario in results.cells():
        cell = results.figures((row, wire, scenario))
        if cell is None or cell.times_median is None:
            continue
        _widen(milliseconds.setdefault(row, {}), scenario, 1000 * cell.cpu_median)
        if row != BASELINE:
            _widen(multiples.setdefault(row, {}), scenario, cell.times_median)
    month = datetime.now(UTC).strftime("%Y-%m")
    return Figures("python -m benchmarks.run", commit_name(), month, machine(), multiples, milliseconds)


def _widen(ranges: dict[str, Range], scenario: str, number: float) -> None:
    low, high = ranges.get(scenario, (number, number))
    ranges[scenario] = min(low, number), max(high, number)


def read(path: Path = FILE) -> Figures:
    stored = json.loads(path.read_text("utf-8"))
    multiples, milliseconds = (
        {row: {scenario: (low, high) for scenario, (low, high) in ranges.items()} for row, ranges in kind.items()}
        for kind in (stored["multiples"], stored["milliseconds"])
    )
    place = (stored[name] for name in ("command", "commit", "measured", "machine"))
    return Figures(*place, multiples, milliseconds)


def write(figures: Figures, path: Path = FILE) -> None:
    path.write_text(json.dumps(figures.as_json(), indent=1) + "\n", "utf-8")


def costs_table(figures: Figures) -> str:
    """The table of the page, as GitHub markdown."""
    scenarios = figures.scenarios
    lines = ["| row | " + " | ".join(scenarios.values()) + " |", "|---" * (len(scenarios) + 1) + "|"]
    for row, title in {BASELINE: "bare loop", **ROWS}.items():
        cells = [_cell(figures, row, scenario) for scenario in scenarios]
        lines.append(f"| {title.replace('heald.Agent', '`heald.Agent`')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(figures: Figures, row: str, scenario: str) -> str:
    """A multiple with the milliseconds behind it; the bare loop has only those."""
    multiples, milliseconds = figures.get(row, scenario), figures.milliseconds.get(row, {}).get(scenario)
    parts = [_format_range(numbers, unit) for numbers, unit in ((multiples, "×"), (milliseconds, "ms")) if numbers]
    return ", ".join(parts) or "–"


def _format_range(numbers: Range, unit: str) -> str:
    low, high = (_number(number) for number in numbers)
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _number(times: float) -> str:
    return f"{times:.0f}" if times >= 10 or times == int(times) >= 5 else f"{times:.1f}"
