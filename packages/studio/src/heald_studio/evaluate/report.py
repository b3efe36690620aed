"""The report of an evaluation: its rows, and summaries of their figures and of the bars that they reach."""

import json
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Any

import msgspec

from heald_studio.evaluate.bars import BARS, Bar
from heald_studio.evaluate.columns import COLUMNS, Column
from heald_studio.evaluate.row import Row

ALL_TARGETS = "all"


class ColumnFigures(msgspec.Struct, frozen=True):
    """The figures of one column over several rows. `where` is the target of the worst value."""

    column: str
    count: int
    mean: float | None = None
    median: float | None = None
    worst: float | None = None
    where: str = ""


class BarResult(msgspec.Struct, frozen=True):
    bar: str
    """The bar as a sentence."""
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
    figures: tuple[ColumnFigures, ...]
    verdicts: tuple[BarResult, ...]

    @property
    def title(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.model}, {self.stack}: {self.group} ({self.count} targets{failed})"


class EvaluationReport(msgspec.Struct, frozen=True, kw_only=True):
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...] = BARS
    notes: tuple[str, ...] = ()
    """Sentences about what was not measured."""

    def summaries(self) -> tuple[Summary, ...]:
        """Summarise each model and stack: all targets, then each group if there are several."""
        return tuple(self._summaries())

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that have a value in some row."""
        return tuple(column for column in COLUMNS if any(column.value(row) is not None for row in self.rows))

    def as_json(self) -> bytes:
        """Encode the report without the pictures."""
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
            yield self._summary(rows, ALL_TARGETS)
            for group in groups if len(groups) > 1 else ():
                some = [row for row in rows if row.group == group]
                if some:
                    yield self._summary(some, group)

    def _summary(self, rows: Sequence[Row], group: str) -> Summary:
        figures = {column.key: _summarise_column(column, rows) for column in COLUMNS}
        verdicts: list[BarResult] = []
        for bar in self.bars:
            value: float | None = getattr(figures[bar.column], bar.figure)
            verdicts.append(BarResult(bar.sentence, bar.column, value, bar.is_met(value)))
        failed = sum(1 for row in rows if row.error)
        first = rows[0]
        return Summary(first.model, first.stack, group, len(rows), failed, tuple(figures.values()), tuple(verdicts))


def _summarise_column(column: Column, rows: Sequence[Row]) -> ColumnFigures:
    pairs = [(value, row.target) for row in rows if (value := column.value(row)) is not None]
    if not pairs:
        return ColumnFigures(column.key, 0)
    values = [value for value, _ in pairs]
    worst, where = (min if column.better == "high" else max)(pairs, key=lambda pair: pair[0])
    return ColumnFigures(column.key, len(values), fmean(values), float(median(values)), float(worst), where)
