"""A table's rows and cells get their CSS: columns of fixed width, cells that stand in the middle of their row."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from weft.vision.geometry import Rect, even, hull
from weft.vision.leaves import text_node
from weft.vision.page import Node, Part
from weft.vision.seen import Box, Family
from weft.vision.sheet import Sheet, length, paint_frame

NEAR = 1.6
_FAR = 6.0
"""Pixels from the middle of a row: what is further away was not put there."""
Inside = Callable[[Part, Rect], Node]
"""Lays out what is in a cell, in the room that it has."""


def table_node(part: Part, family: Family, sheet: Sheet, slim: Sheet, inside: Inside) -> Node:
    """The table in a region that scrolls on a narrow screen."""
    sides = [_side([row.children[number] for row in part.children]) for number in range(len(part.children[0].children))]
    looks = Sheet({"width": "100%"})
    if part.box is not None:
        paint_frame(part.box, looks)
    rows = [_row(row, family, sides, number == 0, inside) for number, row in enumerate(part.children)]
    head = [row for row, own in zip(rows, part.children, strict=True) if own.children[0].tag == "th"]
    groups = [Node("thead", "", children=tuple(head))] if head else []
    groups.append(Node("tbody", "", children=tuple(rows[len(head) :])))
    table = Node("table", "table", looks.done(), (("min-width", length(part.rect.w)),), children=tuple(groups))
    slim["overflow-x"] = "auto"
    sheet.pop("display", None)
    attributes = (("tabindex", "0"), ("aria-label", _label(part)))
    return Node("section", "scroll", sheet.done(), slim.done(), attributes, children=(table,))


def _label(part: Part) -> str:
    said = [child.text.text for cell in part.children[0].children for child in cell.children if child.text is not None]
    return f"Table: {', '.join(said)}"[:120] if said else "Table"


def _side(cells: Sequence[Part]) -> tuple[str, float]:
    """On which side the contents of a column are even, and how far from it they stand there."""
    rects = [(cell.rect, hull(child.rect for child in cell.children)) for cell in cells if cell.children]
    lefts = [content.x - cell.x for cell, content in rects]
    if len(rects) < 2 or even(lefts, NEAR):
        return "left", median(lefts) if lefts else 0.0
    rights = [cell.right - content.right for cell, content in rects]
    if even(rights, NEAR):
        return "right", median(rights)
    middles = [content.middle[0] - cell.middle[0] for cell, content in rects]
    return ("center", median(middles)) if even(middles, NEAR) else ("", 0.0)


def _row(row: Part, family: Family, sides: Sequence[tuple[str, float]], first: bool, inside: Inside) -> Node:
    sheet = Sheet()
    sheet["height"] = length(row.rect.h)
    if row.box is not None and row.box.fill:
        sheet["background"] = row.box.fill
    cells = [_cell(cell, row.box, family, side, first, inside) for cell, side in zip(row.children, sides, strict=True)]
    return Node("tr", row.name, sheet.done(), children=tuple(cells))


def _cell(cell: Part, box: Box | None, family: Family, side: tuple[str, float], first: bool, inside: Inside) -> Node:
    sheet = Sheet()
    if first:
        sheet["width"] = length(cell.rect.w)
    inner = _framed(cell, box, sheet)
    if not cell.children:
        return Node(cell.tag, cell.name, sheet.done(), (), cell.attributes)
    content = hull(child.rect for child in cell.children)
    _beside(cell.rect, inner, content, side, sheet)
    _upright(inner, content, sheet)
    (child,) = cell.children
    if child.kind == "text" and child.text is not None and len(child.text.lines) == 1:
        attributes = (*cell.attributes, *(pair for pair in child.attributes if pair[0] == "dir"))
        return text_node(
            replace(child, tag=cell.tag, name=cell.name, attributes=attributes), child.text, family, sheet, Sheet()
        )
    room = (
        content
        if side[0] in ("right", "center")
        else Rect(content.x, content.y, cell.rect.right - content.x, content.h)
    )
    return Node(cell.tag, cell.name, sheet.done(), (), cell.attributes, children=(inside(child, room),))


def _framed(cell: Part, row: Box | None, sheet: Sheet) -> Rect:
    """The ground and the lines of a cell, its own or its row's; what is left within them."""
    rect = cell.rect
    if cell.box is not None and cell.box.border is not None:
        sheet["background"] = cell.box.fill
        paint_frame(cell.box, sheet)
        top, right, bottom, left = cell.box.border.widths
        return Rect(rect.x + left, rect.y + top, rect.w - left - right, rect.h - top - bottom)
    line = row.border.widths[2] if row is not None and row.border is not None else 0.0
    if line and row is not None and row.border is not None:
        sheet["border-bottom"] = f"{length(line)} solid {row.border.colour}"
    return Rect(rect.x, rect.y, rect.w, rect.h - line)


def _beside(cell: Rect, inner: Rect, content: Rect, side: tuple[str, float], sheet: Sheet) -> None:
    """Padding and alignment, so that the content stands where it was seen, all of a column alike."""
    name, off = side
    match name:
        case "right":
            sheet["text-align"] = name
            sheet.px("padding-right", max(off - (cell.right - inner.right), 0))
        case "center":
            sheet["text-align"] = name
            off += cell.middle[0] - inner.middle[0]
            sheet.px("padding-left" if off > 0 else "padding-right", 2 * abs(off))
        case "left":
            sheet.px("padding-left", max(off - (inner.x - cell.x), 0))
        case _:
            sheet.px("padding-left", max(content.x - inner.x, 0))


def _upright(room: Rect, content: Rect, sheet: Sheet) -> None:
    off = content.middle[1] - room.middle[1]
    if abs(off) > _FAR:
        sheet["vertical-align"] = "top"
        sheet.px("padding-top", content.y - room.y)
    elif abs(off) >= 0.75:
        sheet["padding-top" if off > 0 else "padding-bottom"] = length(2 * abs(off))
