"""The figures of docs/benchmarks.md: what each row costs as a multiple of the bare loop, kept in figures.json.

A full run of `benchmarks.run` writes the file; the page's table and its chart are made from it and from nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import machine
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
    "heald": "heald, one provider session",
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

    measured: str
    machine: str
    multiples: Mapping[str, Mapping[str, Range]]

    def get(self, row: str, scenario: str) -> Range | None:
        return self.multiples.get(row, {}).get(scenario)

    @property
    def scenarios(self) -> Mapping[str, str]:
        """The titles of the scenarios that were measured."""
        measured = {scenario for ranges in self.multiples.values() for scenario in ranges}
        return {scenario: title for scenario, title in SCENARIOS.items() if scenario in measured}

    def as_json(self) -> dict[str, Any]:
        return {"measured": self.measured, "machine": self.machine, "multiples": self.multiples}


def figures_of(results: Results) -> Figures:
    """What a run found, as the page shows it."""
    multiples: dict[str, dict[str, Range]] = {}
    for row, wire, scenario in results.cells():
        cell = results.figures((row, wire, scenario))
        if row == BASELINE or cell is None or cell.times_median is None:
            continue
        times = cell.times_median
        low, high = multiples.setdefault(row, {}).get(scenario, (times, times))
        multiples[row][scenario] = min(low, times), max(high, times)
    return Figures(datetime.now(UTC).strftime("%Y-%m"), machine(), multiples)


def read(path: Path = FILE) -> Figures:
    stored = json.loads(path.read_text("utf-8"))
    multiples = {
        row: {scenario: (low, high) for scenario, (low, high) in ranges.items()}
        for row, ranges in stored["multiples"].items()
    }
    return Figures(stored["measured"], stored["machine"], multiples)


def write(figures: Figures, path: Path = FILE) -> None:
    path.write_text(json.dumps(figures.as_json(), indent=1) + "\n", "utf-8")


def costs_table(figures: Figures) -> str:
    """The table of the page, as GitHub markdown."""
    scenarios = figures.scenarios
    lines = ["| row | " + " | ".join(scenarios.values()) + " |", "|---" * (len(scenarios) + 1) + "|"]
    for row, title in ROWS.items():
        cells = [_format_range(figures.get(row, scenario)) for scenario in scenarios]
        lines.append(f"| {title.replace('heald.Agent', '`heald.Agent`')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _format_range(multiples: Range | None) -> str:
    if multiples is None:
        return "–"
    low, high = (_number(multiple) for multiple in multiples)
    return f"{low} ×" if low == high else f"{low} to {high} ×"


def _number(times: float) -> str:
    return f"{times:.0f}" if times >= 10 or times == int(times) >= 5 else f"{times:.1f}"
