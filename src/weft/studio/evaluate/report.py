"""The rows of an evaluation, their figures, the bars they must reach, and the summaries of it all. Finished rows are
kept on disk, so that a run that ended early continues where it was."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from weft.studio.evaluate.quality import PartFigures, Quality
from weft.studio.score.score import Score

FOLDER = "rows"


class Pictures(msgspec.Struct, frozen=True):
    """Target, result and heat map as small WebP pictures; empty if there is none."""

    target: bytes = b""
    result: bytes = b""
    heat: bytes = b""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    group: str
    model: str
    stack: str
    score: Score | None = None
    own: Score | None = None
    """The score that is computed where the text of the target is unknown, if it is known here."""
    quality: Quality | None = None
    parts: PartFigures | None = None
    """Which links, controls and icons of the document the page has, if the document is known."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    first_preview_seconds: float | None = None
    memory_mb: float | None = None
    cost_usd: float | None = None
    error: str = ""
    """A sentence if there is no page to measure; its score is 0 then."""
    notes: tuple[str, ...] = ()
    pictures: Pictures = Pictures()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the visual differences, the faults of the code, and notes."""
        differences = self.score.differences if self.score is not None else ()
        faults = self.quality.faults if self.quality is not None else ()
        return (*(each.sentence for each in differences), *faults, *self.notes)


Value = float | None


class Column(msgspec.Struct, frozen=True):
    key: str
    label: str
    value: Callable[[Row], Value]
    better: Literal["high", "low"]
    form: Callable[[float], str]
    missing: str = "–"

    def format(self, value: Value) -> str:
        return self.missing if value is None else self.form(value)


def _score_value(of: Callable[[Score], float]) -> Callable[[Row], Value]:
    """Return a function that reads a score: 0 for a failed page, None for one that was not compared."""

    def value(row: Row) -> Value:
        if row.error:
            return 0.0
        return None if row.score is None else of(row.score)

    return value


def _own_value(of: Callable[[Score, Score], float]) -> Callable[[Row], Value]:
    """Return a function that compares the score without the text of the target with the true one."""
    return lambda row: of(row.own, row.score) if row.own is not None and row.score is not None else None


def _quality_value(of: Callable[[Quality], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.quality is None else of(row.quality)


def _part_value(of: Callable[[PartFigures], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.parts is None else of(row.parts)


def _three(value: float) -> str:
    return f"{value:.3f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


COLUMNS: tuple[Column, ...] = (
    Column("block", "block", _score_value(lambda s: s.block), "high", _three),
    Column("text", "text", _score_value(lambda s: s.text), "high", _three),
    Column("position", "position", _score_value(lambda s: s.position), "high", _three),
    Column("colour", "colour", _score_value(lambda s: s.colour), "high", _three),
    Column("ssim", "SSIM", _score_value(lambda s: s.ssim), "high", _three),
    Column("overall", "overall", _score_value(lambda s: s.overall), "high", _three),
    Column("own", "overall, text unknown", _own_value(lambda own, _: own.overall), "high", _three),
    Column("own_block", "block, text unknown", _own_value(lambda own, _: own.block), "high", _three),
    Column("flatters", "own above true", _own_value(lambda own, true: own.overall - true.overall), "low", _signed),
    Column(
        "agrees",
        "own within 0.03",
        _own_value(lambda own, true: abs(own.overall - true.overall) <= 0.03),
        "high",
        _percent,
    ),
    Column("positioned", "positioned", _quality_value(lambda q: q.positioned), "low", _percent),
    Column(
        "overflow",
        "overflow, 360 to 2560 px",
        _quality_value(lambda q: q.overflow),
        "low",
        lambda value: f"{value:,.0f} px",
    ),
    Column("overlaid", "overlaid", _quality_value(lambda q: q.overlaid), "low", _percent),
    Column("once", "classes used once", _quality_value(lambda q: q.once), "low", _percent),
    Column("axe", "axe, serious", _quality_value(lambda q: q.axe), "low", _whole),
    Column("invalid", "HTML faults", _quality_value(lambda q: q.invalid), "low", _whole),
    Column("links", "links found", _part_value(lambda p: p.links), "high", _percent),
    Column("controls", "controls found", _part_value(lambda p: p.controls), "high", _percent),
    Column("icons", "icons as SVG", _part_value(lambda p: p.icons), "high", _percent),
    Column("alts", "photographs described", _part_value(lambda p: p.alts), "high", _percent),
    Column("invented", "links and buttons invented", _part_value(lambda p: p.invented), "low", _percent),
    Column("size", "bytes of code", _quality_value(lambda q: q.size), "low", _whole),
    Column("headings", "headings in order", _quality_value(lambda q: q.headings_in_order), "high", _percent),
    Column("unlabelled", "controls without label", _quality_value(lambda q: q.unlabelled), "low", _whole),
    Column("seconds", "seconds", lambda row: row.seconds, "low", lambda value: f"{value:.1f}"),
    Column("cpu", "CPU seconds", lambda row: row.cpu_seconds or None, "low", lambda value: f"{value:.1f}"),
    Column("preview", "first preview, s", lambda row: row.first_preview_seconds, "low", lambda value: f"{value:.1f}"),
    Column("memory", "memory, MB", lambda row: row.memory_mb, "low", _whole),
    Column("cost", "cost, $", lambda row: row.cost_usd, "low", lambda value: f"{value:.4f}", "unknown"),
)
COLUMNS_BY_KEY = {column.key: column for column in COLUMNS}


Figure = Literal["mean", "median", "worst"]


class Bar(msgspec.Struct, frozen=True):
    """A limit for one figure of one column; the column defines which side is better."""

    column: str
    figure: Figure
    limit: float

    def is_met(self, value: float | None) -> bool | None:
        """Whether the value reaches the limit; None if nothing was measured."""
        if value is None:
            return None
        return value >= self.limit if COLUMNS_BY_KEY[self.column].better == "high" else value <= self.limit

    @property
    def sentence(self) -> str:
        column = COLUMNS_BY_KEY[self.column]
        side = "at least" if column.better == "high" else "at most"
        return f"{self.figure} {column.label} {side} {column.format(self.limit)}"


BARS: tuple[Bar, ...] = (
    Bar("block", "mean", 0.97),
    Bar("text", "mean", 0.985),
    Bar("position", "mean", 0.985),
    Bar("colour", "mean", 0.97),
    Bar("ssim", "mean", 0.94),
    *(Bar(column, "worst", 0.85) for column in ("block", "text", "position", "colour", "ssim")),
    Bar("agrees", "mean", 0.9),
    Bar("flatters", "worst", 0.1),
    Bar("positioned", "worst", 0.05),
    Bar("overflow", "worst", 0),
    Bar("axe", "worst", 0),
    Bar("invalid", "worst", 0),
    *(Bar(column, "mean", 0.8) for column in ("links", "controls", "icons")),
    Bar("size", "median", 25_000),
    Bar("headings", "worst", 1),
    Bar("unlabelled", "worst", 0),
    Bar("seconds", "worst", 15),
    Bar("preview", "worst", 3),
    Bar("memory", "worst", 1_200),
)


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
    found = [(value, row.target) for row in rows if (value := column.value(row)) is not None]
    if not found:
        return ColumnFigures(column.key, 0)
    values = [value for value, _ in found]
    worst, where = (min if column.better == "high" else max)(found, key=lambda each: each[0])
    return ColumnFigures(column.key, len(values), fmean(values), float(median(values)), float(worst), where)


class RowStore:
    """The rows in a folder, by picture, text, model and stack. Processes that share the folder share the rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def clear(self) -> None:
        """Delete all rows."""
        for path in self._folder.glob("*.msgpack"):
            path.unlink(missing_ok=True)

    def find(self, key: str, target: str, group: str) -> Row | None:
        """Return the row with this key, under the name that the target has now; None if there is none that is whole."""
        try:
            row = msgspec.msgpack.decode((self._folder / f"{key}.msgpack").read_bytes(), type=Row)
        except (OSError, msgspec.DecodeError):
            return None
        return replace(row, target=target, group=group)

    def keep(self, key: str, row: Row) -> None:
        """Write a row that has been measured; one with an error is tried anew by the next run."""
        if row.error:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{key}.part"
        fresh.write_bytes(msgspec.msgpack.encode(row))
        fresh.replace(self._folder / f"{key}.msgpack")


def row_key(image: bytes, texts: object, model: str, stack: str) -> str:
    """Return the name of a row: a digest of everything that it was measured from."""
    digest = hashlib.sha256(image)
    digest.update(msgspec.json.encode([texts, model, stack]))
    return digest.hexdigest()[:32]
