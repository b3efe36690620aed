"""Colours, on a terminal only, and not where NO_COLOR is set; figures and times as people read them."""

import os
import sys
import unicodedata
from typing import TextIO

BOLD, DIM, ITALIC, UNDERLINE = "1", "2", "3", "4"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"


def has_colours(stream: TextIO) -> bool:
    """Whether what is written there may be coloured (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Paint:
    """Colours text for one stream, or leaves it alone."""

    def __init__(self, stream: TextIO | None = None, *, on: bool | None = None) -> None:
        self.on = has_colours(stream or sys.stdout) if on is None else on

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.on and text and codes else text


def width_of(text: str) -> int:
    """Columns that a text without escapes takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def cut(text: str, columns: int) -> str:
    """The text, no wider than so many columns; what is left out is told by an ellipsis."""
    if width_of(text) <= columns:
        return text
    kept: list[str] = []
    room = columns - 1
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…" if columns > 0 else ""


def pad(text: str, columns: int) -> str:
    return text + " " * max(columns - width_of(text), 0)


def seconds(duration: float) -> str:
    """A duration in a few letters."""
    if duration < 1:
        return f"{duration * 1000:.0f} ms"
    if duration < 60:
        return f"{duration:.1f} s"
    return f"{int(duration // 60)} min {int(duration % 60):02} s"


def dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def rows_of(table: list[list[str]], gap: str = "  ") -> list[str]:
    """Rows of text as lines whose columns stand under each other; the last column is as long as it is."""
    if not table:
        return []
    widths = [max(width_of(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    lines = [[pad(cell, width) for cell, width in zip(row, widths, strict=False)] + [row[-1]] for row in table]
    return [gap.join(line).rstrip() for line in lines]


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
