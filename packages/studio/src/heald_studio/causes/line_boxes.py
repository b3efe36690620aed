"""The line boxes of the lines that were read in a picture: where a browser has the lines of a text."""

from collections.abc import Sequence

import numpy as np

from heald_pictures.elements import TextLine
from heald_pictures.rect import Rect
from heald_studio.score.page_image import Pixels

_CERTAIN = 0.95  # the likeness of a line from which on its font, and the height of its box with it, is certain
_DOUBTFUL = 0.8  # the likeness below which the font is another one
_DOUBTFUL_SHARE = 0.75  # the weight of the letters' height then; else they and the font have the same weight
_BOX = 1.55  # the height of a line box, in heights of capital letters, of most fonts
_ROUNDED = 1.7  # pixels; a smaller difference of the heights is one of rounding
_RANGE = (0.6, 1.3)  # of the box of the letters, in heights of the font's one; others are misread
_INK = 0.5  # the share of the contrast from which on a pixel is ink
_FULL = 0.4  # the share of the ink of a usual row from which on a row is between the baseline and the top of an x
_FULL_ROWS = 3  # an underline has fewer
_MISSED = 0.2  # the baseline is at most so far from where it was detected, in heights
_TALL = frozenset("ABCDEFGHIKLMNOPRSTUVWXYZ0123456789bdfhkl")  # as high as a capital letter; J and Q may be lower
_TALLER = frozenset("()[]{}|/\\$@§")
_ALIKE = 0.13  # heights of one row differ by at most this share
_ROW = 0.15  # the middles of one row differ by at most so many heights
_BESIDE = 3.0  # what stands in one row is at most so far apart, in heights
_UNDERLINED = 0.5  # the weight of a letter of an underlined line, whose ink does not end at its baseline


def place_line_boxes(lines: Sequence[TextLine], pixels: Pixels, ratio: int) -> list[Rect]:
    """Return the box of each line: at least as wide as its ink, and in a row with the lines beside it."""
    boxes = [_place_box(line, pixels, ratio) for line in lines]
    weights = [len(line.text) * (_UNDERLINED if line.style.underline else 1.0) for line in lines]
    return [_in_row(number, boxes, weights) for number in range(len(boxes))]


def _place_box(line: TextLine, pixels: Pixels, ratio: int) -> Rect:
    left, right = min(line.rect.x, line.ink.x), max(line.rect.right, line.ink.right)
    box = Rect(left, line.rect.y, right - left, line.rect.h)
    if line.likeness >= _CERTAIN or box.h <= 0:
        return box
    measured = _measure_ink(line, pixels, ratio)
    if measured is None or abs(measured[1] - line.baseline) > _MISSED * box.h:
        return box
    top, baseline = measured[0], max(measured[1], line.baseline)
    above = line.baseline - box.y
    scale = 1.0
    height = _BOX * (baseline - top)
    is_doubtful = line.likeness < _DOUBTFUL
    is_misfit = (
        abs(height - box.h) > (_ROUNDED / 2 if is_doubtful else _ROUNDED)
        and _RANGE[0] * box.h <= height <= _RANGE[1] * box.h
    )
    if is_misfit and _is_capital_high(line.text):
        scale = 1 + (height / box.h - 1) * (_DOUBTFUL_SHARE if is_doubtful else 0.5)
    return Rect(box.x, baseline - scale * above, box.w, scale * box.h)


def _is_capital_high(text: str) -> bool:
    """Whether the highest letters of a text are as high as a capital letter."""
    letters = set(text)
    is_plain = all(letter.isascii() or not letter.isalpha() for letter in letters)
    return is_plain and bool(letters & _TALL) and not letters & _TALLER


def _measure_ink(line: TextLine, pixels: Pixels, ratio: int) -> tuple[float, float] | None:
    """Return the top of the letters of a line and their baseline, without an underline; None if they are not clear."""
    top, bottom = max(round((line.ink.y - 1) * ratio), 0), round((line.ink.bottom + 2) * ratio)
    left, right = max(round(line.ink.x * ratio), 0), round(line.ink.right * ratio)
    area = pixels[top:bottom, left:right].astype(np.int16)
    if area.size == 0:
        return None
    difference = np.abs(area - np.median(area.reshape(-1, 3), axis=0)).max(axis=2)
    counts = (difference >= _INK * max(float(difference.max()), 1.0)).sum(axis=1)
    inked = np.flatnonzero(counts)
    is_full = counts >= _FULL * float(np.median(counts[inked]))
    rows = _FULL_ROWS * ratio
    ends = [at for at in range(rows, len(counts) + 1) if is_full[at - rows : at].all()]
    return ((top + int(inked[0])) / ratio, (top + ends[-1]) / ratio) if ends else None


def _in_row(number: int, boxes: Sequence[Rect], weights: Sequence[float]) -> Rect:
    """Return a box with the top and the height of the longest text beside it, if they are about the same."""
    box = boxes[number]
    best = number
    for other, beside in enumerate(boxes):
        gap = max(beside.x - box.right, box.x - beside.right)
        is_alike = abs(beside.h - box.h) <= _ALIKE * max(beside.h, box.h)
        is_row = abs(beside.middle[1] - box.middle[1]) <= _ROW * box.h and gap <= _BESIDE * box.h
        if is_alike and is_row and weights[other] > weights[best]:
            best = other
    return Rect(box.x, boxes[best].y, box.w, boxes[best].h)
