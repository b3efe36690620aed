"""Figures in README and docs come from stored results, which name their command, commit and machine."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.public_pages import read_rows, table_lines

from doc_pages import PAGES, ROOT, name_of, prose

BENCHMARKS = ROOT / "benchmarks"
RESULTS = sorted([*BENCHMARKS.glob("*.json"), *BENCHMARKS.glob("results/*.json")])
NOT_MEASURED = {"changes.json": "files of commits; `tests/test_change_counts.py` compares them"}
PROVENANCE = ("command", "commit", "machine")
SCALES = (1, 100, 1000, 1e-3, 1e-6, 1 / 1024)
"""From the units of a file to those of a table: shares to percent, seconds to milliseconds, bytes to megabytes."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_MEASURED = re.compile(r"\d ?(?:µs|×|ms)|\d %|\d\.\d+ s\b|\b\d+ of \d+\b")
_SOURCE = re.compile(r"\]\((?:\.\./)?(benchmarks/(?:results/)?\w+\.json)\)")
_TARGETS = re.compile(r"\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
READ_AS_STORED = (
    ("benchmarks.md", "Long sessions"),
    ("benchmarks.md", "Real projects"),
    ("benchmarks.md", "Locks"),
    ("benchmarks.md", "Causes"),
    ("operations.md", "Several cores of one machine"),
)
"""Sections whose figures (of tables, if there are any) are the stored ones, apart from units and rounding."""
HELD_ELSEWHERE = {
    "README.md": "the range of CPU and the size of heald-core are checked below and in `test_core_alone.py`",
    "CHANGELOG.md": "history",
    "benchmarks/README.md": "how to measure, with figures of single runs",
    "docs/evaluation.md": "written by `make eval`; the table of public pages is compared below",
    "docs/api.md": "generated from docstrings",
    "docs/configuration.md": "generated from the settings",
}
LIMITS = {
    "docs/architecture.md": ("45 ms", "50 ms", "6 ms"),
    "docs/cli.md": ("97 %",),
    "docs/decisions.md": ("45 ms", "50 ms"),
    "docs/mcp.md": ("0.2 s", "18 of 18", "30 of 30", "32 of 32", "37 of 37"),
    "docs/operations.md": ("0.2 s", "up to 45 ms", "up to 50 ms", "or 50 ms where"),
    "docs/protocols.md": ("17 of 17",),
    "docs/providers.md": ("0.3 s", "0.5 s"),
    "docs/sessions.md": ("45 ms", "50 ms"),
    "docs/studio.md": ("100 %", "93 %", "97 %"),
    "docs/webhooks.md": ("10 %",),
}
"""What the code sets, an example shows, or a test of conformance counts."""


def _leaves(value: Any) -> Iterator[float]:
    """Yield every number of a file of results, also those in its names and texts."""
    if isinstance(value, str):
        yield from (float(number.replace(",", "")) for number in _NUMBER.findall(value))
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(key)
            yield from _leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


@cache
def _stored_numbers(names: tuple[str, ...]) -> frozenset[float]:
    return frozenset(number for name in names for number in _leaves(json.loads((ROOT / name).read_text("utf-8"))))


def _is_stored(figure: str, names: tuple[str, ...]) -> bool:
    """Whether a figure is a stored number, rounded as the figure is."""
    number, digits = float(figure.replace(",", "")), len(figure.partition(".")[2])
    half = 0.5 * 10**-digits + 1e-9
    return any(abs(stored * scale - number) <= half for stored in _stored_numbers(names) for scale in SCALES)


def _sections(page: Path) -> dict[str, str]:
    """The sections of a page by their heading, without code."""
    parts = re.split(r"(?m)^#{1,6} +(.*)$", prose(page))
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def _provenance(path: Path) -> list[dict[str, Any]]:
    """The runs of a file of results."""
    stored = json.loads(path.read_text("utf-8"))
    if "command" not in stored:
        return [run for runs in stored.values() if isinstance(runs, list) for run in runs]
    return [stored, *filter(None, [stored.get("measured_again")])]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_a_result_names_its_command_its_commit_and_its_machine(path: Path) -> None:
    if path.name in NOT_MEASURED:
        return
    runs = _provenance(path)
    assert runs
    for run in runs:
        assert all(run.get(name) for name in PROVENANCE), f"{path.name} lacks one of {PROVENANCE}"
        assert str(run["command"]).startswith("python -m benchmarks."), path.name


def test_every_result_is_used_by_a_page() -> None:
    texts = "\n".join(page.read_text("utf-8") for page in [*PAGES, BENCHMARKS / "public_pages.md"])
    unused = [path.name for path in RESULTS if path.name not in texts]
    assert unused == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_measured_figure_stands_in_a_section_that_names_its_file(page: Path) -> None:
    name = name_of(page)
    if name in HELD_ELSEWHERE:
        return
    for heading, text in _sections(page).items():
        figures = _MEASURED.findall(_without(text, LIMITS.get(name, ())))
        assert not figures or _SOURCE.search(text), f"{name}, {heading}: {figures} have no file of results"


def _without(text: str, limits: tuple[str, ...]) -> str:
    for limit in limits:
        text = text.replace(limit, "")
    return text


@pytest.mark.parametrize(("page", "heading"), READ_AS_STORED)
def test_the_figures_of_a_table_are_the_stored_ones(page: str, heading: str) -> None:
    text = _sections(ROOT / "docs" / page)[heading]
    names = tuple(_SOURCE.findall(text))
    lines = [_CODE.sub("", _TARGETS.sub("]", line)) for line in text.splitlines()]
    rows = [line for line in lines if line.startswith("|")][2:] or lines
    assert names
    assert any(_NUMBER.search(row) for row in rows)
    wrong = {
        row: bad for row in rows if (bad := [word for word in _NUMBER.findall(row) if not _is_stored(word, names)])
    }
    assert wrong == {}


def test_the_range_of_the_readme_is_that_of_the_stored_run() -> None:
    multiples = json.loads((BENCHMARKS / "figures.json").read_text("utf-8"))["multiples"]["heald-agent"].values()
    low, high = min(low for low, _ in multiples), max(high for _, high in multiples)
    assert f"{low:.1f} to {high:.1f} times the CPU" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["docs/evaluation.md", "benchmarks/public_pages.md"])
def test_the_table_of_public_pages_is_that_of_the_stored_rows(page: str) -> None:
    rows = read_rows(BENCHMARKS / "results" / "public_pages.json")
    assert "\n".join(table_lines(rows)) in (ROOT / page).read_text("utf-8")
