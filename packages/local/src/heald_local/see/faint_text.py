"""Finds text that differs so little from its ground that it is no ink for the others, such as white on light grey.

The network that looks for text overlooks it. Its letters are islands of the same height in a row, on a ground that is
otherwise of one colour. They are made stronger, on grey, to be separated from the paper and read.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heald_local.see.ink import LEAST_CONTRAST, Ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.line_marks import Piece
from heald_local.see.ocr import OcrResult, crop_margin
from heald_local.see.overlap import is_mostly_on
from heald_local.see.pixel_units import LIGHTEST
from heald_local.see.rank_filters import largest_around
from heald_local.see.script_ocr import read_page_lines
from heald_local.see.seams import mark_rects
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import STRIP, Mask, Pixels, distance_between, label_islands

FAINTEST = 4  # levels by which letters differ from the page at least: two more than neighbours of one colour do
SMOOTH_EDGE = 2  # pixels around stronger ink that its smooth edge lies on
LETTER_HIGH, LETTER_WIDE = (4, 40), 60  # pixels of a letter, or of some that touch
WORD_GAP = 7  # pixels to each side of a letter in which the next one of its line stands
FEWEST_LETTERS = 3  # islands of a line
WIDEST_GLYPH = 4.0  # heights of an island: a longer one is a line or an edge
MOST_ISLANDS = 4000  # more are a pattern or a gradient, and no text
GREY, GAIN = 128, 5  # the level of the paper, and by how much ink is made stronger: the faintest is ink then
LEAST_SURE, FEWEST_READ = 0.9, 2  # of a line that is used, and its letters and figures


def read_faint_lines(pixels: Pixels, page: Pixels, taken: Sequence[Rect], photos: Sequence[Rect]) -> list[Piece]:
    """Read the faint lines of a page that is painted without its text. `taken` are the places of other ink."""
    places = find_faint_lines(pixels, page, taken, photos)
    if not places:
        return []
    strong = np.clip(GREY + GAIN * (pixels.astype(np.int16) - page), 0, LIGHTEST).astype(np.uint8)
    inks = find_ink(strong, np.full_like(strong, GREY), places)
    readings = read_page_lines([_crop(strong, ink.rect) for ink in inks])
    return [(_as_faint(ink, page), reading) for ink, reading in zip(inks, readings, strict=True) if _is_read(reading)]


def find_faint_lines(pixels: Pixels, page: Pixels, taken: Sequence[Rect], photos: Sequence[Rect]) -> list[Rect]:
    """Find the places of lines in faint letters."""
    height, width = pixels.shape[:2]
    faint, strong = np.empty((height, width), np.bool_), np.empty((height, width), np.bool_)
    for top in range(0, height, STRIP):
        rows = slice(top, top + STRIP)
        change = distance_between(pixels[rows], page[rows])
        faint[rows], strong[rows] = change >= FAINTEST, change > LEAST_CONTRAST
    if not faint.any():
        return []
    faint &= largest_around(strong.astype(np.uint8), SMOOTH_EDGE) == 0
    faint &= ~mark_rects((height, width), [*taken, *photos], SMOOTH_EDGE)
    letters = _find_letter_places(faint)
    if not FEWEST_LETTERS <= len(letters) <= MOST_ISLANDS:
        return []
    rows_of_letters = label_islands(_mark_rows((height, width), letters))
    counts = np.bincount([int(rows_of_letters.labels[top, left]) for left, top, _, _ in letters])
    lines: list[Rect] = []
    for number in np.flatnonzero(counts >= FEWEST_LETTERS):
        left, top, right, bottom = (int(edge) for edge in rows_of_letters.edges[number])
        lines.append(spanning((left, top, right, bottom)))
    return [line for line in lines if line.h <= LETTER_HIGH[1] and not is_mostly_on(line, photos)]


def _find_letter_places(faint: Mask) -> NDArray[np.int32]:
    """Return the edges of the islands that can be letters."""
    islands = label_islands(faint)
    edges = islands.edges[1:]
    wide, high = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
    is_letter = (high >= LETTER_HIGH[0]) & (high <= LETTER_HIGH[1]) & (wide <= LETTER_WIDE)
    return edges[is_letter & (wide <= WIDEST_GLYPH * high)]


def _mark_rows(shape: tuple[int, int], letters: NDArray[np.int32]) -> Mask:
    """Mark letters with the gaps between them."""
    marked = np.zeros(shape, np.bool_)
    for left, top, right, bottom in letters:
        marked[top:bottom, max(left - WORD_GAP, 0) : right + WORD_GAP] = True
    return marked


def _crop(strong: Pixels, rect: Rect) -> Pixels:
    height, width = strong.shape[:2]
    part = rect.grown(crop_margin(rect)).within(width, height)
    return strong[int(part.y) : round(part.bottom), int(part.x) : round(part.right)]


def _as_faint(ink: Ink, page: Pixels) -> Ink:
    """Return ink that was made stronger with its own colours."""
    rect = ink.rect
    part = page[int(rect.y) : round(rect.bottom), int(rect.x) : round(rect.right)]
    paper = np.median(part, axis=(0, 1))
    return replace(ink, paper=paper, colour=np.clip(paper + (ink.colour - GREY) / GAIN, 0, LIGHTEST))


def _is_read(reading: OcrResult) -> bool:
    letters = sum(letter.isalnum() for letter in reading.text)
    return reading.sure >= LEAST_SURE and letters >= FEWEST_READ
