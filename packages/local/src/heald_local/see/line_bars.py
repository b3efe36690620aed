"""Reads upright bars between words, as in `Home | News`, where they stand too far from the words to be one line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heald_pictures.colours import rgb_parts
from heald_pictures.elements import PictureElement, TextElement, TextLine
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

BAR = "|"
WIDEST, WIDEST_PICTURE, SLIM = 3, 8.0, 4.5  # pixels of its ink and of its picture, and times as tall as wide at least
AS_TALL = (0.7, 1.7)  # its height, in heights of the ink of the words beside it
NEAR = 4.0  # heights between it and these words
AS_STRONG = 0.5  # the part of the contrast of the words that it has: a line between two columns is paler
INKED = 0.5  # the part of the strongest contrast from which on a column of pixels is ink
AROUND = 3  # pixels around it that show its ground


@dataclass(frozen=True, slots=True)
class BarReading:
    """The texts of a page with its bars, and the pictures that are none."""

    texts: list[TextElement]
    pictures: list[PictureElement]


def read_bars(pixels: Pixels, texts: Sequence[TextElement], pictures: Sequence[PictureElement]) -> BarReading:
    """Make texts of the small pictures that are upright bars beside words, in their colour and about as tall."""
    lines = [line for text in texts for line in text.lines]
    bars: list[TextElement] = []
    others: list[PictureElement] = []
    for picture in pictures:
        line = _find_words(pixels, picture, lines) if _is_slim(picture) else None
        if line is None:
            others.append(picture)
        else:
            bars.append(_bar(picture.rect, line))
    return BarReading([*texts, *bars], others)


def _is_slim(picture: PictureElement) -> bool:
    rect = picture.rect
    return picture.kind == "icon" and rect.w <= WIDEST_PICTURE and rect.h > rect.w


def _find_words(pixels: Pixels, picture: PictureElement, lines: Sequence[TextLine]) -> TextLine | None:
    """Return the line of words that a picture is a bar of; None if it is not a bar."""
    ink = _strength(pixels, picture.rect)
    inked = np.argwhere(ink >= INKED * max(float(ink.max()), 1.0))
    (top, left), (bottom, right) = inked.min(axis=0), inked.max(axis=0) + 1
    tall, wide = int(bottom - top), int(right - left)
    if wide > WIDEST or tall < SLIM * wide or len(inked) < tall * max(wide - 1, 1):
        return None
    beside = [line for line in lines if _is_beside(picture.rect, line.ink, tall)]
    line = min(beside, key=lambda candidate: _gap(picture.rect, candidate.ink), default=None)
    if line is None:
        return None
    ground = np.array(rgb_parts(line.style.colour)) - _ground(pixels, picture.rect)
    return line if float(ink.max()) >= AS_STRONG * float(np.abs(ground).max()) else None


def _strength(pixels: Pixels, rect: Rect) -> Pixels:
    """Return how much each pixel of a place differs from its ground."""
    height, width = pixels.shape[:2]
    place = rect.grown(1).within(width, height)
    band = pixels[int(place.y) : round(place.bottom), int(place.x) : round(place.right)].astype(np.int16)
    return np.abs(band - _ground(pixels, rect)).max(axis=2)


def _ground(pixels: Pixels, rect: Rect) -> Pixels:
    height, width = pixels.shape[:2]
    place = rect.grown(AROUND).within(width, height)
    return np.median(pixels[int(place.y) : round(place.bottom), int(place.x) : round(place.right)], axis=(0, 1))


def _is_beside(rect: Rect, words: Rect, tall: int) -> bool:
    least, most = AS_TALL
    is_level = words.y - words.h / 2 <= rect.middle[1] <= words.bottom + words.h / 2
    return is_level and least * words.h <= tall <= most * words.h and 0 <= _gap(rect, words) <= NEAR * words.h


def _gap(rect: Rect, words: Rect) -> float:
    return max(rect.x - words.right, words.x - rect.right)


def _bar(rect: Rect, line: TextLine) -> TextElement:
    style = replace(line.style, spacing=0.0, underline=False)
    wide = face(style.family, style.weight >= 600, style.italic).advance(BAR) * style.size
    place = Rect(rect.middle[0] - wide / 2, line.rect.y, wide, line.rect.h)
    bar = TextLine(BAR, rect, place, style, line.baseline, line.sure)
    return TextElement((bar,), place, style, "left", line.rect.h)
