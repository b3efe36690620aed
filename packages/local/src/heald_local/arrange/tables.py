"""Detects tables and lays them out."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from heald_local.arrange.colours import is_vivid
from heald_local.arrange.nesting import divide
from heald_local.arrange.nodes import Declarations, length, make_node, paint_frame, text_node
from heald_local.arrange.part import Part
from heald_local.page import Node
from heald_local.spans import cut, is_even
from heald_pictures.elements import Border, Box, Family, TextStyle
from heald_pictures.rect import Rect, hull

RIVER = 12.0  # columns are at least this far apart, in every row
TALLEST = 72.0
FEWEST_ROWS, FEWEST_COLUMNS = 3, 3
FEWEST_STRIPED = 4
LEAST_TEXT = 0.6
_LONGEST_CELL, _MOST_FIGURES = 40, 0.7  # letters of a cell, and the part of a column's rows that have figures
_UNEVEN, _WIDEST_PITCH = 4.0, 3.0  # pixels, and sizes of type, from one row to the next
MOST_BARS = 5  # parts above or below a table that may look like rows of it


@dataclass(frozen=True, slots=True)
class _Row:
    part: Part
    rule: Box | None = None  # the line below it

    @property
    def cells(self) -> tuple[Part, ...]:
        return self.part.children if self.part.kind == "row" else (replace(self.part, box=None),)


def mark_tables(part: Part) -> Part:
    """Replace rows that form a table by one part."""
    if part.kind != "stack" or part.tag != "div":
        return replace(part, children=tuple(mark_tables(child) for child in part.children)) if part.children else part
    result: list[Part] = []
    run: list[Part] = []
    children = [row_or_line for child in part.children for row_or_line in _without_line(child)]
    for child in (*children, None):
        if child is not None and (_is_row(child) or (_is_rule(child) and run)):
            run.append(child)
            continue
        after = child.rect.y if child is not None else _inner(part).bottom
        before = result[-1].rect.bottom if result else _inner(part).y
        result += _table(run, (before, after))
        run = []
        if child is not None:
            result.append(mark_tables(child))
    return replace(part, children=tuple(result))


def _inner(part: Part) -> Rect:
    widths = part.box.border.widths if part.box is not None and part.box.border is not None else (0.0, 0.0, 0.0, 0.0)
    return Rect(part.rect.x, part.rect.y + widths[0], part.rect.w, part.rect.h - widths[0] - widths[2])


def _is_rule(part: Part) -> bool:
    return part.kind == "rule" and part.rect.w > 20 * part.rect.h and part.rect.h <= 3


def _without_line(part: Part) -> tuple[Part, ...]:
    """Return a boxed row and the lines at its edges one after the other, other parts unchanged."""
    rows = [child for child in part.children if child.kind == "row" and child.box is None]
    lines = [child for child in part.children if _is_rule(child) and child.rect.w >= 0.9 * part.rect.w]
    if part.kind != "stack" or part.box is None or part.tag != "div" or len(rows) != 1 or not lines:
        return (part,)
    if len(rows) + len(lines) != len(part.children):
        return (part,)
    return tuple(
        replace(part, kind="row", children=child_part.children) if child_part in rows else child_part
        for child_part in part.children
    )


def _is_row(part: Part) -> bool:
    if part.kind != "row" or part.tag != "div" or not 12 <= part.rect.h <= TALLEST:
        return False
    box = part.box
    return box is None or (box.radius < 4 and box.shadow is None and box.gradient is None and not box.image)


def _table(run: list[Part], room: tuple[float, float]) -> list[Part]:
    """Return the parts with the longest table among them as one part: a bar above or below it is not a row of it."""
    dropped = sorted(((first, last) for first in range(MOST_BARS) for last in range(MOST_BARS)), key=sum)
    for first, last in dropped:
        inside = run[first : len(run) - last]
        if not inside or inside[0].kind == "rule":
            continue
        before = run[first - 1].rect.bottom if first else room[0]
        after = run[len(run) - last].rect.y if last else room[1]
        table = _whole_table(inside, (before, after))
        if table is not None:
            outside = [mark_tables(part) for part in (*run[:first], *run[len(run) - last :])]
            return [*outside[:first], table, *outside[first:]]
    return [mark_tables(part) for part in run]


def _whole_table(run: list[Part], room: tuple[float, float]) -> Part | None:
    """Return the table that all of the parts form, if they do."""
    rows = _rows(run)
    columns = _columns(rows)
    if not _is_table(rows, columns):
        return None
    around = hull(part.rect for part in run)
    edges = [around.x, *(_left_edge(rows, *pair) for pair in itertools.pairwise(columns)), around.right]
    heights = _heights(rows, room)
    head = _has_head(rows)
    made: list[Part] = []
    for number, (row, (top, bottom)) in enumerate(zip(rows, heights, strict=True)):
        rect = Rect(around.x, top, around.w, bottom - top)
        cells = _cells(row, columns, edges, rect, "th" if head and number == 0 else "td")
        made.append(Part("row", rect, cells, box=_row_box(row, rect), tag="tr", name="line"))
    whole = Rect(around.x, heights[0][0], around.w, heights[-1][1] - heights[0][0])
    return Part("table", whole, tuple(made), _side_frame(rows, whole), tag="table", name="table")


def _left_edge(rows: Sequence[_Row], before: tuple[float, float], column: tuple[float, float]) -> float:
    """Return the left edge of a column: its contents, or the middle of the gap if they align at their right."""
    cells = [cell.rect for row in rows for cell in _cells_in_column(row, column)]
    aligned = is_even([rect.right for rect in cells], NEAR) and not is_even([rect.x for rect in cells], NEAR)
    return (before[1] + column[0]) / 2 if aligned else column[0]


def _side_frame(rows: Sequence[_Row], around: Rect) -> Box | None:
    """Return the lines at both sides that most rows have."""
    borders = [row.part.box.border for row in rows if row.part.box is not None and row.part.box.border is not None]
    sided = [border for border in borders if border.widths[1] and border.widths[3]]
    if len(sided) < 0.6 * len(rows):
        return None
    right, left = sided[-1].widths[1], sided[-1].widths[3]
    return Box(around, "", border=Border((0.0, right, 0.0, left), sided[-1].colour))


def _rows(run: Sequence[Part]) -> list[_Row]:
    rows: list[_Row] = []
    for part in run:
        if part.kind != "rule":
            rows.append(_Row(part))
        elif rows and rows[-1].rule is None:
            rows[-1] = replace(rows[-1], rule=part.box)
    return rows


def _columns(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    parts = [cell for row in rows for cell in row.cells]
    groups = cut(parts, lambda part: (part.rect.x, part.rect.right), RIVER)
    return [(min(p.rect.x for p in group), max(p.rect.right for p in group)) for group in groups]


def _is_table(rows: Sequence[_Row], columns: Sequence[tuple[float, float]]) -> bool:
    is_plain = _is_plain(rows, columns)
    is_clear = bool(rows) and (is_plain or _has_head(rows) or _is_striped(rows))
    if len(rows) < FEWEST_ROWS or len(columns) < (2 if is_clear else FEWEST_COLUMNS):
        return False
    divided = sum(row.rule is not None or row.part.box is not None for row in rows)
    if divided < 0.6 * (len(rows) - 1) and not is_plain:
        return False
    filled = [sum(bool(_cells_in_column(row, column)) for column in columns) for row in rows]
    if min(filled) < max(2, 0.6 * len(columns)):
        return False
    cells = [cell for row in rows for cell in row.cells]
    return sum(cell.text is not None for cell in cells) >= LEAST_TEXT * len(cells)


def _is_plain(rows: Sequence[_Row], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether rows without lines or colours are data: short texts at even distances, with figures or after labels.

    Rows of two columns must be more, and in the colour of plain text: titles with dates are often links in a list.
    """
    cells = [_cells_in_column(row, column) for row in rows for column in columns]
    if len(rows) < FEWEST_ROWS or len(columns) < 2 or any(len(inside) != 1 for inside in cells):
        return False
    if any(row.part.box is not None for row in rows[1:]):
        return False
    texts = [inside[0].text for inside in cells if inside[0].text is not None and len(inside[0].text.lines) == 1]
    if len(texts) < len(cells) or any(len(text.text) > _LONGEST_CELL for text in texts):
        return False
    tops = [row.part.rect.middle[1] for row in rows]
    pitches = [lower - upper for upper, lower in itertools.pairwise(tops)]
    if max(pitches) - min(pitches) > _UNEVEN or max(pitches) > _WIDEST_PITCH * median(
        text.style.size for text in texts
    ):
        return False
    first, *others = ([text.text for text in texts[number :: len(columns)]] for number in range(len(columns)))
    figures = [sum(any(map(str.isdigit, words)) for words in column[1:]) for column in others]
    is_counted = any(count >= _MOST_FIGURES * (len(rows) - 1) for count in figures)
    is_labelled = all(words.endswith(":") for words in first)
    if len(columns) > 2:
        return is_counted and all(_is_straight(rows, column) for column in columns)
    is_dark = not any(text.style.underline or is_vivid(text.style.colour) for text in texts)
    return len(rows) >= FEWEST_STRIPED and is_dark and (is_counted or is_labelled)


def _is_straight(rows: Sequence[_Row], column: tuple[float, float]) -> bool:
    """Whether the contents of a column begin or end on one line."""
    rects = [cell.rect for row in rows for cell in _cells_in_column(row, column)]
    return is_even([rect.x for rect in rects], NEAR) or is_even([rect.right for rect in rects], NEAR)


def _is_striped(rows: Sequence[_Row]) -> bool:
    """Whether rows have two colours by turns."""
    fills = [row.part.box.fill if row.part.box is not None else "" for row in rows]
    return len(rows) >= FEWEST_STRIPED and fills[0] != fills[1] and fills[2:] == fills[:-2]


def _has_head(rows: Sequence[_Row]) -> bool:
    """Whether the first row differs in style from the others: weight, size, colour or background."""
    first = [cell.text.style for cell in rows[0].cells if cell.text is not None]
    if len(first) < max(len(rows[0].cells) - 1, 2):
        return False
    others = [cell.text.style for row in rows[1:] for cell in row.cells if cell.text is not None]
    return bool(others) and not any(_alike(style, other) for style in first for other in others)


def _alike(first: TextStyle, second: TextStyle) -> bool:
    return (first.weight >= 600, first.colour) == (second.weight >= 600, second.colour) and abs(
        first.size - second.size
    ) < 0.6


def _cells_in_column(row: _Row, column: tuple[float, float]) -> list[Part]:
    return [cell for cell in row.cells if column[0] - 1 <= cell.rect.x and cell.rect.right <= column[1] + 1]


def _heights(rows: Sequence[_Row], room: tuple[float, float]) -> list[tuple[float, float]]:
    """Return top and bottom of each row: a line belongs to the row above it."""
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
        inside = _cells_in_column(row, column)
        content = (divide(inside),) if inside else ()
        scope = (("scope", "col"),) if tag == "th" else ()
        place = Rect(left, rect.y, right - left, rect.h)
        cells.append(Part("stack", place, content, tag=tag, name="head" if tag == "th" else "cell", attributes=scope))
    return tuple(cells)


def _row_box(row: _Row, rect: Rect) -> Box | None:
    box, rule = row.part.box, row.rule
    if rule is not None:
        return Box(rect, box.fill if box is not None else "", border=Border((0, 0, rule.rect.h, 0), rule.fill))
    return replace(box, rect=rect) if box is not None else None


NEAR = 1.6
_LEAST = 0.75  # of its width, to which a table shrinks before it scrolls
_FAR = 6.0  # pixels from the middle of a row beyond which content is aligned at the top
Inside = Callable[[Part, Rect], Node]  # lays out the content of a cell


def table_node(part: Part, family: Family, sheet: Declarations, slim: Declarations, inside: Inside) -> Node:
    """Lay out the table, in a region that scrolls on a narrow screen."""
    sides = [
        _column_alignment([row.children[number] for row in part.children])
        for number in range(len(part.children[0].children))
    ]
    looks = Declarations({"width": "100%", "min-width": length(round(_least_share(part) * part.rect.w))})
    if part.box is not None:
        paint_frame(part.box, looks)
    rows = [
        _row(row, family, sides, part.rect.w if number == 0 else 0, inside) for number, row in enumerate(part.children)
    ]
    head = [row for row, row_part in zip(rows, part.children, strict=True) if row_part.children[0].tag == "th"]
    groups = [Node("thead", "", children=tuple(head))] if head else []
    groups.append(Node("tbody", "", children=tuple(rows[len(head) :])))
    table = Node("table", "table", looks.finish(), children=tuple(groups))
    sheet["overflow-x"] = "auto"
    sheet.pop("display", None)
    attributes = (("tabindex", "0"), ("aria-label", _label(part)))
    return make_node(replace(part, tag="section"), "scroll", sheet, slim, attributes, children=(table,))


def _least_share(part: Part) -> float:
    """Return the share of its width at which the longest word of each column still fits."""
    shares = [
        (_indent(cell) + _longest_word(cell.children[0])) / cell.rect.w
        for row in part.children
        for cell in row.children
        if cell.children and cell.rect.w
    ]
    return min(max([_LEAST, *shares]), 1.0)


def _indent(cell: Part) -> float:
    """Return the padding of a cell: the distance of its content from the nearer side."""
    content = cell.children[0].rect
    return max(min(content.x - cell.rect.x, cell.rect.right - content.right), 0.0)


def _longest_word(part: Part) -> float:
    """Return about how wide the longest word of a part is; the part itself if it is not a text."""
    if part.text is None:
        return part.rect.w
    lines = part.text.lines
    return max(line.rect.w * max(map(len, line.text.split() or [""])) / max(len(line.text), 1) for line in lines) + 4


def _label(part: Part) -> str:
    texts = [child.text.text for cell in part.children[0].children for child in cell.children if child.text is not None]
    return f"Table: {', '.join(texts)}"[:120] if texts else "Table"


def _column_alignment(cells: Sequence[Part]) -> tuple[str, float]:
    """Return the side on which the contents of a column align, and their distance from it."""
    rects = [(cell.rect, hull(child.rect for child in cell.children)) for cell in cells if cell.children]
    lefts = [content.x - cell.x for cell, content in rects]
    if len(rects) < 2 or is_even(lefts, NEAR):
        return "left", median(lefts) if lefts else 0.0
    rights = [cell.right - content.right for cell, content in rects]
    if is_even(rights, NEAR):
        return "right", median(rights)
    middles = [content.middle[0] - cell.middle[0] for cell, content in rects]
    return ("center", median(middles)) if is_even(middles, NEAR) else ("", 0.0)


def _row(row: Part, family: Family, sides: Sequence[tuple[str, float]], whole: float, inside: Inside) -> Node:
    sheet = Declarations()
    sheet["height"] = length(row.rect.h)
    if row.box is not None and row.box.fill:
        sheet["background"] = row.box.fill
    cells = [_cell(cell, row.box, family, side, whole, inside) for cell, side in zip(row.children, sides, strict=True)]
    return Node("tr", row.name, sheet.finish(), children=tuple(cells))


def _cell(cell: Part, box: Box | None, family: Family, side: tuple[str, float], whole: float, inside: Inside) -> Node:
    sheet = Declarations()
    if whole:
        sheet["width"] = f"{100 * cell.rect.w / whole:.2f}%"
    inner = _paint_cell(cell, box, sheet)
    if not cell.children:
        return Node(cell.tag, cell.name, sheet.finish(), (), cell.attributes)
    content = hull(child.rect for child in cell.children)
    _align_across(cell.rect, inner, content, side, sheet)
    _align_down(inner, content, sheet)
    (child,) = cell.children
    if child.kind == "text" and child.text is not None and len(child.text.lines) == 1:
        attributes = (*cell.attributes, *(pair for pair in child.attributes if pair[0] == "dir"))
        return text_node(
            replace(child, tag=cell.tag, name=cell.name, attributes=attributes),
            child.text,
            family,
            sheet,
            Declarations(),
        )
    room = (
        content
        if side[0] in ("right", "center")
        else Rect(content.x, content.y, cell.rect.right - content.x, content.h)
    )
    return Node(cell.tag, cell.name, sheet.finish(), (), cell.attributes, children=(inside(child, room),))


def _paint_cell(cell: Part, row: Box | None, sheet: Declarations) -> Rect:
    """Paint the background and lines of a cell; return the room within them."""
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


def _align_across(cell: Rect, inner: Rect, content: Rect, side: tuple[str, float], sheet: Declarations) -> None:
    """Pad and align the content as it was detected, the same way in all of a column."""
    name, off = side
    match name:
        case "right":
            sheet["text-align"] = name
            sheet.set_px("padding-right", max(off - (cell.right - inner.right), 0))
        case "center":
            sheet["text-align"] = name
            off += cell.middle[0] - inner.middle[0]
            sheet.set_px("padding-left" if off > 0 else "padding-right", 2 * abs(off))
        case "left":
            sheet.set_px("padding-left", max(off - (inner.x - cell.x), 0))
        case _:
            sheet.set_px("padding-left", max(content.x - inner.x, 0))


def _align_down(room: Rect, content: Rect, sheet: Declarations) -> None:
    off = content.middle[1] - room.middle[1]
    if abs(off) > _FAR:
        sheet["vertical-align"] = "top"
        sheet.set_px("padding-top", content.y - room.y)
    elif abs(off) >= 0.75:
        sheet["padding-top" if off > 0 else "padding-bottom"] = length(2 * abs(off))
