"""Lays out escaped text on a terminal: rows that fit, each continuation marked, and escapes in reverse video.

Rows are broken here and not by the terminal, so that no line of a text can look like a line of Heald.
"""

from collections.abc import Iterable, Iterator, Sequence

from heald.commands.terminal import REVERSE, Colours
from heald.commands.text_columns import text_width
from heald.core.lazy import lazy_pattern

INDENT = "  "
CONTINUED, BROKEN = "  │ ", "  ┆ "
"""Before a further line of the text, and before a part of a line that is too long for the terminal."""
_PART = lazy_pattern(r"⟦[^⟧]*⟧|[^⟦]")
_ESCAPE = lazy_pattern(r"⟦[^⟧]*⟧")
_TAB = 8
_MIN_COLUMNS = 20


def lay_out(rows: Iterable[str], head: str, paint: Colours, columns: int, *codes: str) -> list[str]:
    """Return the rows of a text, the first after `head`, in the colours of `codes`."""
    lines: list[str] = []
    for at, row in enumerate(rows):
        first, *rest = break_row(row, text_width(head if at == 0 else CONTINUED), columns)
        lines.append(f"{head if at == 0 else CONTINUED}{paint_row(first, paint, *codes)}")
        lines += [f"{BROKEN}{paint_row(part, paint, *codes)}" for part in rest]
    return lines


def break_row(row: str, indent: int, columns: int) -> list[str]:
    """Break an escaped row into parts that fit behind the indent, or behind the mark of a broken line."""
    columns = max(columns, _MIN_COLUMNS)
    if row.isascii() and "\t" not in row and indent + len(row) <= columns:
        return [row]
    parts: list[str] = [""]
    at = indent
    for piece in _pieces(row):
        width = _TAB - at % _TAB if piece == "\t" else text_width(piece)
        if at + width > columns and parts[-1]:
            parts.append("")
            at = text_width(BROKEN)
            width = _TAB - at % _TAB if piece == "\t" else width
        parts[-1] += piece
        at += width
    return parts


def _pieces(row: str) -> Iterator[str]:
    """The characters of a row, and its escapes, which are not broken unless they are long."""
    for part in _PART.finditer(row):
        if len(part[0]) <= _MIN_COLUMNS:
            yield part[0]
        else:
            yield from part[0]


def paint_row(row: str, paint: Colours, *codes: str) -> str:
    """Colour a row. Its escapes are in reverse video too."""
    if not paint.on:
        return row
    painted: list[str] = []
    end = 0
    for escape in _ESCAPE.finditer(row):
        painted += [paint(row[end : escape.start()], *codes), paint(escape[0], *codes, REVERSE)]
        end = escape.end()
    return "".join([*painted, paint(row[end:], *codes)])


def note_lines(notes: Sequence[str], paint: Colours, columns: int, *codes: str) -> list[str]:
    """Return notes about a text, each marked with `!`."""
    return [line for note in notes for line in lay_out([note], f"{INDENT}! ", paint, columns, *codes)]
