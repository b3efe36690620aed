"""Cuts icons and small controls off lines of text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heald_local.see.parts import SMALL, FoundPart
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels

SHORTEST_PIECE = 0.45  # heights of a line that is left beside a mark
LEVEL, BESIDE = 0.6, 0.5  # parts of the height and the width of a mark that are on its line
TALLEST = 3  # heights of a line that a mark on it has, at most
AT_END = 0.5  # heights from a mark to the end of a line that it begins or ends
MARK_EDGE = 2  # pixels around an icon that may be part of it
COMPARED = 8.0  # heights of a mark in which the words beside it are looked at
INKED, SAME_COLOUR = 40, 24  # levels by which ink differs from the paper, and that of letters of one line
STRONGEST = 0.8  # the part of the strongest contrast that shows the colour of ink
LOWER = 0.35  # the part of the height of a line by which a letter may begin below its highest one
ROUND, ROUND_SHARE = 1, 0.06  # pixels, and parts of the height, by which round letters are taller than straight ones
UNSURE_ICON = 0.7  # a mark that is less certain to be an icon is letters if it is as high as these
WIDEST_ICON = 1.45  # times as wide as tall is an icon on a line of text, at most


def without_marks(pixels: Pixels, lines: Sequence[Rect], parts: Sequence[FoundPart]) -> list[Rect]:
    """Cut icons and small controls off the lines of text that they lie on."""
    marks = [part for part in parts if part.name in SMALL and part.name != "thumb"]
    return [piece for line in lines for piece in _cut_marks(pixels, line, marks)]


def _cut_marks(pixels: Pixels, line: Rect, marks: Sequence[FoundPart]) -> list[Rect]:
    on = [
        mark
        for mark in marks
        if _is_on_line(mark.rect, line)
        and (mark.name != "icon" or (_ends_line(mark.rect, line) and not _is_lettered(pixels, mark, line)))
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


def _is_lettered(pixels: Pixels, part: FoundPart, line: Rect) -> bool:
    """Whether a mark is as high as the words beside it, on their baseline, and in their colour, as letters are.

    A mark that was not recognised for certain may have another colour.
    """
    mark = part.rect
    height, width = pixels.shape[:2]
    place = line.within(width, height)
    left, top = int(place.x), int(place.y)
    band = pixels[top : int(place.bottom), left : int(place.right)].astype(np.int16)
    if not band.size:
        return False
    near, far = round(mark.x) - left, round(mark.right) - left
    reach = round(COMPARED * mark.h)
    words = slice(far + 1, far + reach) if mark.x - line.x < line.right - mark.right else slice(near - reach, near - 1)
    words = slice(max(words.start, 0), max(words.stop, 0))
    change = band - np.median(band, axis=(0, 1))
    letters = [change[:, span] for span in (slice(max(near, 0), max(far, 0)), words)]
    inked = [np.abs(span).max(axis=2) > INKED for span in letters]
    if not all(mask.any() for mask in inked):
        return False
    (high, low), (highest, lowest) = ((int(rows[0]), int(rows[-1])) for rows in map(_filled_rows, inked))
    slack = LOWER * (lowest - highest)
    if part.sure < UNSURE_ICON and abs(high - highest) <= slack and abs(low - lowest) <= slack:
        return True
    over = max(ROUND, ROUND_SHARE * (lowest - highest))
    if high < highest - over or low > lowest + over or high > highest + slack:
        return False
    colours = [np.median(span[np.abs(span).max(axis=2) >= _strongest(span)], axis=0) for span in letters]
    return float(np.abs(colours[0] - colours[1]).max()) <= SAME_COLOUR


def _filled_rows(mask: Mask) -> NDArray[np.intp]:
    return np.flatnonzero(mask.any(axis=1))


def _strongest(change: NDArray[np.float64]) -> float:
    return STRONGEST * float(np.abs(change).max())


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
