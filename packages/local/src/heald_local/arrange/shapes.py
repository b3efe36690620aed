"""Judges parts by their shape, and computes lengths that shrink with the screen."""

import itertools
import math
from collections.abc import Sequence

from heald_local.arrange.controls import FIELDS
from heald_local.arrange.nodes import length
from heald_local.arrange.part import Part
from heald_local.spans import is_even
from heald_pictures.rect import Rect, hull

FAR = 64.0  # a distance beyond this shrinks with the screen
LEAST_GAP = 20  # pixels, to which a gap shrinks
SMALL = 72.0  # the size of icons, and of parts that keep their width
TALL = 100.0  # the height of columns, which begin at one height whatever their content becomes
_APART = 24.0  # pixels between columns that are not words of one line


def is_list_of_words(part: Part) -> bool:
    """Whether a part has the width of its words: single lines without a box."""
    if part.text is not None:
        return len(part.text.lines) == 1
    if part.kind != "stack" or part.box is not None or not part.children:
        return False
    return all(is_list_of_words(child) for child in part.children)


def is_line_of_words(part: Part) -> bool:
    """Whether a part is a row of single lines at even distances, such as links."""
    if part.kind != "row" or part.box is not None or not all(is_list_of_words(child) for child in part.children):
        return False
    gaps = [after.rect.x - before.rect.right for before, after in itertools.pairwise(part.children)]
    return is_even(gaps, 0.6) and gaps[0] > 0.3


def is_column(part: Part) -> bool:
    """Whether a part of a row is a column of its own, which becomes narrower before it wraps."""
    return bool(part.children) and part.tag not in ("button", "nav") and part.kind != "row" and part.rect.h > SMALL


def row_alignment(rects: Sequence[Rect], middle: float) -> str | None:
    """Return how the parts of a row align, around its middle or at an edge; None if they do not."""
    is_tall = min(rect.h for rect in rects) > TALL
    if is_even([rect.y for rect in rects], 0.4) and (is_tall or not is_even([rect.h for rect in rects], 0.2)):
        return "flex-start"
    if all(abs(rect.middle[1] - middle) <= 0.8 for rect in rects):
        return "center"
    return "flex-end" if is_even([rect.bottom for rect in rects], 0.4) else None


def fluid_gap(value: float, width: float) -> str:
    """Format a gap; a large one shrinks with the screen and has its full size at the page's own width."""
    if value <= FAR or not width:
        return length(value)
    return f"clamp({LEAST_GAP}px, {math.ceil(1000 * value / width) / 10:g}vw, {length(round(value))})"


def fluid_length(value: float, room: float) -> str:
    """Format a distance; a large one is at most its share of the room around it."""
    if value <= FAR or room <= value:
        return length(value)
    return f"min({length(value)}, {math.ceil(100 * value / room)}%)"


def yielding_gap(value: float, room: float) -> str:
    """Format the distance between two parts of a row, which gives up first what the room around the row loses."""
    if value <= FAR or room <= value:
        return length(value)
    return f"clamp({LEAST_GAP}px, 100% - {math.floor(room - value)}px, {length(value)})"


def share_of(value: float, room: float) -> str:
    """Format a distance as a share of the room around it, for screens on which the room is smaller."""
    return f"{min(round(100 * value / max(room, 1.0)), 100)}%"


def least_width(part: Part) -> float:
    """Return about how wide a part must be for its longest word, or its widest small picture."""
    if part.text is not None:
        lines = part.text.lines
        return max(line.rect.w * max(map(len, line.text.split() or [""])) / max(len(line.text), 1) for line in lines)
    if not part.children:
        return part.rect.w if part.rect.w <= 3 * SMALL else 0.0
    inner = max(least_width(child) for child in part.children)
    around = hull(child.rect for child in part.children)
    return inner + (part.rect.w - around.w if part.box is not None else 0.0)


def least_room(part: Part) -> float:
    """Return about how wide a part must be, if the parts of its rows stand side by side."""
    if part.kind == "picture":
        return part.rect.w if part.rect.w <= SMALL else 0.0  # a larger one shrinks
    if part.tag in (*FIELDS, "button"):
        return part.rect.w
    if not part.children:
        return least_width(part)
    rooms = [least_room(child) for child in part.children]
    around = hull(child.rect for child in part.children)
    padding = 2 * max(min(around.x - part.rect.x, part.rect.right - around.right), 0.0) if part.box is not None else 0.0
    if part.kind != "row":
        return max(rooms) + padding
    gaps = [after.rect.x - before.rect.right for before, after in itertools.pairwise(part.children)]
    return sum(rooms) + sum(min(max(gap, 0.0), LEAST_GAP) for gap in gaps) + padding


def has_single_lines(part: Part) -> bool:
    """Whether a part holds a text that does not wrap, and none that does."""
    if part.text is not None:
        return len(part.text.lines) == 1
    texts = [has_single_lines(child) for child in part.children if child.children or child.text is not None]
    return bool(texts) and all(texts)


def has_columns(part: Part) -> bool:
    """Whether a part has columns that stand apart, such as those of a table."""
    if part.kind in ("table", "grid"):
        return True
    gaps = [after.rect.x - before.rect.right for before, after in itertools.pairwise(part.children)]
    is_apart = part.kind == "row" and max(gaps, default=0.0) >= _APART
    return is_apart or any(has_columns(child) for child in part.children)


def is_marked_text(part: Part) -> bool:
    """Whether a part is a row of a small mark and a text or column beside it, which stay side by side."""
    if len(part.children) != 2:
        return False
    mark, words = part.children
    small = mark.rect.w <= SMALL and (mark.picture is not None or not mark.children or mark.tag == "input")
    return small and mark.text is None and words.rect.w > mark.rect.w and words.picture is None


def fluid_columns(count: int, width: float, gap: float) -> str:
    """Return columns that are as many as on the screenshot at its width, and fewer where they would be too narrow."""
    too_many = (count * width - gap) / (count + 1)  # the width at which one more column would fit
    least = math.ceil(max(too_many + 3, min(0.72 * width, 240)))
    if gap < 2 or width < 80 or least >= width - 1:
        return f"repeat({count}, minmax(0, 1fr))"
    return f"repeat(auto-fit, minmax(min(100%, {least}px), 1fr))"
