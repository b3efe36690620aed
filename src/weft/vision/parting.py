"""What stands beside a text and is none of it: a tick box, a star, the edge of a logo. It is parted from the text.

The detector takes such marks into the line. The reader passes over them, or names a sign; where its first and last
letters stand says where the text begins and ends.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np

from weft.vision.geometry import Rect, spanning
from weft.vision.ink import FAINT, Ink, soak
from weft.vision.reader import Reading, crop_margin
from weft.vision.regions import Pixels
from weft.vision.seen import Box

Piece = tuple[Ink, Reading]
GAP = 0.2
"""Between a mark and a text, in parts of the ink's height; at least 3 pixels."""
SLACK = 0.05
"""How far beyond the gap a letter may seem to stand, in the same parts: its place is not exact."""
LEAST_SURE = 0.85
"""A reading less sure than this may be of a script that the reader does not know, and says nothing of places."""
MOST_MARKS, WIDEST = 3, 3.0
"""How many marks stand together, and how wide they are then at most, in parts of the height."""
UNREAD = Reading("", 0.0, (), ())


def parted(pixels: Pixels, page: Pixels, pieces: Sequence[Piece], boxes: Sequence[Box] = ()) -> list[Piece]:
    """The same pieces, each in up to three parts: a mark, the text, a mark. Marks that are boxes are left out."""
    found: list[Piece] = []
    for ink, reading in pieces:
        if reading.text and all(_mark(letter) for letter in reading.text) and are_marks(_apart(ink)):
            found += _marks(pixels, page, _apart(ink), ink.rect, boxes)
            continue
        text = _text(pixels, page, ink, reading)
        if text is None:
            found.append((ink, reading))
            continue
        found.append(text)
        found += _marks(pixels, page, _beside(ink.rect, text[0].rect), text[0].rect, boxes)
    return found


def _marks(pixels: Pixels, page: Pixels, rects: Sequence[Rect], text: Rect, boxes: Sequence[Box]) -> list[Piece]:
    whole = [soak(pixels, page, rect) for rect in rects]
    inks = [soak(pixels, page, part) for ink in whole if ink is not None for part in _apart(ink)]
    return [(ink, UNREAD) for ink in inks if ink is not None and not _boxed(ink.rect, text, boxes)]


def _apart(ink: Ink) -> list[Rect]:
    """The ink in pieces, cut at each gap."""
    bounds = [0, *(each for gap in _gaps(ink) for each in gap), ink.cover.shape[1]]
    rect = ink.rect
    ends = zip(bounds[::2], bounds[1::2], strict=True)
    return [spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)) for start, end in ends]


def are_marks(rects: Sequence[Rect]) -> bool:
    """Whether these are a few marks, none as wide as a word."""
    return len(rects) <= MOST_MARKS and all(map(squarish, rects))


def squarish(rect: Rect) -> bool:
    """Whether this is no wider than a sign or two."""
    return rect.w < 1.7 * rect.h


def _gaps(ink: Ink) -> list[tuple[int, int]]:
    """From where to where no ink is, in columns, wherever that is wide."""
    filled = np.flatnonzero(ink.cover.max(axis=0) > FAINT)
    wide = np.flatnonzero(np.diff(filled) > max(GAP * ink.cover.shape[0], 3.0))
    return [(int(filled[at]) + 1, int(filled[at + 1])) for at in wide]


def _text(pixels: Pixels, page: Pixels, ink: Ink, reading: Reading) -> Piece | None:
    """The text alone, or None if it is all there is."""
    said = [number for number, letter in enumerate(reading.text) if not _mark(letter)]
    if len(said) < 2 or len(reading.places) != len(reading.text) or reading.sure < LEAST_SURE:
        return None
    height, width = ink.cover.shape
    places = reading.columns(ink.rect)
    gaps = _gaps(ink)
    first, last, slack = places[said[0]], places[said[-1]], SLACK * height
    start = max((end for _, end in gaps if end <= first + slack), default=0)
    end = min((begin for begin, _ in gaps if begin >= last - slack), default=width)
    start, end = start if start <= WIDEST * height else 0, end if width - end <= WIDEST * height else width
    if (start, end) == (0, width) or end - start < 2:
        return None
    rect = ink.rect
    alone = soak(pixels, page, spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)))
    if alone is None:
        return None
    kept = slice(said[0], said[-1] + 1)
    return alone, _moved(reading, kept, places, rect.x - alone.rect.x, alone.rect)


def _moved(reading: Reading, kept: slice, places: Sequence[float], by: float, rect: Rect) -> Reading:
    """What is left of a reading, its letters placed in the crop of the text alone."""
    margin = crop_margin(rect)
    within = tuple(min(max((place + by + margin) / (rect.w + 2 * margin), 0.0), 1.0) for place in places[kept])
    each = reading.each[kept] if len(reading.each) == len(reading.text) else reading.each
    return Reading(reading.text[kept], reading.sure, each, within)


def _beside(whole: Rect, text: Rect) -> list[Rect]:
    """What is left of the ink before and behind the text."""
    before = spanning((whole.x, whole.y, text.x, whole.bottom))
    behind = spanning((text.right, whole.y, whole.right, whole.bottom))
    return [rect for rect in (before, behind) if rect.w >= 3]


def _boxed(mark: Rect, text: Rect, boxes: Sequence[Box]) -> bool:
    """Whether the mark is a box, or part of one that the text is not on."""
    around = [box.rect for box in boxes if box.rect.grown(2).holds(mark)]
    return any(mark.grown(3).holds(rect) or not rect.holds(text, 2) for rect in around)


def _mark(letter: str) -> bool:
    """Whether this is a sign or a space, and no part of a text that begins or ends with it."""
    return letter.isspace() or (unicodedata.category(letter) == "So" and letter not in "©®™°")
