"""Boxes with frames that touch on all sides are the cells of one table, found before anything else is divided."""

from collections.abc import Sequence
from dataclasses import replace

from weft.vision.geometry import Rect, hull
from weft.vision.page import Part
from weft.vision.seen import Border, Box, Text

TOUCH = 1.5
FEWEST_ROWS, FEWEST_COLUMNS = 3, 2


def framed_tables(parts: Sequence[Part]) -> list[Part]:
    """The same parts, with one table in place of the cells of each."""
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


def _touch(one: Rect, two: Rect) -> bool:
    beside = min(abs(one.right - two.x), abs(two.right - one.x)) <= TOUCH and abs(one.y - two.y) <= TOUCH
    below = min(abs(one.bottom - two.y), abs(two.bottom - one.y)) <= TOUCH and abs(one.x - two.x) <= TOUCH
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
    """Enough rows and columns, and every cell in its place."""
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
    """Each cell has the line above and to the left of it; those at the right and below are the table's."""
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
    """Whether the first row has another ground, or bolder texts, than all others."""
    first, others = rows[0], [cell for row in rows[1:] for cell in row]
    if any(_text(cell) is None for cell in first):
        return False
    fills = {cell.box.fill for cell in first if cell.box is not None}
    if not any(cell.box is not None and cell.box.fill in fills for cell in others):
        return True
    bold = [text for cell in others if (text := _text(cell)) is not None and text.style.weight >= 600]
    return not bold and all(text.style.weight >= 600 for cell in first if (text := _text(cell)) is not None)


def _text(cell: Part) -> Text | None:
    return cell.children[0].text if len(cell.children) == 1 else None
