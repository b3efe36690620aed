"""Turns the rows of words of a footer into the columns that they are: each a heading with links below it."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.nesting import equal_columns
from heald_local.arrange.part import Part
from heald_pictures.colours import colour_distance
from heald_pictures.rect import Rect, hull

_FEWEST_ROWS, _FEWEST_COLUMNS = 3, 2
_EDGE = 4.0  # pixels by which the words of a column may begin apart
_OTHER_COLOUR = 40.0
_LONGEST = 60  # letters
_FEWEST_LINES, _WIDEST_LINE = 2, 0.5  # lines of columns, and the part of all columns that each reaches across
_SAME_SIZE = 0.6  # pixels of type
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
    """Return the first parts that are rows of words in the same columns, with headings above.

    Columns may have dividing lines between their words, and the last rows may have no words in some columns.
    """
    if parts[0].kind != "row":
        return []
    rows: list[Part] = []
    worded: list[Part] = []
    for part in parts:
        is_worded = _is_row_of_words(part)
        if not (is_worded or (worded and _is_row_of_lines(part, worded[0]))) or (
            rows and not _is_below(worded, rows[-1], part)
        ):
            break
        rows.append(part)
        worded += [part] if is_worded else []
    rows = rows[: rows.index(worded[-1]) + 1] if worded else []
    is_whole = len(worded) >= _FEWEST_ROWS and all(len(_cells(row)) >= _FEWEST_COLUMNS for row in worded[:2])
    has_lines = len(rows) - len(worded) >= _FEWEST_LINES
    return rows if is_whole and (has_lines or _has_heads(worded)) else []


def _cells(part: Part) -> tuple[Part, ...]:
    """Return the parts of a row; a text or a dividing line that stands alone is a row of one."""
    if part.text is not None or part.kind == "rule":
        return (part,)
    return part.children if part.kind == "row" and part.box is None else ()


def _is_row_of_words(part: Part) -> bool:
    texts = [cell.text for cell in _cells(part)]
    is_short = all(text is not None and len(text.lines) == 1 and len(text.text) <= _LONGEST for text in texts)
    return bool(texts) and is_short


def _is_row_of_lines(part: Part, heads: Part) -> bool:
    """Whether a part is dividing lines of single columns; those of a table reach across all."""
    cells, widest = _cells(part), _WIDEST_LINE * heads.rect.w
    return bool(cells) and all(cell.kind == "rule" and cell.rect.w < widest for cell in cells)


def _is_below(worded: Sequence[Part], above: Part, row: Part) -> bool:
    """Whether a row stands in the columns of the rows above; one without words in some columns looks like these."""
    if row.rect.y - above.rect.bottom > _WIDEST_GAP:
        return False
    columns = [_column_of(worded[0], cell) for cell in _cells(row)]
    if None in columns or len(set(columns)) < len(columns):
        return False
    if _cells(row)[0].kind == "rule" or len(columns) == len(_cells(worded[-1])):
        return True
    if len(columns) > len(_cells(worded[-1])):
        return False
    if len(worded) == 1:
        return True  # a heading may have something else below it
    steps = [lower.rect.y - upper.rect.y for upper, lower in itertools.pairwise([*worded[-2:], row])]
    is_even_step = len(worded) == 2 or abs(steps[1] - steps[0]) <= _EDGE
    return is_even_step and _look_alike(worded[-1], row)


def _column_of(heads: Part, cell: Part) -> int | None:
    lefts = [abs(head.rect.x - cell.rect.x) for head in _cells(heads)]
    nearest = min(range(len(lefts)), key=lambda at: lefts[at])
    return nearest if lefts[nearest] <= _EDGE else None


def _look_alike(above: Part, row: Part) -> bool:
    """Whether the words of a row have the size of those above, in their column or beside it."""
    sizes = [cell.text.style.size for cell in _cells(above) if cell.text is not None]
    own = [cell.text.style.size for cell in _cells(row) if cell.text is not None]
    return all(min(sizes) - _SAME_SIZE <= size <= max(sizes) + _SAME_SIZE for size in own)


def _has_heads(rows: Sequence[Part]) -> bool:
    """Whether the words of the first row, and no others, are bold or of another colour."""
    first, others = _styles(rows[0]), [style for row in rows[1:] for style in _styles(row)]
    bold = all(weight >= 600 for weight, _ in first) and not any(weight >= 600 for weight, _ in others)
    tinted = all(
        colour_distance(head_colour, colour) > _OTHER_COLOUR for _, head_colour in first for _, colour in others
    )
    return bold or tinted


def _styles(row: Part) -> list[tuple[int, str]]:
    return [(cell.text.style.weight, cell.text.style.colour) for cell in _cells(row) if cell.text is not None]


def _columns(rows: Sequence[Part]) -> Part:
    heads = rows[0]
    columns = [
        tuple(cell for row in rows for cell in _cells(row) if _column_of(heads, cell) == at)
        for at in range(len(heads.children))
    ]
    stacks = tuple(Part("stack", hull(part.rect for part in column), column) for column in columns)
    whole = Part("row", hull(row.rect for row in rows), stacks)
    equal = equal_columns(whole)
    if equal is None:
        return whole
    count, width, gap = equal
    around = Rect(whole.rect.x, whole.rect.y, count * (width + gap) - gap, whole.rect.h)
    return replace(whole, kind="grid", columns=count, rect=around)
