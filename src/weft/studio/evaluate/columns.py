"""The figures of a row, each with its name, how it is written, and which way is better."""

from collections.abc import Callable
from typing import Literal

import msgspec

from weft.studio.evaluate.quality import Quality
from weft.studio.evaluate.row import Row
from weft.studio.score import Score

Value = float | None


class Column(msgspec.Struct, frozen=True):
    key: str
    label: str
    value: Callable[[Row], Value]
    better: Literal["high", "low"]
    form: Callable[[float], str]

    def written(self, value: Value) -> str:
        return "–" if value is None else self.form(value)


def _score(of: Callable[[Score], float]) -> Callable[[Row], Value]:
    """A page that could not be made or rendered scores 0; one that could not be compared, nothing."""

    def value(row: Row) -> Value:
        if row.error:
            return 0.0
        return None if row.score is None else of(row.score)

    return value


def _quality(of: Callable[[Quality], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.quality is None else of(row.quality)


def _three(value: float) -> str:
    return f"{value:.3f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


COLUMNS: tuple[Column, ...] = (
    Column("block", "block", _score(lambda s: s.block), "high", _three),
    Column("text", "text", _score(lambda s: s.text), "high", _three),
    Column("position", "position", _score(lambda s: s.position), "high", _three),
    Column("colour", "colour", _score(lambda s: s.colour), "high", _three),
    Column("ssim", "SSIM", _score(lambda s: s.ssim), "high", _three),
    Column("overall", "overall", _score(lambda s: s.overall), "high", _three),
    Column("positioned", "positioned", _quality(lambda q: q.positioned), "low", _percent),
    Column("overflow", "overflow at 375 px", _quality(lambda q: q.overflow), "low", lambda value: f"{value:,.0f} px"),
    Column("axe", "axe, serious", _quality(lambda q: q.axe), "low", _whole),
    Column("invalid", "HTML faults", _quality(lambda q: q.invalid), "low", _whole),
    Column("size", "bytes of code", _quality(lambda q: q.size), "low", _whole),
    Column("headings", "headings in order", _quality(lambda q: q.headings_in_order), "high", _percent),
    Column("unlabelled", "controls without label", _quality(lambda q: q.unlabelled), "low", _whole),
    Column("seconds", "seconds", lambda row: row.seconds, "low", lambda value: f"{value:.1f}"),
    Column("preview", "first preview, s", lambda row: row.first_preview_seconds, "low", lambda value: f"{value:.1f}"),
    Column("memory", "memory, MB", lambda row: row.memory_mb, "low", _whole),
    Column("cost", "cost, $", lambda row: row.cost_usd, "low", lambda value: f"{value:.4f}"),
)
BY_KEY = {column.key: column for column in COLUMNS}
