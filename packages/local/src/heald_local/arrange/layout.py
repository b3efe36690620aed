"""Lays parts out with flow CSS."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

from heald_local.arrange.controls import FIELDS
from heald_local.arrange.link_lists import put_list_into_nav
from heald_local.arrange.nodes import (
    Declarations,
    block_node,
    even_paddings,
    field_node,
    is_caption,
    length,
    make_node,
    paint_box,
    picture_node,
    rule_node,
    simplify_node,
    text_node,
)
from heald_local.arrange.part import Part
from heald_local.arrange.placement import (
    EDGE,
    GUTTER,
    NEAR,
    SPRING,
    LayoutRoom,
    keep_wrapping,
    place_across,
    set_margin_left,
)
from heald_local.arrange.shapes import (
    FAR,
    LEAST_GAP,
    SMALL,
    fluid_columns,
    fluid_gap,
    fluid_length,
    has_single_lines,
    is_column,
    is_line_of_words,
    is_list_of_words,
    is_marked_text,
    least_room,
    least_width,
    row_alignment,
    yielding_gap,
)
from heald_local.arrange.tables import table_node
from heald_local.page import MEDIUM_BREAK, Node
from heald_local.see.paragraphs import wrap_width
from heald_local.spans import is_even
from heald_pictures.rect import Rect, hull

_NARROW = 160.0  # a button up to this wide keeps its width
_WIDE = 240.0  # a column that is wider than this may become narrower than its longest part
_LOW = 100.0  # the height of rows whose parts wrap like words
_FEW_COLUMNS = 6  # touching columns up to this many, which are not calendar, wrap on a narrow screen
_STEP, _SNAP = 4, 1.0  # distances of texts are multiples of the first where that moves them by at most the second
_SHRUNK = 0.6  # of its width, to which a column shrinks before it wraps
_LIST_STYLES = {"bullets": "disc", "numbers": "decimal"}
_ROOM = 2.0  # pixels that a column of text gets more than its longest line
_CUT = 0.04  # of the width of a line that ends at the edge of the page, by which it may be longer than it seems
_ROOMY = 4.0  # pixels that a row must have left to wrap without a risk at its own width


def lay_out(
    part: Part, frame: LayoutRoom, place: Declarations | None = None, narrow: Declarations | None = None
) -> Node:
    """Lay out a part and everything in it. `place` and `narrow` hold the declarations of its parent."""
    sheet, slim = place if place is not None else Declarations(), narrow if narrow is not None else Declarations()
    if part.kind == "text" and part.text is not None:
        room = frame.right - (frame.left if "text-align" in sheet else max(part.rect.x, frame.left))
        if len(part.text.lines) == 1 and part.rect.right + _CUT * part.rect.w > frame.width:
            sheet["min-width"], sheet["overflow-x"] = "0", "clip"  # the picture shows nothing beyond its edge either
        return text_node(part, part.text, frame.family, sheet, slim, room)
    if part.kind == "picture" and part.picture is not None:
        return picture_node(part, sheet, slim)
    if part.kind == "rule" and part.box is not None:
        return rule_node(part, part.box, sheet, slim)
    if part.tag in FIELDS and part.box is not None:
        return field_node(part, part.box, sheet, slim)
    if part.kind == "table":

        def inside(child: Part, room: Rect) -> Node:
            return lay_out(child, replace(frame, left=room.x, right=room.right))

        return table_node(part, frame.family, sheet, slim, inside)
    return _group(part, frame, sheet, slim)


def _group(part: Part, frame: LayoutRoom, sheet: Declarations, slim: Declarations) -> Node:
    if part.box is not None:
        paint_box(part.box, sheet)
    if not part.children:
        return block_node(part, part.box, sheet, slim)
    if part.tag == "button":
        sheet["font"], sheet["text-align"] = "inherit", "start"
        if part.box is None:
            sheet["background"] = "transparent"
            sheet.setdefault("padding", "0")
        if part.box is None or part.box.border is None:
            sheet["border"] = "0"
    if part.kind == "layers":
        children = _layers(part, frame, sheet)
        return make_node(part, part.name or part.kind, sheet, slim, part.attributes, (), tuple(children))
    inner, content = _inner_room(part, frame, sheet, slim)
    if part.box is None and part.kind == "row" and inner.right - inner.left >= frame.width - 2 and frame.is_page:
        slim["padding-left"] = slim["padding-right"] = f"{EDGE}px"
    if part.kind == "row":
        children = _row(part, inner, sheet, slim)
    elif part.kind == "grid":
        children = _grid(part, inner, sheet, slim)
    else:
        children = _stack(part, inner, content, sheet)
    node = make_node(part, part.name or part.kind, sheet, slim, part.attributes, (), tuple(children))
    return put_list_into_nav(simplify_node(node))


def _inner_room(part: Part, frame: LayoutRoom, sheet: Declarations, slim: Declarations) -> tuple[LayoutRoom, Rect]:
    """Set the padding; return the room that is left and the area of the content."""
    if part.box is None:
        left, right = part.rect.x, part.rect.right
        if sheet.get("align-self") == "stretch" and "padding" not in sheet:
            left, right = frame.left, frame.right
        return replace(frame, left=left, right=right), part.rect
    widths = part.box.border.widths if part.box.border is not None else (0.0, 0.0, 0.0, 0.0)
    rect = part.rect
    inner = Rect(rect.x + widths[3], rect.y + widths[0], rect.w - widths[1] - widths[3], rect.h - widths[0] - widths[2])
    content = hull(child.rect for child in part.children)
    left, right = max(content.x - inner.x, 0), max(inner.right - content.right, 0)
    is_in_column = content.x >= frame.page[0] - 1 and content.right <= frame.page[1] + 1
    if part.kind == "grid":  # its first column is not moved within it
        is_in_column = is_in_column and content.x <= frame.page[0] + NEAR
    if inner.w >= frame.width - 2 and is_in_column:
        left, right = max(frame.page[0] - inner.x, 0), max(inner.right - frame.page[1], 0)
    elif abs(left - right) <= 3 and left > 16 and (_are_all_centred(part, inner) or _is_centred_row(part, left)):
        left = right = 16.0
    elif right > left:
        right = left
    elif left > right + FAR and part.kind == "stack":
        left = right
    top, bottom = max(content.y - inner.y, 0), max(inner.bottom - content.bottom, 0)
    _padding(sheet, slim, (top, right, bottom, left), frame.width if inner.w >= frame.width - 2 else 0)
    return replace(frame, left=inner.x + left, right=inner.right - right), content


def _are_all_centred(part: Part, inner: Rect) -> bool:
    if part.kind != "stack":
        return False
    return all(abs(child.rect.middle[0] - inner.middle[0]) <= 2 for child in part.children)


def _is_centred_row(part: Part, left: float) -> bool:
    """Whether a row stands in the middle of a box that is much wider."""
    gaps = [after.rect.x - before.rect.right for before, after in itertools.pairwise(part.children)]
    return part.kind == "row" and left > FAR and max(gaps, default=0.0) < left


def _padding(sheet: Declarations, slim: Declarations, sides: tuple[float, float, float, float], page: float) -> None:
    """Set the padding in its shortest form. A centred column keeps its width and shrinks on narrower screens."""
    top, right, bottom, left = sides
    if page and abs(left - right) <= 2 and left > 60:
        half = (page - left - right) / 2
        sheet["padding"] = f"{length(top)} max({GUTTER}px, calc(50% - {length(half)})) {length(bottom)}"
        return
    names = [length(side) for side in sides]
    if any(name != "0" for name in names):
        if names[0] == names[2] and names[1] == names[3]:
            names = names[:1] if names[0] == names[1] else names[:2]
        elif names[1] == names[3]:
            names = names[:3]
        sheet["padding"] = " ".join(names)
    if max(left, right) > FAR:
        slim.medium["padding-left"] = slim.medium["padding-right"] = f"{GUTTER}px"
    elif max(left, right) > GUTTER:
        slim["padding-left"] = slim["padding-right"] = f"{GUTTER}px"


def _stack(part: Part, frame: LayoutRoom, content: Rect, sheet: Declarations) -> list[Node]:
    """Lay out parts one below the other: an even distance is a gap, others are margins."""
    sheet["display"], sheet["flex-direction"] = "flex", "column"
    if part.name in _LIST_STYLES:
        sheet["list-style"] = _LIST_STYLES[part.name]
    children = part.children
    if part.tag == "ul" and all(is_list_of_words(child) and _is_left_link(child, part) for child in children):
        sheet["align-items"] = "flex-start"
    gaps = [lower.rect.y - upper.rect.bottom for upper, lower in itertools.pairwise(children)]
    gap = sum(gaps) / len(gaps) if len(gaps) > 1 and is_even(gaps, 0.3) and gaps[0] > 0.3 else 0.0
    sheet.set_px("gap", gap)
    nodes: list[Node] = []
    previous = part.rect.y if part.box is None else content.y
    off = 0.0  # what snapped distances have moved the next child by
    for number, child in enumerate(children):
        place, slim = Declarations(), Declarations()
        if not (gap and number):
            distance = child.rect.y - previous - off
            near = _STEP * round(distance / _STEP)
            movable = child.kind == "text" and number < len(children) - 1
            snapped = near if movable and near > 0 and abs(near - distance) <= _SNAP else distance
            place.set_px("margin-top", snapped)
            off += snapped - (child.rect.y - previous)
            if child.kind == "text" and child.rect.y < previous - 0.3:
                slim["margin-top"] = "0"
        place_across(child, frame, place, slim)
        nodes.append(lay_out(child, frame, place, slim))
        previous = child.rect.bottom
    return nodes


def _is_left_link(item: Part, listed: Part) -> bool:
    """Whether an item is a link at the left edge of its list; it has the width of its words."""
    return any(child.tag == "a" for child in item.children) and item.rect.x - listed.rect.x <= NEAR


def _row(part: Part, frame: LayoutRoom, sheet: Declarations, slim: Declarations) -> list[Node]:
    """Lay out parts side by side. If they fill the room, the widest gap is flexible; others are gaps and margins."""
    children = part.children
    sheet["display"] = "flex"
    rects = [child.rect for child in children]
    top = min(rect.y for rect in rects)
    bottom = max(rect.bottom for rect in rects)
    if part.box is not None and sheet.get("justify-content") is None:
        inside = hull(rects)
        if abs((inside.x - frame.left) - (frame.right - inside.right)) <= 2 and inside.x - frame.left > 3:
            sheet["justify-content"] = "center"
        elif abs(frame.right - inside.right) <= NEAR and inside.x - frame.left > FAR:
            sheet["justify-content"] = "flex-end"
    aligned = row_alignment(rects, (top + bottom) / 2)
    sheet["align-items"] = aligned or "flex-start"
    gaps = [right.x - left.right for left, right in itertools.pairwise(rects)]
    has_known_width = part.box is not None or "width" in sheet or sheet.get("align-self") == "stretch"
    widest = max(gaps, default=0.0)
    short = frame.right - rects[-1].right  # how far the row ends before its room
    stretched = (
        has_known_width
        and -NEAR <= rects[0].x - frame.left <= (FAR if "justify-content" not in sheet else NEAR)
        and (abs(short) <= NEAR or (0 < short <= FAR and widest > SPRING))
    )
    spring = gaps.index(widest) if stretched and widest > 24 else -1
    is_spread = len(gaps) > 1 and is_even(gaps, 2)
    if is_spread:
        spring = -1
    fixed = [gap for number, gap in enumerate(gaps) if number != spring]
    gap = sum(fixed) / len(fixed) if fixed and is_even(fixed, 0.6) and fixed[0] > 0.3 else 0.0
    if gap:
        sheet["gap"] = fluid_gap(gap, frame.width)
    reaches_edge = (
        part.tag == "header" and not has_known_width
    )  # it is stretched to the edge of the page, behind its last part
    left_over = (frame.width if reaches_edge else frame.right) - rects[-1].right
    left_over += gaps[spring] - gap if spring >= 0 else 0
    if is_spread and stretched and abs(short) <= NEAR and widest > GUTTER and "justify-content" not in sheet:
        sheet["justify-content"], sheet["gap"] = "space-between", f"{GUTTER}px"
        gap, left_over = GUTTER, sum(gaps) - GUTTER * len(gaps)
    is_rigid = bottom - top <= _LOW and not any(is_column(child) for child in children)
    flows = left_over > _ROOMY and is_rigid
    if "flex-wrap" not in sheet and not is_marked_text(part):
        if flows:
            sheet["flex-wrap"] = "wrap"
        elif least_room(part) * frame.width > MEDIUM_BREAK * (frame.right - frame.left):
            sheet["flex-wrap"], slim["flex-wrap"] = "nowrap", "wrap"  # at the page's own width, and at narrower ones
        else:
            slim.medium["flex-wrap"] = "wrap"
    if not gap or gap > GUTTER:
        slim["gap"] = "12px" if not gap else f"{GUTTER}px"
    nodes: list[Node] = []
    for number, child in enumerate(children):
        place, thin = Declarations(), Declarations()
        if number == 0 and "justify-content" not in sheet:
            set_margin_left(rects[0].x - frame.left, frame, place, thin)
        if spring >= 0 and short > NEAR and number == len(children) - 1:
            place["margin-right"] = length(short)
        if number:
            if number - 1 == spring:
                place["margin-left"] = "auto"
            elif not gap:
                room = frame.right - frame.left
                write_gap = yielding_gap if is_rigid and gaps[number - 1] == widest else fluid_length
                place["margin-left"], thin["margin-left"] = write_gap(gaps[number - 1], room), "0"
                if gaps[number - 1] > FAR:
                    thin.medium["margin-left"] = f"{LEAST_GAP}px"
        if aligned is None:
            place.set_px("margin-top", child.rect.y - top)
        nodes.append(_lay_out_beside(child, frame, place, thin, is_firm=rects[-1].right <= frame.width - GUTTER))
    return nodes


def _lay_out_beside(child: Part, frame: LayoutRoom, place: Declarations, slim: Declarations, *, is_firm: bool) -> Node:
    """Lay out a part of a row: a text in its own width, anything else in its width on the screenshot.

    Where one pixel less would wrap a column of text differently, it keeps its width at the page's own if the row
    `is_firm`: if it does not end at the edge of the page, beyond which it would reach.
    """
    rect = child.rect
    room = replace(frame, left=rect.x, right=rect.right)
    place["max-width"] = "100%"
    if child.kind == "text" and child.text is not None:
        if len(child.text.lines) > 1:
            least, most = wrap_width(child.text)
            place["flex"] = f"0 1 {length(min(least + 2, (least + most) / 2) if most > least else least + 2)}"
            slim.medium["flex"] = _medium_flex(child)
            if is_firm:
                _keep_width(place, slim)
            if child.text.align != "left":
                place["text-align"] = child.text.align
        place.pop("max-width")
        return lay_out(child, room, place, slim)
    if child.kind == "picture":
        if max(rect.w, rect.h) > SMALL:
            place["flex"], place["min-width"] = "0 1 auto", "0"
        else:
            place["flex"] = "none"
        return lay_out(child, room, place, slim)
    if child.kind == "rule" and rect.h > max(rect.w, SMALL):
        slim.medium["display"] = "none"  # it stands between columns, which stack
    elif child.kind == "rule" and rect.w > SMALL:
        place["flex"] = "0 1 auto"  # in a narrower window it is shorter, as the words beside it have their width
    if is_line_of_words(child):
        place["flex-wrap"] = "nowrap" if is_firm else "wrap"
        slim["flex-wrap"] = "wrap"
    if child.kind == "rule" or is_list_of_words(child) or is_line_of_words(child) or _is_ruled_link(child):
        return lay_out(child, room, place, slim)
    wide = rect.w + (_ROOM if _is_filled_by_text(child) else 0)
    if rect.w <= SMALL or child.tag in (*FIELDS, "button") or is_caption(child):
        is_bare = child.box is None and child.tag not in (*FIELDS, "button") and has_single_lines(child)
        if not is_bare:  # words of other fonts may be wider
            place["width"] = length(wide)
        if rect.w <= _NARROW and child.tag not in FIELDS:
            place["flex"] = "none"
    else:
        place["flex"] = f"0 1 {length(wide)}"
        slim.medium["flex"] = _medium_flex(child)
        if rect.w > _WIDE:
            place["min-width"] = "0"
        if is_firm and _has_paragraph(child):
            _keep_width(place, slim)
    return lay_out(child, room, place, slim)


def _is_ruled_link(item: Part) -> bool:
    """Whether an item of a row is a link of one line with lines behind it; it has the width of its words."""
    if item.tag != "li" or item.kind != "row" or item.box is not None:
        return False
    return all(child.kind == "rule" or is_list_of_words(child) for child in item.children)


def _keep_width(place: Declarations, slim: Declarations) -> None:
    place["flex-shrink"], slim["flex-shrink"] = "0", "1"


def _medium_flex(child: Part) -> str:
    """Return how a column shares its row on a medium screen: it shrinks while its words fit, then wraps, and grows."""
    return f"1 1 {length(round(min(child.rect.w, max(_SHRUNK * child.rect.w, least_width(child) + GUTTER))))}"


def _is_filled_by_text(part: Part) -> bool:
    """Whether a paragraph reaches the right edge of a part: a rounded width would wrap it differently."""
    return any(
        child.text is not None
        and len(child.text.lines) > 1
        and child.rect.x + wrap_width(child.text)[0] > part.rect.right - _ROOM
        for child in _open_parts(part)
    )


def _has_paragraph(part: Part) -> bool:
    return any(child.text is not None and len(child.text.lines) > 1 for child in _open_parts(part))


def _open_parts(part: Part) -> Iterator[Part]:
    """Yield a part and all in it that is in no box of its own."""
    yield part
    for child in part.children:
        if child.box is None and child.kind != "table":
            yield from _open_parts(child)


def _grid(part: Part, frame: LayoutRoom, sheet: Declarations, slim: Declarations) -> list[Node]:
    columns, children = part.columns, part.children
    step = (children[columns - 1].rect.x - children[0].rect.x) / (columns - 1)
    around = hull(child.rect for child in children)
    width = (part.rect.w if part.box is None else around.w) - step * (columns - 1)
    sheet["display"] = "grid"
    sheet["grid-template-columns"] = fluid_columns(columns, width, step - width)
    if part.box is not None and abs(around.w - (frame.right - frame.left)) > NEAR:
        width = step - min(24.0, step - max(child.rect.w for child in children[:columns]))
        sheet["grid-template-columns"] = f"repeat({columns}, minmax(0, {length(width)}))"
        slim["grid-template-columns"] = "minmax(0, 1fr)"
    rows = [children[start : start + columns] for start in range(0, len(children), columns)]
    tops = [min(child.rect.y for child in row) for row in rows]
    bottoms = [max(child.rect.bottom for child in row) for row in rows]
    gaps = [next_top - bottom for bottom, next_top in zip(bottoms, tops[1:], strict=False)]
    down = gaps[0] if gaps else step - width
    sheet["gap"] = (
        length(step - width) if abs(down - (step - width)) < 0.6 else f"{length(down)} {length(step - width)}"
    )
    if not all(is_even([child.rect.bottom for child in row], 0.8) for row in rows) or any(
        c.box is None for c in children
    ):
        sheet["align-items"] = "start"
    if step - width < 2 and columns <= _FEW_COLUMNS:
        slim["grid-template-columns"] = "repeat(auto-fit, minmax(140px, 1fr))"
    if "max-width" not in sheet and part.box is None:
        sheet["max-width"] = length(part.rect.w)
    nodes: list[Node] = []
    for row, top in zip(rows, tops, strict=True):
        for number, child in enumerate(row):
            left = children[number].rect.x if child.box is not None else children[0].rect.x + number * step
            place, thin = Declarations(), Declarations()
            place.set_px("margin-top", child.rect.y - top)
            if child.text is not None:
                keep_wrapping(child.text, width, place)
            elif child.box is None:
                place["align-self"] = "stretch"  # a cell is as wide as its column
            nodes.append(lay_out(child, replace(frame, left=left, right=left + width), place, thin))
    return even_paddings(nodes, "align-items" not in sheet)


def _layers(part: Part, frame: LayoutRoom, sheet: Declarations) -> list[Node]:
    """Put all parts into one grid cell, and move each to its place: down by pixels, across by a share of the room."""
    sheet["display"] = "grid"
    sheet["grid-template-columns"] = "minmax(0, 1fr)"
    sheet["align-items"], sheet["justify-items"] = "start", "start"
    sheet["min-height"] = length(part.rect.h)
    if part.rect.w >= frame.width - 2:
        sheet["overflow-x"] = "clip"
    border = part.box.border.widths if part.box is not None and part.box.border is not None else (0.0, 0.0, 0.0, 0.0)
    room = max(part.rect.w - border[1] - border[3], 1.0)
    nodes: list[Node] = []
    for child in part.children:
        place = Declarations()
        place["grid-area"] = "1 / 1"
        down, across = child.rect.y - part.rect.y - border[0], child.rect.x - part.rect.x - border[3]
        if max(abs(down), abs(across)) >= 0.3:
            place["margin"] = f"{length(down)} 0 0 {_share(across, room)}"
        if child.kind not in ("text", "picture", "rule"):
            place["width"] = _share(child.rect.w, room)
        elif across > 0:
            place["max-width"] = f"{100 - 100 * across / room:.2f}%"
        nodes.append(lay_out(child, replace(frame, left=child.rect.x, right=child.rect.right), place, Declarations()))
    return nodes


def _share(value: float, room: float) -> str:
    return "0" if abs(value) < 0.3 else f"{100 * value / room:.2f}%"
