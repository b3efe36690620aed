"""The tables that a run prints, as GitHub markdown."""

import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.results import Figures, Results
from benchmarks.scenarios import scenario

_ROOT = Path(__file__).resolve().parents[1]
_TITLES = {
    "text": "{} text deltas in a burst, with a fresh agent",
    "turns": "{} turns with a tool call, and a final text",
    "calls": "{} calls in one message, and a final text",
    "history": "{} turns with a tool call, and a final text, after {past} turns that were held before",
    "args": "a tool call with {} bytes of arguments in 8-byte deltas",
    "paced": "{} text deltas at 50 a second",
}


def tables(results: Results) -> str:
    """A summary, the footprint of each row, the details of each scenario, and what did not work."""
    sections = [
        "### Summary: CPU of one run (median), and as a multiple of the bare loop on the same wire",
        table(["row", "wire", *results.scenarios], _summary(results)),
        "### Import and memory",
        table(
            ["row", "version", "statement", "import", "first turn", "memory after import", "peak"],
            _footprints(results),
        ),
    ]
    for name in results.scenarios:
        load = scenario(name)
        sections += [
            f"### {name}: " + _TITLES[load.kind].format(f"{load.size:,}", past=load.past),
            table(
                [
                    "wire",
                    "row",
                    "CPU median",
                    "CPU min",
                    "× bare (median)",
                    "× bare (min)",
                    "wall median",
                    "wall min",
                ],
                _details(results, name),
            ),
        ]
    problems = list(_problems(results))
    if problems:
        sections += ["### What did not work", "\n".join(problems)]
    return "\n\n".join(sections)


def machine() -> str:
    """Where this was measured, and how busy it was: other work on the machine blurs all figures."""
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        f"load average over 1, 5 and 15 minutes: {busy}."
    )


def commit_name() -> str:
    """The commit of the checkout, with a mark if files were changed since."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+changes", "--exclude=*"], cwd=_ROOT, capture_output=True, text=True
    )
    return described.stdout.strip() or "unknown"


def _summary(results: Results) -> Iterator[list[str]]:
    for row in results.rows:
        if row in results.broken:
            yield [row, "–", *("not run" for _ in results.scenarios)]
        for wire in results.wires:
            if wire in results.supported.get(row, ()):
                cells = [_short(results.figures((row, wire, name))) for name in results.scenarios]
                yield [row, wire, *cells]


def _short(figures: Figures | None) -> str:
    if figures is None:
        return "failed"
    return f"{_time(figures.cpu_median)} ({times(figures.times_median)})"


def _footprints(results: Results) -> Iterator[list[str]]:
    for row, footprint in results.footprints.items():
        yield [
            row,
            footprint.version,
            f"`{footprint.imports}`",
            _time(footprint.import_seconds),
            _time(footprint.first_turn_seconds),
            _memory(footprint.memory_imported),
            _memory(footprint.memory_peak),
        ]


def _details(results: Results, name: str) -> Iterator[list[str]]:
    for row, wire, cell_name in results.cells():
        if cell_name != name:
            continue
        figures = results.figures((row, wire, name))
        if figures is None:
            yield [wire, row, "failed", *[""] * 5]
            continue
        yield [
            wire,
            row,
            _time(figures.cpu_median),
            _time(figures.cpu_min),
            times(figures.times_median),
            times(figures.times_min),
            _time(figures.wall_median),
            _time(figures.wall_min),
        ]


def _problems(results: Results) -> Iterator[str]:
    for row, reason in results.broken.items():
        yield f"- {row}: could not be loaded. {reason}"
    for (row, wire, name), reason in results.failures.items():
        yield f"- {row}, {wire}, {name}: {reason}"


def table(head: Sequence[str], rows: Iterable[list[str]]) -> str:
    """Columns as wide as their widest cell, so that the table reads well before it is rendered."""
    lines = [list(head), ["---"] * len(head), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines[1] = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1000:.1f} ms"


def times(multiple: float | None) -> str:
    """A multiple, as the tables write it."""
    if multiple is None:
        return "–"
    return f"{multiple:.2f}×" if multiple < 10 else f"{multiple:.0f}×"


def _memory(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"
