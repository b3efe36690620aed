"""The figures of an evaluation: how each is read from a row, and how it is written."""

from collections.abc import Callable
from typing import Literal

import msgspec

from heald_studio.evaluate.design2code import Design2Code
from heald_studio.evaluate.document_figures import DocumentFigures
from heald_studio.evaluate.page_parts import PartFigures
from heald_studio.evaluate.quality import Quality
from heald_studio.evaluate.row import Row
from heald_studio.score.figure_text import format_figure, format_percent
from heald_studio.score.score import Score

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


def _changed_value(row: Row) -> Value:
    """Return the share of the area that changed: all of a failed page."""
    if row.error:
        return 1.0
    return None if row.score is None else row.score.changed


def _own_value(of: Callable[[Score, Score], float]) -> Callable[[Row], Value]:
    """Return a function that compares the score without the text of the target with the true one."""
    return lambda row: of(row.own, row.score) if row.own is not None and row.score is not None else None


def _quality_value(of: Callable[[Quality], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.quality is None else of(row.quality)


def _design2code_value(of: Callable[[Design2Code], float]) -> Callable[[Row], Value]:
    """Return a function that reads a score by the definition of Design2Code."""
    return lambda row: None if row.design2code is None else of(row.design2code)


def _document_value(of: Callable[[DocumentFigures], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.document is None else of(row.document)


def _part_value(of: Callable[[PartFigures], Value]) -> Callable[[Row], Value]:
    return lambda row: None if row.parts is None else of(row.parts)


def _three(value: float) -> str:
    return format_figure(value)


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return format_percent(value)


def _faulty(value: float) -> str:
    return format_percent(value, less_is_better=True)


COLUMNS: tuple[Column, ...] = (
    Column("block", "block", _score_value(lambda s: s.block), "high", _three),
    Column("text", "text", _score_value(lambda s: s.text), "high", _three),
    Column("position", "position", _score_value(lambda s: s.position), "high", _three),
    Column("colour", "colour", _score_value(lambda s: s.colour), "high", _three),
    Column("text_style", "bold and italic", _score_value(lambda s: s.style), "high", _three),
    Column("shapes", "shapes", _score_value(lambda s: s.shapes), "high", _three),
    Column("ssim", "SSIM", _score_value(lambda s: s.ssim), "high", _three),
    Column("changed", "area changed", _changed_value, "low", _faulty),
    Column("overall", "overall", _score_value(lambda s: s.overall), "high", _three),
    Column("own", "overall, text unknown", _own_value(lambda score, _: score.overall), "high", _three),
    Column("own_block", "block, text unknown", _own_value(lambda score, _: score.block), "high", _three),
    Column("flatters", "own above true", _own_value(lambda score, true: score.overall - true.overall), "low", _signed),
    Column(
        "agrees",
        "own within 0.03",
        _own_value(lambda score, true: abs(score.overall - true.overall) <= 0.03),
        "high",
        _percent,
    ),
    Column("d2c_block", "Design2Code block", _design2code_value(lambda d: d.block), "high", _three),
    Column("d2c_text", "Design2Code text", _design2code_value(lambda d: d.text), "high", _three),
    Column("d2c_position", "Design2Code position", _design2code_value(lambda d: d.position), "high", _three),
    Column("d2c_colour", "Design2Code colour", _design2code_value(lambda d: d.colour), "high", _three),
    Column("identity", "identity", lambda row: None if row.identity is None else row.identity.block, "high", _three),
    Column("seen", "lines that Design2Code sees", lambda row: row.seen, "high", _percent),
    Column("dom_links", "links of the HTML", _document_value(lambda d: d.links.share), "high", _percent),
    Column("dom_fields", "fields", _document_value(lambda d: d.fields.share), "high", _percent),
    Column("dom_headings", "headings", _document_value(lambda d: d.headings.share), "high", _percent),
    Column("dom_lists", "lists", _document_value(lambda d: d.lists.share), "high", _percent),
    Column("dom_tables", "tables", _document_value(lambda d: d.tables.share), "high", _percent),
    Column("weight", "weight of text", _document_value(lambda d: d.weight.share), "high", _percent),
    Column("style", "style of text", _document_value(lambda d: d.style.share), "high", _percent),
    Column("type_size", "size of text", _document_value(lambda d: d.size.share), "high", _percent),
    Column("wrap", "wrap of lines", _document_value(lambda d: d.wrap.share), "high", _percent),
    Column("unread", "lines not read", _document_value(lambda d: d.unread.share), "low", _faulty),
    Column("charts", "charts invented", _document_value(lambda d: d.charts), "low", _whole),
    Column("new_fields", "fields invented", _document_value(lambda d: d.new_fields), "low", _whole),
    Column("letters", "letters as pictures", _document_value(lambda d: d.letters), "low", _whole),
    Column("by_place", "nth-* selectors", _document_value(lambda d: d.by_place), "low", _whole),
    Column("hollow", "empty elements", _document_value(lambda d: d.hollow), "low", _whole),
    Column("positioned", "positioned", _quality_value(lambda q: q.positioned), "low", _faulty),
    Column(
        "overflow",
        "overflow, 360 to 2560 px",
        _quality_value(lambda q: q.overflow),
        "low",
        lambda value: f"{value:,.0f} px",
    ),
    Column("overlaid", "overlaid", _quality_value(lambda q: q.overlaid), "low", _faulty),
    Column("once", "classes used once", _quality_value(lambda q: q.once), "low", _faulty),
    Column("axe", "axe, serious", _quality_value(lambda q: q.axe), "low", _whole),
    Column("invalid", "HTML faults", _quality_value(lambda q: q.invalid), "low", _whole),
    Column("links", "links found", _part_value(lambda p: p.links), "high", _percent),
    Column("controls", "controls found", _part_value(lambda p: p.controls), "high", _percent),
    Column("icons", "icons as SVG", _part_value(lambda p: p.icons), "high", _percent),
    Column("alts", "photographs described", _part_value(lambda p: p.alts), "high", _percent),
    Column("invented", "links and buttons invented", _part_value(lambda p: p.invented), "low", _faulty),
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
