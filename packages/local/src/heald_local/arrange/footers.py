"""Turns the rows of words of a footer into the columns that they are: each a heading with links below it."""

from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.nesting import equal_columns
from heald_local.arrange.part import Part
from heald_pictures.colours import colour_distance
from heald_pictures.rect import Rect, hull

_FEWEST_ROWS, _FEWEST_COLUMNS = 3, 2
_EDGE = 4.0  # pixels by which the words of a column may begin apart
_OTHER_COLOUR = 40.0
_LONGEST = 36  # letters
_WIDEST_GAP = 40.0  # pixels between two rows


def gather_columns(part: Part, top: float) -> Part:
    """Gather rows of words into columns in all stacks below `top`."""
    if part.text is not None or not part.children:
        return part
    children = [gather_columns(child, top) for child in part.children]
    if part.kind != "stack":
        return replace(part, children=tuple(children))
    gathered: list[Part] = []
    at = 0
    while at < len(children):
        rows = _find_rows(children[at:]) if children[at].rect.y >= top else []
        gathered.append(_columns(rows) if rows else children[at])
        at += max(len(rows), 1)
    return replace(part, children=tuple(gathered))


def _find_rows(parts: Sequence[Part]) -> list[Part]:
    """Return the first parts that are rows of words in the same columns, with headings above."""
    rows: list[Part] = []
    for part in parts:
        if not _is_row_of_words(part) or (rows and not _is_below(rows[-1], part)):
            break
        rows.append(part)
    return rows if len(rows) >= _FEWEST_ROWS and _has_heads(rows) else []


def _is_row_of_words(part: Part) -> bool:
    if part.kind != "row" or part.box is not None or len(part.children) < _FEWEST_COLUMNS:
        return False
    texts = [child.text for child in part.children]
    return all(text is not None and len(text.lines) == 1 and len(text.text) <= _LONGEST for text in texts)


def _is_below(above: Part, row: Part) -> bool:
    if len(row.children) != len(above.children) or row.rect.y - above.rect.bottom > _WIDEST_GAP:
        return False
    pairs = zip(above.children, row.children, strict=True)
    return all(abs(upper.rect.x - lower.rect.x) <= _EDGE for upper, lower in pairs)


def _has_heads(rows: Sequence[Part]) -> bool:
    """Whether the words of the first row, and no others, are bold or of another colour."""
    first, others = _styles(rows[0]), [style for row in rows[1:] for style in _styles(row)]
    bold = all(weight >= 600 for weight, _ in first) and not any(weight >= 600 for weight, _ in others)
    tinted = all(
        colour_distance(head_colour, colour) > _OTHER_COLOUR for _, head_colour in first for _, colour in others
    )
    return bold or tinted


def _styles(row: Part) -> list[tuple[int, str]]:
    return [(child.text.style.weight, child.text.style.colour) for child in row.children if child.text is not None]


def _columns(rows: Sequence[Part]) -> Part:
    columns = [tuple(row.children[at] for row in rows) for at in range(len(rows[0].children))]
    stacks = tuple(Part("stack", hull(part.rect for part in column), column) for column in columns)
    whole = Part("row", hull(row.rect for row in rows), stacks)
    equal = equal_columns(whole)
    if equal is None:
        return whole
    count, width, gap = equal
    around = Rect(whole.rect.x, whole.rect.y, count * (width + gap) - gap, whole.rect.h)
    return replace(whole, kind="grid", columns=count, rect=around)
