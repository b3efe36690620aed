"""What lies in what, and what stands beside what: boxes hold what is on them, the rest is cut into rows and columns."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from weft.vision.geometry import Rect, cut, even, hull
from weft.vision.lattice import framed_tables
from weft.vision.page import Part
from weft.vision.seen import Box, Seen, Text

THIN = 6
SLACK = 2.0
MARK = 24.0
TALL = 80.0
"""A photograph or band at least this tall may have something lie over its lower edge."""


def nest(seen: Seen) -> Part:
    """The whole page as one stack."""
    boxes = [box for box in seen.boxes if min(box.rect.w, box.rect.h) > THIN or box.border is not None]
    rules = [box for box in seen.boxes if box not in boxes]
    page = Rect(0, 0, seen.width, seen.height)
    leaves = [_text(text) for text in seen.texts]
    leaves += [Part("picture", picture.rect, picture=picture) for picture in seen.pictures if picture.kind != "ground"]
    leaves += [Part("rule", rule.rect, box=rule) for rule in rules]
    parts = framed_tables(_fill(boxes, leaves))
    whole = divide(parts) if parts else Part("stack", page)
    if whole.kind == "stack" and whole.box is None:
        return replace(whole, rect=page)
    return _merge_grids(Part("stack", page, (whole,)))


def _text(text: Text) -> Part:
    return Part("text", text.rect, text=text)


def _area(part: Part) -> Rect:
    """What decides in which box a part lies: ink rather than line boxes."""
    return hull(line.ink for line in part.text.lines) if part.text is not None else part.rect


def _fill(boxes: Sequence[Box], leaves: Sequence[Part]) -> list[Part]:
    """The parts directly within a rectangle; boxes come largest first."""
    remaining, loose = list(boxes), list(leaves)
    parts: list[Part] = []
    while remaining:
        box = remaining.pop(0)
        inside = [other for other in remaining if box.rect.holds(other.rect, SLACK)]
        over = [other.rect for other in remaining if other not in inside and other.rect.common(box.rect) > 0]
        inner = [other for other in inside if not any(each.holds(other.rect, SLACK) for each in over)]
        mine = [leaf for leaf in loose if _within(box.rect, _area(leaf)) and not _covered(leaf, over)]
        remaining = [other for other in remaining if other not in inner]
        loose = [leaf for leaf in loose if leaf not in mine]
        children = framed_tables(_fill(inner, mine))
        content = _stacked(children, box.rect)
        parts.append(replace(content, rect=box.rect, box=box) if children else Part("stack", box.rect, box=box))
    return parts + loose


def _covered(leaf: Part, over: Sequence[Rect]) -> bool:
    """Whether it stands on a smaller box that lies over the edge of this one."""
    return any(rect.holds(_area(leaf), SLACK) for rect in over)


def _within(box: Rect, area: Rect) -> bool:
    return box.holds(area, SLACK) or (box.common(area) > 0.9 * area.area and box.area > area.area)


def _stacked(parts: list[Part], rect: Rect) -> Part:
    """One part that holds all: cut into rows, these into columns, and so on."""
    if not parts:
        return Part("stack", rect)
    arranged = divide(parts)
    if arranged.box is None and arranged.children:
        return arranged
    return Part("stack", rect, (arranged,))


def divide(parts: Sequence[Part]) -> Part:
    """Recursive cuts. Parts that no straight line divides lie over each other."""
    if len(parts) == 1:
        return parts[0]
    rows = cut(parts, lambda part: (part.rect.y, part.rect.bottom))
    columns = _columns(parts)
    if len(rows) > 1:
        columns = _with_marks(columns)
    around = hull(part.rect for part in parts)
    if len(rows) > 1 and not (len(columns) > 1 and _columns_first(rows, columns)):
        return _merge_grids(Part("stack", around, tuple(_bands(rows, around))))
    if len(columns) > 1:
        return Part("row", around, tuple(divide(column) for column in columns))
    return _loosen(parts, around)


def _columns(parts: Sequence[Part]) -> list[list[Part]]:
    return cut(parts, lambda part: (part.rect.x, part.rect.right))


def _with_marks(columns: list[list[Part]]) -> list[list[Part]]:
    """Small marks (choices, ticks, bullets) that each stand before something are no column of their own."""
    joined: list[list[Part]] = []
    for column in columns:
        if joined and _marks(joined[-1], column):
            joined[-1] = [*joined[-1], *column]
        else:
            joined.append(column)
    return joined


def _marks(marks: list[Part], column: list[Part]) -> bool:
    around, beside = hull(part.rect for part in marks), hull(part.rect for part in column)
    if len(marks) < 2 or around.w > MARK or beside.x - around.right > MARK:
        return False
    if any(part.rect.h > MARK or part.children for part in marks):
        return False
    return all(any(abs(mark.rect.middle[1] - part.rect.middle[1]) <= 4 for part in column) for mark in marks)


def _bands(rows: list[list[Part]], around: Rect) -> list[Part]:
    """Rows one by one, but what lies between two dividing lines together if it stands in columns of its own."""
    bands: list[list[list[Part]]] = [[]]
    for row in rows:
        if len(row) == 1 and _divides(row[0], around):
            bands += [[row], []]
        else:
            bands[-1].append(row)
    found: list[Part] = []
    for band in bands:
        parts = [part for row in band for part in row]
        if len(band) > 1 and len(bands) > 1:
            columns = _with_marks(_columns(parts))
            if len(columns) > 1 and _columns_first(band, columns):
                found.append(
                    Part("row", hull(part.rect for part in parts), tuple(divide(column) for column in columns))
                )
                continue
        found += [divide(row) for row in band]
    return found


def _divides(part: Part, around: Rect) -> bool:
    return part.rect.w >= (0.6 if part.kind == "rule" else 0.94) * around.w and part.box is not None


def _loosen(parts: Sequence[Part], around: Rect) -> Part:
    """Small overlaps are no layers: try again with everything a little smaller."""
    for by in (2.0, 4.0, 7.0):
        for axis, kind in (("y", "stack"), ("x", "row")):
            groups = cut(parts, lambda part, axis=axis, by=by: _shrunk(part.rect, axis, by))
            if len(groups) > 1:
                divided = tuple(divide(group) for group in groups)
                return Part("stack" if kind == "stack" else "row", around, divided)
    ordered = sorted(parts, key=lambda part: -part.rect.area)
    return _overhung(ordered, around) or Part("layers", around, tuple(ordered))


def _overhung(parts: Sequence[Part], around: Rect) -> Part | None:
    """A photograph or a band and what lies over its lower edge: one below the other, the second drawn up."""
    first = min(parts, key=lambda part: part.rect.y)
    rest = [part for part in parts if part is not first]
    lower = hull(part.rect for part in rest)
    if (first.kind != "picture" and first.box is None) or first.rect.h < TALL or first.rect.w < lower.w:
        return None
    if lower.y < first.rect.y + 8 or lower.bottom < first.rect.bottom + 8:
        return None
    if any(part.box is None for part in rest if part.rect.common(first.rect) > 0):
        return None
    return Part("stack", around, (first, divide(rest)))


def _shrunk(rect: Rect, axis: str, by: float) -> tuple[float, float]:
    start, size = (rect.y, rect.h) if axis == "y" else (rect.x, rect.w)
    by = min(by, size / 3)
    return start + by, start + size - by


def _columns_first(rows: list[list[Part]], columns: list[list[Part]]) -> bool:
    """Whether the gaps between columns are so much wider that these are columns of their own, not cells of rows."""
    if any(len(column) < 2 for column in columns) and len(columns) != 2:
        return False
    if all(len(row) == len(columns) and _level(row) for row in rows):
        return False
    return _narrowest(columns, across=True) > 1.3 * _narrowest(rows, across=False)


def _level(row: list[Part]) -> bool:
    """Whether all in the row stand at one height."""
    return even([part.rect.middle[1] for part in row], 2) or even([part.rect.y for part in row], 1)


def _narrowest(groups: list[list[Part]], across: bool) -> float:
    hulls = [hull(part.rect for part in group) for group in groups]
    if across:
        return min(two.x - one.right for one, two in itertools.pairwise(hulls))
    gaps = [two.y - one.bottom for one, two in itertools.pairwise(hulls)]
    return sorted(gaps)[len(gaps) // 2]


def columns_of(row: Part) -> tuple[int, float, float] | None:
    """Number, width and gap of equal columns, if the row's children stand in such."""
    if row.kind != "row" or len(row.children) < 2:
        return None
    children = row.children
    starts = [child.rect.x for child in children]
    steps = [two - one for one, two in itertools.pairwise(starts)]
    if not even(steps, 1.2):
        return None
    step = (starts[-1] - starts[0]) / (len(starts) - 1)
    widths = [child.rect.w for child in children]
    boxed = all(child.box is not None for child in children)
    if boxed and even(widths, 1.2):
        width = sum(widths) / len(widths)
        return len(children), width, step - width
    if boxed or len(children) < 3 or any(child.kind == "text" for child in children) or max(widths) > step - 8:
        return None
    gap = min(24.0, step - max(widths))
    return len(children), step - gap, gap


def _merge_grids(stack: Part) -> Part:
    """Rows of equal columns below each other become one grid."""
    merged: list[Part] = []
    for part in stack.children:
        last = merged[-1] if merged else None
        columns = columns_of(part)
        if columns is not None:
            count, width, gap = columns
            rect = Rect(part.rect.x, part.rect.y, count * (width + gap) - gap, part.rect.h)
            merged.append(replace(part, kind="grid", columns=count, rect=rect))
            if last is not None and _same_columns(last, merged[-1]):
                merged[-2:] = [_joined(last, merged[-1])]
            continue
        if last is not None and last.kind == "grid" and _continues(last, part):
            children = part.children if part.kind == "row" and part.box is None else (part,)
            merged[-1] = replace(last, children=(*last.children, *children), rect=hull((last.rect, part.rect)))
            continue
        merged.append(part)
    return replace(stack, children=tuple(merged))


def _same_columns(one: Part, two: Part) -> bool:
    if one.kind != "grid" or one.columns != two.columns or len(one.children) % one.columns:
        return False
    return all(
        abs(a.rect.x - b.rect.x) <= SLACK and abs(a.rect.w - b.rect.w) <= SLACK
        for a, b in zip(one.children, two.children, strict=False)
    ) and all(child.box is not None for child in (*one.children, *two.children))


def _continues(grid: Part, part: Part) -> bool:
    """Whether this is the grid's last row, not full."""
    if len(grid.children) % grid.columns or part.rect.y - grid.rect.bottom > 60:
        return False
    children = part.children if part.kind == "row" and part.box is None else (part,)
    return len(children) < grid.columns and all(
        child.box is not None
        and abs(child.rect.x - first.rect.x) <= SLACK
        and abs(child.rect.w - first.rect.w) <= SLACK
        for child, first in zip(children, grid.children, strict=False)
    )


def _joined(one: Part, two: Part) -> Part:
    return replace(one, children=(*one.children, *two.children), rect=hull((one.rect, two.rect)))
