"""Tables, recognised by what makes them: rows of short texts in the same columns, with lines or bands between them.

Lists of links in columns and grids of cards are none: nothing divides their rows, or their cells are tall.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.vision.geometry import Rect, cut, hull
from weft.vision.nesting import divide
from weft.vision.page import Part
from weft.vision.seen import Border, Box, TextStyle

RIVER = 12.0
"""Columns are at least this far apart, in every row."""
TALLEST = 72.0
FEWEST_ROWS, FEWEST_COLUMNS = 3, 3
LEAST_TEXT = 0.6


@dataclass(frozen=True, slots=True)
class _Row:
    part: Part
    rule: Box | None = None
    """The line below it."""

    @property
    def cells(self) -> tuple[Part, ...]:
        return self.part.children if self.part.kind == "row" else (replace(self.part, box=None),)


def tabled(part: Part) -> Part:
    """The same tree, with tables for what are tables."""
    if part.kind != "stack" or part.tag != "div":
        return replace(part, children=tuple(tabled(child) for child in part.children)) if part.children else part
    result: list[Part] = []
    run: list[Part] = []
    for child in (*part.children, None):
        if child is not None and (_is_row(child) or (_is_rule(child) and run)):
            run.append(child)
            continue
        after = child.rect.y if child is not None else _inner(part).bottom
        before = result[-1].rect.bottom if result else _inner(part).y
        result += _table(run, (before, after))
        run = []
        if child is not None:
            result.append(tabled(child))
    return replace(part, children=tuple(result))


def _inner(part: Part) -> Rect:
    widths = part.box.border.widths if part.box is not None and part.box.border is not None else (0.0, 0.0, 0.0, 0.0)
    return Rect(part.rect.x, part.rect.y + widths[0], part.rect.w, part.rect.h - widths[0] - widths[2])


def _is_rule(part: Part) -> bool:
    return part.kind == "rule" and part.rect.w > 20 * part.rect.h and part.rect.h <= 3


def _is_row(part: Part) -> bool:
    if part.kind != "row" or part.tag != "div" or not 12 <= part.rect.h <= TALLEST:
        return False
    box = part.box
    return box is None or (box.radius < 4 and box.shadow is None and box.gradient is None and not box.image)


def _table(run: list[Part], room: tuple[float, float]) -> list[Part]:
    """One table, or the parts as they were (each looked at in turn)."""
    rows = _rows(run)
    columns = _columns(rows)
    if not _is_table(rows, columns):
        return [tabled(part) for part in run]
    around = hull(part.rect for part in run)
    edges = _edges(columns, around)
    heights = _heights(rows, room)
    head = _has_head(rows)
    made: list[Part] = []
    for number, (row, (top, bottom)) in enumerate(zip(rows, heights, strict=True)):
        rect = Rect(around.x, top, around.w, bottom - top)
        cells = _cells(row, columns, edges, rect, "th" if head and number == 0 else "td")
        made.append(Part("row", rect, cells, box=_painted(row, rect), tag="tr", name="line"))
    whole = Rect(around.x, heights[0][0], around.w, heights[-1][1] - heights[0][0])
    return [Part("table", whole, tuple(made), tag="table", name="table")]


def _rows(run: Sequence[Part]) -> list[_Row]:
    rows: list[_Row] = []
    for part in run:
        if part.kind != "rule":
            rows.append(_Row(part))
        elif rows and rows[-1].rule is None:
            rows[-1] = replace(rows[-1], rule=part.box)
    return rows


def _columns(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """From where to where each column has something."""
    parts = [cell for row in rows for cell in row.cells]
    groups = cut(parts, lambda part: (part.rect.x, part.rect.right), RIVER)
    return [(min(p.rect.x for p in group), max(p.rect.right for p in group)) for group in groups]


def _is_table(rows: Sequence[_Row], columns: Sequence[tuple[float, float]]) -> bool:
    if len(rows) < FEWEST_ROWS or len(columns) < (2 if rows and _has_head(rows) else FEWEST_COLUMNS):
        return False
    divided = sum(row.rule is not None or row.part.box is not None for row in rows)
    if divided < 0.6 * (len(rows) - 1):
        return False
    filled = [sum(bool(_within(row, column)) for column in columns) for row in rows]
    if min(filled) < max(2, 0.6 * len(columns)):
        return False
    cells = [cell for row in rows for cell in row.cells]
    return sum(cell.text is not None for cell in cells) >= LEAST_TEXT * len(cells)


def _has_head(rows: Sequence[_Row]) -> bool:
    """Whether the first row is of another style than the others: bolder, smaller, of another colour or ground."""
    first = [cell.text.style for cell in rows[0].cells if cell.text is not None]
    if len(first) != len(rows[0].cells):
        return False
    others = [cell.text.style for row in rows[1:] for cell in row.cells if cell.text is not None]
    return bool(others) and not any(_alike(style, other) for style in first for other in others)


def _alike(one: TextStyle, two: TextStyle) -> bool:
    return (one.weight >= 600, one.colour) == (two.weight >= 600, two.colour) and abs(one.size - two.size) < 0.6


def _within(row: _Row, column: tuple[float, float]) -> list[Part]:
    return [cell for cell in row.cells if column[0] - 1 <= cell.rect.x and cell.rect.right <= column[1] + 1]


def _edges(columns: Sequence[tuple[float, float]], around: Rect) -> list[float]:
    """Where each column begins; the last entry is where the last one ends."""
    return [around.x, *(start for start, _ in columns[1:]), around.right]


def _heights(rows: Sequence[_Row], room: tuple[float, float]) -> list[tuple[float, float]]:
    """Top and bottom of each row: lines belong to the row above, bands are as tall as they are."""
    bounds: list[float] = []
    for row, after in itertools.pairwise(rows):
        if row.rule is not None:
            bounds.append(row.rule.rect.bottom)
        elif row.part.box is not None:
            bounds.append(row.part.rect.bottom)
        else:
            bounds.append(after.part.rect.y if after.part.box else (row.part.rect.bottom + after.part.rect.y) / 2)
    first, last = rows[0], rows[-1]
    below = bounds[0] - (first.rule.rect.h if first.rule is not None else 0) - first.part.rect.bottom
    top = first.part.rect.y if first.part.box is not None else max(first.part.rect.y - max(below, 0), room[0])
    above = last.part.rect.y - bounds[-1]
    if last.rule is not None:
        bottom = last.rule.rect.bottom
    else:
        bottom = last.part.rect.bottom if last.part.box is not None else min(last.part.rect.bottom + above, room[1])
    return list(itertools.pairwise([top, *bounds, bottom]))


def _cells(
    row: _Row, columns: Sequence[tuple[float, float]], edges: Sequence[float], rect: Rect, tag: str
) -> tuple[Part, ...]:
    cells: list[Part] = []
    for column, (left, right) in zip(columns, itertools.pairwise(edges), strict=True):
        inside = _within(row, column)
        content = (divide(inside),) if inside else ()
        scope = (("scope", "col"),) if tag == "th" else ()
        place = Rect(left, rect.y, right - left, rect.h)
        cells.append(Part("stack", place, content, tag=tag, name="head" if tag == "th" else "cell", attributes=scope))
    return tuple(cells)


def _painted(row: _Row, rect: Rect) -> Box | None:
    """The ground of a row, and the line below it."""
    box, rule = row.part.box, row.rule
    if rule is not None:
        return Box(rect, box.fill if box is not None else "", border=Border((0, 0, rule.rect.h, 0), rule.fill))
    return replace(box, rect=rect) if box is not None else None
