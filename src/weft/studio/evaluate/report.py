"""Rows put together: means, medians and the worst of each column, for each model, stack and group of targets."""

import json
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Any

import msgspec

from weft.studio.evaluate.bars import BARS, Bar
from weft.studio.evaluate.columns import COLUMNS, Column
from weft.studio.evaluate.row import Row

EVERYTHING = "all"


class Figures(msgspec.Struct, frozen=True):
    """One column over several rows. `where` names the target of the worst."""

    column: str
    count: int
    mean: float | None = None
    median: float | None = None
    worst: float | None = None
    where: str = ""


class Verdict(msgspec.Struct, frozen=True):
    bar: str
    """As a sentence."""
    column: str
    value: float | None
    met: bool | None
    """None if it was not measured."""


class Summary(msgspec.Struct, frozen=True):
    model: str
    stack: str
    group: str
    """A group of targets, or all of them."""
    count: int
    failed: int
    figures: tuple[Figures, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def title(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.model}, {self.stack}: {self.group} ({self.count} targets{failed})"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...] = BARS
    notes: tuple[str, ...] = ()
    """What was not measured, in sentences."""

    def summaries(self) -> tuple[Summary, ...]:
        """For each model and stack: all targets first, then each group if there is more than one."""
        return tuple(self._summaries())

    def columns(self) -> tuple[Column, ...]:
        """Those that have a figure in some row."""
        return tuple(column for column in COLUMNS if any(column.value(row) is not None for row in self.rows))

    def as_json(self) -> bytes:
        """The figures without the pictures."""
        data = msgspec.to_builtins(self._data())
        return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")

    def _data(self) -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            data: dict[str, Any] = msgspec.to_builtins(row)
            del data["pictures"]
            data["figures"] = {column.key: column.value(row) for column in COLUMNS}
            rows.append(data)
        return {"notes": self.notes, "summaries": self.summaries(), "rows": rows}

    def _summaries(self) -> Iterator[Summary]:
        pairs = dict.fromkeys((row.model, row.stack) for row in self.rows)
        groups = sorted({row.group for row in self.rows})
        for model, stack in pairs:
            rows = [row for row in self.rows if (row.model, row.stack) == (model, stack)]
            yield self._summary(rows, EVERYTHING)
            for group in groups if len(groups) > 1 else ():
                some = [row for row in rows if row.group == group]
                if some:
                    yield self._summary(some, group)

    def _summary(self, rows: Sequence[Row], group: str) -> Summary:
        figures = {column.key: _figures(column, rows) for column in COLUMNS}
        verdicts: list[Verdict] = []
        for bar in self.bars:
            value: float | None = getattr(figures[bar.column], bar.figure)
            verdicts.append(Verdict(bar.sentence, bar.column, value, bar.is_met(value)))
        failed = sum(1 for row in rows if row.error)
        first = rows[0]
        return Summary(first.model, first.stack, group, len(rows), failed, tuple(figures.values()), tuple(verdicts))


def _figures(column: Column, rows: Sequence[Row]) -> Figures:
    found = [(value, row.target) for row in rows if (value := column.value(row)) is not None]
    if not found:
        return Figures(column.key, 0)
    values = [value for value, _ in found]
    worst, where = (min if column.better == "high" else max)(found, key=lambda each: each[0])
    return Figures(column.key, len(values), fmean(values), float(median(values)), float(worst), where)
