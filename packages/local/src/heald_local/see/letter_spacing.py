"""Joins letters that stand far apart to the line that they are: a title in wide letter spacing.

The detector of text sees such a line as single letters, which are easily mistaken for icons or for one another. Moved
together they are read as words.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np

from heald_local.see.ink import Ink
from heald_local.see.line_marks import Piece, is_squarish
from heald_local.see.ocr import OcrResult, crop_margin
from heald_local.see.script_ocr import read_page_lines
from heald_pictures.rect import Rect, hull
from heald_pictures.regions import Pixels

FEWEST = 4  # letters of a line
LEVEL = 2.0  # pixels by which the lower and upper ends of the letters may differ
TAIL = 0.3  # the part of the height by which a letter such as Q may reach below the others
SAME_COLOUR = 24.0  # levels by which their colours may differ
WIDEST_GAP = 4.5  # heights between two letters
WORD_GAP = 1.35  # median gaps from which on a gap is between words
UNEVEN = 0.3  # heights by which the gaps within a word may differ from their median
READ, READ_SURE = 0.7, 0.85  # the part of the letters that is read alone, and how surely
SURE = 0.9  # of the letters that were moved together
IN_ORDER = 0.6  # the part of the letters that follow their neighbour in the alphabet, from which on they are an index
SPACE = 0.5  # heights of the space between words that are moved together

Crop = Callable[[Rect], Pixels]


def join_wide_spacing(pieces: Sequence[Piece], crop: Crop) -> list[Piece]:
    """Return the pieces with the letters of widely spaced lines joined."""
    joined: list[Piece] = []
    used: set[int] = set()
    for chain in find_letter_rows(pieces):
        if not _has_one_colour(chain) or not _is_spaced(chain) or _is_index(chain):
            continue
        line = _read_chain(chain, crop)
        if line is not None:
            joined.append(line)
            used.update(id(ink) for ink, _ in chain)
    return [*(piece for piece in pieces if id(piece[0]) not in used), *joined]


def complete_index(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with the letters of an alphabet that can only be those between their neighbours.

    A thin I alone is hardly ever read.
    """
    letters: dict[int, str] = {}
    for row in find_letter_rows(pieces):
        if not _is_index(row):
            continue
        for (_, before), (ink, reading), (_, after) in zip(row, row[1:], row[2:], strict=False):
            first, last = before.text.strip(), after.text.strip()
            if first and last and ord(last) - ord(first) == 2 and reading.sure < READ_SURE:
                letters[id(ink)] = chr(ord(first) + 1)
    return [
        (ink, OcrResult(letters[id(ink)], READ_SURE, (), ()) if id(ink) in letters else reading)
        for ink, reading in pieces
    ]


def find_letter_rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return rows of at least `FEWEST` single letters of one height, most of them read for certain."""
    singles = sorted((piece for piece in pieces if _is_single(piece)), key=lambda piece: piece[0].rect.x)
    rows: list[list[Piece]] = []
    for piece in singles:
        row = next((row for row in rows if _continues(row[-1][0], piece[0])), None)
        if row is None:
            rows.append([piece])
        else:
            row.append(piece)
    return [row for row in rows if len(row) >= FEWEST and _is_mostly_read(row)]


def _is_single(piece: Piece) -> bool:
    ink, reading = piece
    text = reading.text.strip()
    return is_squarish(ink.rect) and len(text) <= 1 and (not text or text.isalnum())


def _continues(before: Ink, ink: Ink) -> bool:
    rect, last = ink.rect, before.rect
    level = abs(rect.y - last.y) <= LEVEL and abs(rect.bottom - last.bottom) <= max(LEVEL, TAIL * rect.h)
    return level and 0 < rect.x - last.right <= WIDEST_GAP * rect.h


def _has_one_colour(row: Sequence[Piece]) -> bool:
    first = row[0][0].colour
    return all(float(np.abs(ink.colour - first).max()) <= SAME_COLOUR for ink, _ in row)


def _is_mostly_read(row: Sequence[Piece]) -> bool:
    return sum(bool(reading.text) and reading.sure >= READ_SURE for _, reading in row) >= READ * len(row)


def _gaps(row: Sequence[Piece]) -> list[float]:
    return [after.rect.x - before.rect.right for (before, _), (after, _) in pairwise(row)]


def _is_spaced(row: Sequence[Piece]) -> bool:
    """Whether the letters stand at even distances, apart from the spaces between words."""
    gaps = _gaps(row)
    usual = median(gaps)
    within = [gap for gap in gaps if gap < WORD_GAP * usual]
    height = median(ink.rect.h for ink, _ in row)
    return len(within) >= FEWEST - 2 and all(abs(gap - median(within)) <= UNEVEN * height for gap in within)


def _is_index(row: Sequence[Piece]) -> bool:
    return are_in_order([reading.text.strip() for _, reading in row])


def are_in_order(letters: Sequence[str]) -> bool:
    """Whether the letters are those of an alphabet or the numbers of pages, one after the other."""
    pairs = [(a, b) for a, b in pairwise(letters) if len(a) == len(b) == 1]
    return sum(ord(b) - ord(a) == 1 for a, b in pairs) >= IN_ORDER * (len(letters) - 1)


def _read_chain(row: Sequence[Piece], crop: Crop) -> Piece | None:
    """Read the letters of a row moved together; None if that does not give one character for each."""
    whole = hull(ink.rect for ink, _ in row)
    usual = median(_gaps(row))
    ends_word = [gap >= WORD_GAP * usual for gap in _gaps(row)]
    strips: list[Pixels] = []
    for number, (ink, _) in enumerate(row):
        strip = crop(Rect(ink.rect.x, whole.y, ink.rect.w, whole.h))
        trimmed = crop_margin(whole) // 2
        strips.append(strip[:, trimmed : strip.shape[1] - trimmed])
        if number < len(ends_word) and ends_word[number]:
            strips.append(np.repeat(strip[:, -1:], round(SPACE * strip.shape[0]), axis=1))
    height = min(strip.shape[0] for strip in strips)
    reading = read_page_lines([np.concatenate([strip[:height] for strip in strips], axis=1)])[0]
    letters = [letter for letter in reading.text if not letter.isspace()]
    if len(letters) != len(row) or reading.sure < SURE:
        return None
    ends = [*ends_word, False]
    text = "".join(letter + (" " if ends[number] else "") for number, letter in enumerate(letters))
    return _join_ink(row, whole), OcrResult(text, reading.sure, (), ())


def _join_ink(row: Sequence[Piece], whole: Rect) -> Ink:
    cover = np.zeros((round(whole.h), round(whole.w)), np.float32)
    for ink, _ in row:
        top, left = round(ink.rect.y - whole.y), round(ink.rect.x - whole.x)
        part = cover[top : top + ink.cover.shape[0], left : left + ink.cover.shape[1]]
        np.maximum(part, ink.cover[: part.shape[0], : part.shape[1]], out=part)
    return replace(row[0][0], rect=whole, cover=cover)
