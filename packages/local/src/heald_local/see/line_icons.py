"""Parts lines of text from icons that were read as their letters, such as a paper clip before a number."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from heald_local.see.face_fits import Fit
from heald_local.see.ink import FAINT, Ink
from heald_local.see.letter_spacing import find_letter_rows
from heald_local.see.line_marks import is_squarish, split_at_gaps
from heald_local.see.ocr import OcrResult
from heald_pictures.rect import Rect, hull

LETTER_LIKE, LETTER_SURE = 0.93, 0.9  # a single letter is none below both, or below the first beside icons
LEAST_LETTER = 0.7  # a single letter that looks less like one is none
LEVEL = 0.6  # the part of the height by which two marks are on one row
AS_TALL = (0.5, 2)  # the height of a mark beside a letter, in heights of the letter
LIKE = 0.85  # the least likeness of what is left of a line without its icon
EDGE = 1.0  # pixels that a letter may seem to stand beyond its ink: its place is not exact
SIGNS = frozenset("%‰€$£¥₽°+-−–×/")  # these stand beside numbers, and fonts draw them in many manners
CERTAIN_LETTER, CERTAIN_WORD = 0.98, 0.9  # how sure a reading is of a letter that is not an icon, and of several
LOWEST = 0.5  # the height of an icon at the end of a line, in heights of the line: a comma is lower
BETTER = 0.12  # how much more alike that must be than the whole line

Draft = tuple[Ink, OcrResult, Fit]


def part_icons(drafts: Sequence[Draft], marks: Sequence[Rect]) -> tuple[list[Draft], list[Ink]]:
    """Part texts from icons that were read as one letter: they look little like it, or stand in a row of marks."""
    texts: list[Draft] = []
    icons: list[Ink] = []
    in_rows = {id(ink) for row in find_letter_rows([(ink, reading) for ink, reading, _ in drafts]) for ink, _ in row}
    for ink, reading, fit in drafts:
        text = reading.text.strip()
        if len(text) == 1 and text.isalpha() and id(ink) not in in_rows and _is_icon(ink.rect, reading, fit, marks):
            icons.append(ink)
        else:
            texts.append((ink, reading, fit))
    return texts, icons


def _is_icon(rect: Rect, reading: OcrResult, fit: Fit, marks: Sequence[Rect]) -> bool:
    if fit.likeness >= LETTER_LIKE or fit.likeness < LEAST_LETTER:
        return fit.likeness < LEAST_LETTER
    in_row = any(_is_beside(mark, rect) for mark in marks)
    return reading.sure < LETTER_SURE or in_row


def _is_beside(mark: Rect, letter: Rect) -> bool:
    """Whether a mark stands on the row of a letter, and is about as tall."""
    level = min(mark.bottom, letter.bottom) - max(mark.y, letter.y)
    lowest, tallest = AS_TALL
    as_tall = lowest * letter.h <= mark.h <= tallest * letter.h
    return level > LEVEL * min(mark.h, letter.h) and as_tall and mark.common(letter) == 0


def cut_icon(
    ink: Ink, reading: OcrResult, likeness: float, find_fit: Callable[[Ink, str], Fit | None]
) -> tuple[Draft, Ink] | None:
    """Cut what begins or ends a line off it, if the rest looks far more like its letters; None if it does not.

    Returns the rest of the line, and the ink of the icon.
    """
    if len(reading.places) != len(reading.text):
        return None
    pieces, places = split_at_gaps(ink), reading.columns(ink.rect)
    if len(pieces) < 2:
        return None
    best: tuple[Draft, Ink] | None = None
    for icon, rest in ((pieces[0], hull(pieces[1:])), (pieces[-1], hull(pieces[:-1]))):
        near, far = rest.x - ink.rect.x - EDGE, rest.right - ink.rect.x + EDGE
        letters = list(zip(reading.text, places, strict=True))
        text = "".join(letter for letter, at in letters if near <= at <= far).strip()
        if any(letter in SIGNS for letter, at in letters if not near <= at <= far):
            continue
        if _are_certain(reading, [number for number, at in enumerate(places) if not near <= at <= far]):
            continue
        alone, cut = crop_ink(ink, rest), crop_ink(ink, icon)
        if not text or alone is None or cut is None or not is_squarish(icon):
            continue
        if icon is pieces[-1] and cut.rect.h < LOWEST * ink.rect.h:
            continue
        fit = find_fit(alone, text)
        if fit is not None and fit.likeness >= max(LIKE, likeness + BETTER):
            likeness = fit.likeness - BETTER
            best = (alone, replace(reading, text=text, letter_sure=(), places=()), fit), cut
    return best


def _are_certain(reading: OcrResult, numbers: Sequence[int]) -> bool:
    """Whether these characters of a line are letters for certain."""
    if len(reading.letter_sure) != len(reading.text):
        return False
    cut = [number for number in numbers if reading.text[number] != " "]
    least = CERTAIN_WORD if len(cut) > 1 else CERTAIN_LETTER
    return bool(cut) and all(reading.text[number].isalnum() and reading.letter_sure[number] >= least for number in cut)


def crop_ink(ink: Ink, rect: Rect) -> Ink | None:
    """Return the ink within a rectangle, cropped; None if there is none."""
    left, right = int(rect.x - ink.rect.x), round(rect.right - ink.rect.x)
    cover = ink.cover[:, left:right]
    rows, columns = np.flatnonzero(cover.max(axis=1) > FAINT), np.flatnonzero(cover.max(axis=0) > FAINT)
    if not len(rows) or not len(columns):
        return None
    top, bottom, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    x, y = ink.rect.x + left + near, ink.rect.y + top
    place = Rect(x, y, far - near, bottom - top)
    return Ink(place, np.ascontiguousarray(cover[top:bottom, near:far]), ink.paper, ink.colour, ink.underlined)
