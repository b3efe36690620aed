"""Nests elements: boxes hold the elements on them, the rest is cut into rows and columns."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.bands import (
    begins_with_photos,
    has_partners,
    join_columns,
    split_captions,
    split_cards,
    split_top,
)
from heald_local.arrange.part import Part
from heald_local.spans import cut, is_even
from heald_pictures.elements import Border, Box, Detection, TextElement
from heald_pictures.rect import Rect, hull

TOUCH = 1.5
FEWEST_ROWS, FEWEST_COLUMNS = 3, 2


def merge_framed_cells(parts: Sequence[Part]) -> list[Part]:
    """Replace cells with touching frames by one table each."""
    cells = [part for part in parts if _is_cell(part)]
    rest = [part for part in parts if part not in cells]
    for group in _touching(cells):
        rows = _rows(group)
        rest += [_table(rows)] if _is_whole(rows) else group
    return rest


def _is_cell(part: Part) -> bool:
    box = part.box
    if box is None or box.border is None or box.radius > 1 or box.shadow is not None or part.kind == "table":
        return False
    return sum(width > 0 for width in box.border.widths) >= 2 and part.rect.h >= 14


def _touching(cells: Sequence[Part]) -> list[list[Part]]:
    groups: list[list[Part]] = []
    for cell in cells:
        near = [group for group in groups if any(_touch(cell.rect, other.rect) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([cell, *(other for group in near for other in group)])
    return groups


def _touch(first: Rect, second: Rect) -> bool:
    beside = min(abs(first.right - second.x), abs(second.right - first.x)) <= TOUCH and abs(first.y - second.y) <= TOUCH
    below = (
        min(abs(first.bottom - second.y), abs(second.bottom - first.y)) <= TOUCH and abs(first.x - second.x) <= TOUCH
    )
    return beside or below


def _rows(cells: Sequence[Part]) -> list[list[Part]]:
    rows: list[list[Part]] = []
    for cell in sorted(cells, key=lambda part: (part.rect.y, part.rect.x)):
        if rows and abs(rows[-1][0].rect.y - cell.rect.y) <= TOUCH:
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return [sorted(row, key=lambda part: part.rect.x) for row in rows]


def _is_whole(rows: Sequence[Sequence[Part]]) -> bool:
    """Whether there are enough rows and columns, and every cell is in its place."""
    if len(rows) < FEWEST_ROWS or len(rows[0]) < FEWEST_COLUMNS:
        return False
    lefts = [cell.rect.x for cell in rows[0]]
    return all(
        len(row) == len(lefts)
        and all(abs(cell.rect.x - left) <= TOUCH for cell, left in zip(row, lefts, strict=True))
        and all(abs(cell.rect.bottom - row[0].rect.bottom) <= TOUCH for cell in row)
        for row in rows
    )


def _table(rows: Sequence[Sequence[Part]]) -> Part:
    """Make a table. A cell gets the lines above and left of it; the table gets those at its right and bottom."""
    around = hull(cell.rect for row in rows for cell in row)
    border = next(cell.box.border for cell in rows[0] if cell.box is not None and cell.box.border is not None)
    line = max(border.widths)
    lefts = [*(cell.rect.x for cell in rows[0]), around.right - line]
    tops = [*(row[0].rect.y for row in rows), around.bottom - line]
    head = _has_head(rows)
    made: list[Part] = []
    for number, row in enumerate(rows):
        top, bottom = tops[number], tops[number + 1]
        cells = [
            _cell(cell, Rect(left, top, right - left, bottom - top), line, head and not number)
            for cell, left, right in zip(row, lefts, lefts[1:], strict=False)
        ]
        made.append(
            Part("row", Rect(around.x, top, around.w - line, bottom - top), tuple(cells), tag="tr", name="line")
        )
    frame = Box(around, "", border=Border((0, line, line, 0), border.colour))
    return Part("table", around, tuple(made), frame, tag="table", name="table")


def _cell(cell: Part, rect: Rect, line: float, head: bool) -> Part:
    assert cell.box is not None
    assert cell.box.border is not None
    box = Box(rect, cell.box.fill, border=Border((line, 0, 0, line), cell.box.border.colour))
    children = cell.children
    if len(children) > 1:
        children = (replace(cell, box=None, rect=hull(child.rect for child in children)),)
    tag, name = ("th", "head") if head else ("td", "cell")
    return Part("stack", rect, children, box, tag=tag, name=name, attributes=(("scope", "col"),) if head else ())


def _has_head(rows: Sequence[Sequence[Part]]) -> bool:
    """Whether the first row has another background, or bolder texts, than the others."""
    first, others = rows[0], [cell for row in rows[1:] for cell in row]
    if any(_cell_text(cell) is None for cell in first):
        return False
    fills = {cell.box.fill for cell in first if cell.box is not None}
    if not any(cell.box is not None and cell.box.fill in fills for cell in others):
        return True
    bold = [text for cell in others if (text := _cell_text(cell)) is not None and text.style.weight >= 600]
    return not bold and all(text.style.weight >= 600 for cell in first if (text := _cell_text(cell)) is not None)


def _cell_text(cell: Part) -> TextElement | None:
    return cell.children[0].text if len(cell.children) == 1 else None


THIN = 6
SLACK = 2.0
MARK = 24.0
TALL = 80.0  # least height of a photograph or band with content over its lower edge


def nest(detection: Detection) -> Part:
    boxes = [box for box in detection.boxes if min(box.rect.w, box.rect.h) > THIN or box.border is not None]
    rules = [box for box in detection.boxes if box not in boxes]
    boxes, rules = _absorb_slices(boxes, rules)
    page = Rect(0, 0, detection.width, detection.height)
    leaves = [Part("text", text.rect, text=text) for text in detection.texts]
    pictures = [picture for picture in detection.pictures if picture.kind != "ground"]
    leaves += [Part("picture", picture.rect, picture=picture) for picture in pictures]
    leaves += [Part("rule", rule.rect, box=rule) for rule in rules]
    parts = merge_framed_cells(_fill_boxes(boxes, leaves))
    whole = divide(parts) if parts else Part("stack", page)
    if whole.kind == "stack" and whole.box is None:
        return replace(whole, rect=page)
    return _merge_grids(Part("stack", page, (whole,)))


def _absorb_slices(boxes: Sequence[Box], rules: Sequence[Box]) -> tuple[list[Box], list[Box]]:
    """Make thin upright lines that are as tall as a box and touch it the sides of its border."""
    whole: list[Box] = []
    rest = list(rules)
    for box in boxes:
        sides = [rule for rule in rest if box.border is None and box.radius < 1 and _is_slice(rule.rect, box.rect)]
        if not sides:
            whole.append(box)
            continue
        rest = [rule for rule in rest if rule not in sides]
        right = max((rule.rect.w for rule in sides if rule.rect.x > box.rect.x), default=0.0)
        left = max((rule.rect.w for rule in sides if rule.rect.x < box.rect.x), default=0.0)
        around = hull([box.rect, *(rule.rect for rule in sides)])
        whole.append(replace(box, rect=around, border=Border((0.0, right, 0.0, left), sides[0].fill)))
    return whole, rest


def _is_slice(rule: Rect, box: Rect) -> bool:
    level = abs(rule.y - box.y) <= TOUCH and abs(rule.bottom - box.bottom) <= TOUCH
    beside = min(abs(rule.right - box.x), abs(box.right - rule.x)) <= TOUCH
    return rule.w <= 2 and rule.h >= 12 and level and beside


def _area(part: Part) -> Rect:
    """Return the area that decides in which box a part lies: ink rather than line boxes."""
    return hull(line.ink for line in part.text.lines) if part.text is not None else part.rect


def _fill_boxes(boxes: Sequence[Box], leaves: Sequence[Part]) -> list[Part]:
    """Put boxes, largest first, and leaves into each other; return the outermost parts."""
    remaining, loose = list(boxes), list(leaves)
    parts: list[Part] = []
    while remaining:
        box = remaining.pop(0)
        inside = [other for other in remaining if box.rect.holds(other.rect, SLACK)]
        over = [other.rect for other in remaining if other not in inside and other.rect.common(box.rect) > 0]
        inner = [other for other in inside if not any(rect_over.holds(other.rect, SLACK) for rect_over in over)]
        mine = [leaf for leaf in loose if _within(box.rect, _area(leaf))]
        mine = [leaf for leaf in mine if not any(rect.holds(_area(leaf), SLACK) for rect in over)]
        remaining = [other for other in remaining if other not in inner]
        loose = [leaf for leaf in loose if leaf not in mine]
        children = merge_framed_cells(_fill_boxes(inner, mine))
        content = _stacked(children, box.rect)
        parts.append(replace(content, rect=box.rect, box=box) if children else Part("stack", box.rect, box=box))
    return parts + loose


def _within(box: Rect, area: Rect) -> bool:
    return box.holds(area, SLACK) or (box.common(area) > 0.9 * area.area and box.area > area.area)


def _stacked(parts: list[Part], rect: Rect) -> Part:
    if not parts:
        return Part("stack", rect)
    arranged = divide(parts)
    if arranged.box is None and arranged.children:
        return arranged
    return Part("stack", rect, (arranged,))


def divide(parts: Sequence[Part]) -> Part:
    """Cut parts into rows and columns, recursively. Parts that no straight line divides become layers."""
    if len(parts) == 1:
        return parts[0]
    rows = cut(parts, lambda part: (part.rect.y, part.rect.bottom))
    columns = _columns(parts)
    if len(rows) > 1:
        columns = _join_marks(columns)
    around = hull(part.rect for part in parts)
    if len(rows) > 1 and not (len(columns) > 1 and _columns_first(rows, columns)):
        return _merge_grids(Part("stack", around, tuple(_split_bands(rows, around))))
    return _divide_columns(rows, columns, around) if len(columns) > 1 else _divide_overlapping(parts, around)


def _divide_columns(rows: list[list[Part]], columns: list[list[Part]], around: Rect) -> Part:
    """Put columns side by side; rows of cards, and what is above all columns, are parted first."""
    bands = (split_cards(rows, columns) or split_top(columns)) if len(rows) > 1 else []
    if bands:
        return _merge_grids(Part("stack", around, tuple(divide(band) for band in bands)))
    joined = join_columns(columns)
    return Part("row", around, tuple(divide(column) for column in (joined if len(joined) > 1 else columns)))


def _columns(parts: Sequence[Part]) -> list[list[Part]]:
    return cut(parts, lambda part: (part.rect.x, part.rect.right))


def _join_marks(columns: list[list[Part]]) -> list[list[Part]]:
    """Join small marks (radio buttons, ticks, bullets) to the column that follows them."""
    joined: list[list[Part]] = []
    for column in columns:
        if joined and _are_marks(joined[-1], column):
            joined[-1] = [*joined[-1], *column]
        else:
            joined.append(column)
    return joined


def _are_marks(marks: list[Part], column: list[Part]) -> bool:
    around, beside = hull(part.rect for part in marks), hull(part.rect for part in column)
    if len(marks) < 2 or around.w > MARK or beside.x - around.right > MARK:
        return False
    if any(part.rect.h > MARK or part.children for part in marks):
        return False
    return all(any(abs(mark.rect.middle[1] - part.rect.middle[1]) <= 4 for part in column) for mark in marks)


def _split_bands(rows: list[list[Part]], around: Rect) -> list[Part]:
    """Divide row by row; rows between two dividing lines go together if they form columns."""
    bands: list[list[list[Part]]] = [[]]
    for row in rows:
        if (
            len(row) == 1
            and row[0].box is not None
            and row[0].rect.w >= (0.6 if row[0].kind == "rule" else 0.94) * around.w
        ):
            bands += [[row], []]
        else:
            bands[-1].append(row)
    divided_parts: list[Part] = []
    for band in bands:
        parts = [part for row in band for part in row]
        if len(band) > 1 and len(bands) > 1:
            columns = _join_marks(_columns(parts))
            if len(columns) > 1 and _columns_first(band, columns):
                divided = _divide_columns(band, columns, hull(part.rect for part in parts))
                divided_parts += divided.children if divided.kind == "stack" else [divided]
                continue
        divided_parts += _divide_rows(band)
    return divided_parts


def _divide_rows(rows: list[list[Part]]) -> list[Part]:
    """Divide row by row, photographs together with the words below them."""
    divided: list[Part] = []
    for at, columns in split_captions(rows):
        if not columns:
            divided.append(divide(rows[at]))
            continue
        around = hull(part.rect for column in columns for part in column)
        divided.append(Part("row", around, tuple(divide(column) for column in columns)))
    return divided


def _divide_overlapping(parts: Sequence[Part], around: Rect) -> Part:
    """Ignore small overlaps by shrinking everything a little; larger ones become layers."""
    for by in (2.0, 4.0, 7.0):
        for axis, kind in (("y", "stack"), ("x", "row")):
            groups = cut(parts, lambda part, axis=axis, by=by: _shrunk_span(part.rect, axis, by))
            if len(groups) > 1:
                divided = tuple(divide(group) for group in groups)
                return Part("stack" if kind == "stack" else "row", around, divided)
    ordered = sorted(parts, key=lambda part: (part.kind == "text", -part.rect.area))
    return _stack_overhang(ordered, around) or _layers(ordered, around)


def _layers(ordered: Sequence[Part], around: Rect) -> Part:
    """Lay the largest part at the bottom, and the others, arranged among themselves, over it."""
    if len(ordered) > 2 and ordered[0].kind != "text":
        return Part("layers", around, (ordered[0], divide(ordered[1:])))
    return Part("layers", around, tuple(ordered))


def _stack_overhang(parts: Sequence[Part], around: Rect) -> Part | None:
    """Stack a photograph or band and what overlaps its lower edge, the second drawn up."""
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


def _shrunk_span(rect: Rect, axis: str, by: float) -> tuple[float, float]:
    start, size = (rect.y, rect.h) if axis == "y" else (rect.x, rect.w)
    by = min(by, size / 3)
    return start + by, start + size - by


def _columns_first(rows: list[list[Part]], columns: list[list[Part]]) -> bool:
    """Whether the gaps between columns are so wide that they are columns, not cells of rows."""
    if any(len(column) < 2 for column in columns) and len(columns) != 2:
        return False
    level = [
        is_even([part.rect.middle[1] for part in row], 2) or is_even([part.rect.y for part in row], 1) for row in rows
    ]
    if all(level) and all(len(row) == len(columns) for row in rows) and not begins_with_photos(rows):
        return False
    if has_partners(rows, columns):
        return False
    return _narrowest_gap(columns, across=True) > 1.3 * _narrowest_gap(rows, across=False)


def _narrowest_gap(groups: list[list[Part]], across: bool) -> float:
    hulls = [hull(part.rect for part in group) for group in groups]
    if across:
        return min(after.x - before.right for before, after in itertools.pairwise(hulls))
    gaps = [after.y - before.bottom for before, after in itertools.pairwise(hulls)]
    return sorted(gaps)[len(gaps) // 2]


def equal_columns(row: Part) -> tuple[int, float, float] | None:
    """Return number, width and gap of the columns, if the children of a row stand in equal ones."""
    if row.kind != "row" or len(row.children) < 2:
        return None
    children = row.children
    starts = [child.rect.x for child in children]
    steps = [following - start for start, following in itertools.pairwise(starts)]
    if not is_even(steps, 1.2):
        return None
    step = (starts[-1] - starts[0]) / (len(starts) - 1)
    widths = [child.rect.w for child in children]
    boxed = all(child.box is not None for child in children)
    if boxed and is_even(widths, 1.2):
        width = sum(widths) / len(widths)
        return len(children), width, step - width
    if boxed or len(children) < 3 or any(child.kind == "text" for child in children) or max(widths) > step - 8:
        return None
    gap = min(24.0, step - max(widths))
    return len(children), step - gap, gap


def _merge_grids(stack: Part) -> Part:
    """Merge rows of equal columns into one grid."""
    merged: list[Part] = []
    for part in stack.children:
        last = merged[-1] if merged else None
        columns = equal_columns(part)
        if columns is not None:
            count, width, gap = columns
            whole = count * (width + gap) - gap if part.box is None else part.rect.w
            rect = Rect(part.rect.x, part.rect.y, whole, part.rect.h)
            merged.append(replace(part, kind="grid", columns=count, rect=rect))
            if last is not None and _same_columns(last, merged[-1]):
                last = replace(last, children=(*last.children, *merged[-1].children))
                merged[-2:] = [replace(last, rect=hull((last.rect, merged[-1].rect)))]
            continue
        if last is not None and last.kind == "grid" and _continues(last, part):
            children = part.children if part.kind == "row" and part.box is None else (part,)
            merged[-1] = replace(last, children=(*last.children, *children), rect=hull((last.rect, part.rect)))
            continue
        merged.append(part)
    return replace(stack, children=tuple(merged))


def _same_columns(upper: Part, lower: Part) -> bool:
    if upper.kind != "grid" or upper.columns != lower.columns or len(upper.children) % upper.columns:
        return False
    return all(
        abs(a.rect.x - b.rect.x) <= SLACK and abs(a.rect.w - b.rect.w) <= SLACK
        for a, b in zip(upper.children, lower.children, strict=False)
    ) and all(child.box is not None for child in (*upper.children, *lower.children))


def _continues(grid: Part, part: Part) -> bool:
    """Whether a part is the last, incomplete row of a grid."""
    if len(grid.children) % grid.columns or part.rect.y - grid.rect.bottom > 60:
        return False
    children = part.children if part.kind == "row" and part.box is None else (part,)
    return len(children) < grid.columns and all(
        child.box is not None
        and abs(child.rect.x - first.rect.x) <= SLACK
        and abs(child.rect.w - first.rect.w) <= SLACK
        for child, first in zip(children, grid.children, strict=False)
    )
