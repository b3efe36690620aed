"""Cuts icons and small controls off lines of text."""

from collections.abc import Sequence

from heald_local.see.parts import SMALL, FoundPart
from heald_pictures.rect import Rect, spanning

SHORTEST_PIECE = 0.45  # heights of a line that is left beside a mark
LEVEL, BESIDE = 0.6, 0.5  # parts of the height and the width of a mark that are on its line
TALLEST = 3  # heights of a line that a mark on it has, at most
AT_END = 0.5  # heights from a mark to the end of a line that it begins or ends
MARK_EDGE = 2  # pixels around an icon that may be part of it
WIDEST_ICON = 1.45  # times as wide as tall is an icon on a line of text, at most


def without_marks(lines: Sequence[Rect], parts: Sequence[FoundPart]) -> list[Rect]:
    """Cut icons and small controls off the lines of text that they lie on."""
    marks = [part for part in parts if part.name in SMALL and part.name != "thumb"]
    return [piece for line in lines for piece in _cut_marks(line, marks)]


def _cut_marks(line: Rect, marks: Sequence[FoundPart]) -> list[Rect]:
    on = [
        mark for mark in marks if _is_on_line(mark.rect, line) and (mark.name != "icon" or _ends_line(mark.rect, line))
    ]
    if not on:
        return [line]
    pieces: list[Rect] = []
    start = line.x
    for mark in sorted((part.rect for part in on), key=lambda rect: rect.x):
        pieces.append(spanning((start, line.y, mark.x - 1, line.bottom)))
        start = mark.right + 1
    pieces.append(spanning((start, line.y, line.right, line.bottom)))
    return [piece for piece in pieces if piece.w > SHORTEST_PIECE * line.h]


def _is_on_line(mark: Rect, line: Rect) -> bool:
    level = min(mark.bottom, line.bottom) - max(mark.y, line.y)
    beside = min(mark.right, line.right) - max(mark.x, line.x)
    return level > LEVEL * min(mark.h, line.h) and beside > BESIDE * min(mark.w, line.w) and mark.h < TALLEST * line.h


def _ends_line(icon: Rect, line: Rect) -> bool:
    return _is_at_end(icon, line) and not _is_word(icon)


def _is_at_end(mark: Rect, line: Rect) -> bool:
    """Whether an icon begins or ends a line: between two words it is a sign such as &."""
    return min(mark.x - line.x, line.right - mark.right) < AT_END * line.h


def _is_word(mark: Rect) -> bool:
    """Whether what looks like an icon is as wide as a word of two letters; it stands on a line of text."""
    return mark.w > WIDEST_ICON * mark.h


def find_cut_icons(lines: Sequence[Rect], parts: Sequence[FoundPart]) -> list[Rect]:
    """Return the icons that were cut off lines of text, or are all of one; they may be letters."""
    icons = [part.rect for part in parts if part.name == "icon" and not _is_word(part.rect)]
    return [
        icon.grown(MARK_EDGE)
        for icon in icons
        if any(_is_on_line(icon, line) and _is_at_end(icon, line) for line in lines)
    ]
