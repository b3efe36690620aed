"""Splits icons and list dots off lines of text."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heald_local.see.ink import FAINT, Ink, extract_ink
from heald_local.see.ocr import UNREAD, OcrResult, crop_margin
from heald_pictures.elements import Box
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Pixels

Piece = tuple[Ink, OcrResult]
GAP = 0.2  # between a mark and a text, in parts of the ink's height
SLACK = 0.05  # how far beyond the gap a letter may seem to stand, in the same parts: its place is not exact
LEAST_SURE = 0.85  # a less certain reading may be of an unknown script, and its places mean nothing
LEAST_GAP = 3.0  # pixels of a gap
NARROWEST_MARK = 0.4  # heights of a mark, at least
SQUARISH = 1.7  # heights of the widest mark
SAME_ROW = 0.5  # the part of the height by which two pieces are on one row
LEAST_REST = 3  # pixels of ink beside a text
BOX_ROOM, MARK_ROOM = 2, 3  # pixels by which a mark may reach over a box, and a box over a mark that it is
DOTS = "•●▪■◦○"
MOST_MARKS, WIDEST_MARK = 3, 3.0  # marks that stand together, and their width in parts of the height


def split_marks(pixels: Pixels, page: Pixels, pieces: Sequence[Piece], boxes: Sequence[Box] = ()) -> list[Piece]:
    """Split each piece into a mark, the text, and a mark. Marks that are boxes are dropped."""
    split: list[Piece] = []
    for ink, reading in pieces:
        if reading.text and all(_is_mark(letter) for letter in reading.text) and are_marks(split_at_gaps(ink)):
            split += _marks(pixels, page, split_at_gaps(ink), ink.rect, boxes)
            continue
        text = _text_alone(pixels, page, ink, reading)
        if text is None:
            split.append((ink, reading))
            continue
        split.append(text)
        split += _marks(pixels, page, _rest_beside(ink.rect, text[0].rect), text[0].rect, boxes)
    return split


def _marks(pixels: Pixels, page: Pixels, rects: Sequence[Rect], text: Rect, boxes: Sequence[Box]) -> list[Piece]:
    whole = [extract_ink(pixels, page, rect) for rect in rects]
    inks = [extract_ink(pixels, page, part) for ink in whole if ink is not None for part in split_at_gaps(ink)]
    return [(ink, UNREAD) for ink in inks if ink is not None and not _is_in_box(ink.rect, text, boxes)]


def split_at_gaps(ink: Ink) -> list[Rect]:
    """Return the places of the pieces of a line between wide gaps."""
    bounds = [0, *(end for gap in _gaps(ink) for end in gap), ink.cover.shape[1]]
    rect = ink.rect
    ends = zip(bounds[::2], bounds[1::2], strict=True)
    return [spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)) for start, end in ends]


def are_marks(rects: Sequence[Rect]) -> bool:
    """Whether these are a few marks, none as wide as a word."""
    return len(rects) <= MOST_MARKS and all(map(is_squarish, rects))


def is_squarish(rect: Rect) -> bool:
    return rect.w < SQUARISH * rect.h


def join_rows(rects: list[Rect]) -> list[Rect]:
    """Join unread pieces of one line; a few marks beside each other stay apart."""
    rows: list[list[Rect]] = []
    for rect in sorted(rects, key=lambda piece: piece.x):
        near = next((row for row in rows if _continues_row(hull(row), rect)), None)
        if near is None:
            rows.append([rect])
        else:
            near.append(rect)
    return [rect for row in rows for rect in (row if are_marks(row) else [hull(row)])]


def _continues_row(row: Rect, rect: Rect) -> bool:
    level = min(row.bottom, rect.bottom) - max(row.y, rect.y) > SAME_ROW * min(row.h, rect.h)
    return level and rect.x - row.right < rect.h


def _gaps(ink: Ink) -> list[tuple[int, int]]:
    """Find the wide spans of columns without ink."""
    filled = np.flatnonzero(ink.cover.max(axis=0) > FAINT)
    wide = np.flatnonzero(np.diff(filled) > max(GAP * ink.cover.shape[0], LEAST_GAP))
    return [(int(filled[at]) + 1, int(filled[at + 1])) for at in wide]


def _text_alone(pixels: Pixels, page: Pixels, ink: Ink, reading: OcrResult) -> Piece | None:
    """Return the text without marks; None if there are no marks."""
    letters = [number for number, letter in enumerate(reading.text) if not _is_mark(letter)]
    if (
        not letters
        or (len(letters) < 2 and not _has_symbol(reading.text))
        or len(reading.places) != len(reading.text)
        or reading.sure < LEAST_SURE
    ):
        return None
    height, width = ink.cover.shape
    places = reading.columns(ink.rect)
    gaps = _gaps(ink)
    first, last, slack = places[letters[0]], places[letters[-1]], SLACK * height
    before, behind = letters[0] > 0, letters[-1] < len(reading.text) - 1  # whether a mark was read there
    narrowest = NARROWEST_MARK * height  # what is narrower, and was not read as a mark, is a letter such as I
    start = max((end for begin, end in gaps if end <= first + slack and (before or begin >= narrowest)), default=0)
    end = min(
        (begin for begin, end in gaps if begin >= last - slack and (behind or width - end >= narrowest)), default=width
    )
    start, end = start if start <= WIDEST_MARK * height else 0, end if width - end <= WIDEST_MARK * height else width
    if (start, end) == (0, width) or end - start < 2:
        return None
    rect = ink.rect
    alone = extract_ink(pixels, page, spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)))
    if alone is None:
        return None
    if ink.underlined:  # the line below it was cut off before
        alone = replace(alone, underlined=True)
    span = slice(letters[0], letters[-1] + 1)
    return alone, _move_reading(reading, span, places, rect.x - alone.rect.x, alone.rect)


def _move_reading(reading: OcrResult, span: slice, places: Sequence[float], by: float, rect: Rect) -> OcrResult:
    """Return a span of a reading, with places in the new crop."""
    margin = crop_margin(rect)
    within = tuple(min(max((place + by + margin) / (rect.w + 2 * margin), 0.0), 1.0) for place in places[span])
    letter_sure = reading.letter_sure[span] if len(reading.letter_sure) == len(reading.text) else reading.letter_sure
    return OcrResult(reading.text[span], reading.sure, letter_sure, within)


def _rest_beside(whole: Rect, text: Rect) -> list[Rect]:
    """Return the ink before and behind the text."""
    before = spanning((whole.x, whole.y, text.x, whole.bottom))
    behind = spanning((text.right, whole.y, whole.right, whole.bottom))
    return [rect for rect in (before, behind) if rect.w >= LEAST_REST]


def _is_in_box(mark: Rect, text: Rect, boxes: Sequence[Box]) -> bool:
    """Whether the mark is a box, or part of one that the text is not on."""
    around = [box.rect for box in boxes if box.rect.grown(BOX_ROOM).holds(mark)]
    return any(mark.grown(MARK_ROOM).holds(rect) or not rect.holds(text, BOX_ROOM) for rect in around)


def _has_symbol(text: str) -> bool:
    """Whether a text begins with a symbol that is not a letter, such as the square that an icon was read as."""
    return unicodedata.category(text.strip()[0]) == "So"


def _is_mark(letter: str) -> bool:
    """Whether this is a symbol, the dot of a list or a space, which texts do not begin or end with."""
    return letter.isspace() or letter in DOTS or (unicodedata.category(letter) == "So" and letter not in "©®™°")
