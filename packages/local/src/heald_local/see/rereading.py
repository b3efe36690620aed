"""Reads lines anew whose letters stand on several grounds, such as a title that reaches over the edge of a shape, and
syllables that look like icons.

Ink is first found as what differs from the painted page. Where the page has an edge under a line, that parts the line
or spoils its letters; there it is found by its own colour, as on a photograph.
"""

from collections.abc import Callable, Sequence

import numpy as np

from heald_local.see.ink import LEAST_CONTRAST, Ink, extract_ink
from heald_local.see.letter_spacing import find_letter_rows
from heald_local.see.line_marks import Piece
from heald_local.see.ocr import OcrResult
from heald_local.see.photo_text import find_text_on_photos
from heald_local.see.script_ocr import read_page_lines
from heald_local.see.styled_lines import StyledLines, is_certain_text, style_lines
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels, distance_between, label_islands

Crop = Callable[[Rect], Pixels]
MARGIN = 1.5  # of a place around its line, both sides together, in heights of the place
EDGE = 12  # how much the page must change under a line, in one channel
SAMPLE = 12  # words that are read with a syllable, so that the script is recognised
SURE_LETTER = 0.95  # how sure a reading is of each letter of a short word
SURE_SYLLABLE = 0.9  # a less certain reading is an icon
SAME_ROW = 0.3  # heights of a place by which its middle and that of a word on its row differ
AS_TALL = (0.5, 1.5)  # the height of such a word, in heights of the place
COVERED = 0.6  # the part of a piece from which on it lies at a place
REPLACED, ROOM = 0.8, 2  # the part of a piece from which on a new line replaces it, and pixels around that line
CORE, SMALLER = 0.2, 0.9
"""The margin of a place at each side, in its heights, and the part of an unread piece below which another is tried."""
BESIDE = 6.0  # heights between a syllable and the next word of its row, at most


def read_across_grounds(
    styled: StyledLines, pixels: Pixels, page: Pixels, places: Sequence[Rect], crop: Crop
) -> StyledLines:
    """Replace unread pieces, and the read ones beside them, by the lines that are read for certain."""
    doubtful = [place for place in places if _has_edge(page, place) and not _is_read(place, styled)]
    inks = find_text_on_photos(pixels, doubtful, doubtful)
    if not inks:
        return styled
    crops = [crop(ink.rect) for ink in inks]
    restyled = style_lines(list(zip(inks, read_page_lines(crops), strict=True)))
    lines = [line for line in restyled.lines if is_certain_text(line)]
    spans = [line.ink for line in lines]
    others = [line for line in styled.lines if not _is_within(line.ink, spans)]
    return StyledLines([*others, *lines], [ink for ink in styled.unread if not _is_within(ink.rect, spans)])


def read_cores(styled: StyledLines, pixels: Pixels, page: Pixels, places: Sequence[Rect], crop: Crop) -> StyledLines:
    """Replace unread pieces by the lines in the middle of their places that are read for certain.

    The rest of a round frame, or of a neighbour, makes a piece larger than its letters, and spoils the reading.
    """
    inks: list[Ink] = []
    for place in places:
        unread = [ink.rect for ink in styled.unread if place.grown(ROOM).common(ink.rect) > COVERED * ink.rect.area]
        core = _find_core(pixels, page, place) if unread else None
        ink = extract_ink(pixels, page, core) if core is not None else None
        if ink is not None and all(ink.rect.area < SMALLER * rect.area for rect in unread):
            inks.append(ink)
    if not inks:
        return styled
    restyled = style_lines(list(zip(inks, read_page_lines([crop(ink.rect) for ink in inks]), strict=True)))
    lines = [line for line in restyled.lines if is_certain_text(line)]
    spans = [line.ink for line in lines]
    unread_inks = [ink for ink in styled.unread if not any(ink.rect.grown(ROOM).holds(span) for span in spans)]
    return StyledLines([*styled.lines, *lines], unread_inks)


def _find_core(pixels: Pixels, page: Pixels, place: Rect) -> Rect | None:
    """Return what surrounds the marks whose middles lie inside of a place, apart from its margin."""
    left, top, right, bottom = int(place.x), int(place.y), round(place.right), round(place.bottom)
    change = distance_between(pixels[top:bottom, left:right], page[top:bottom, left:right])
    if not change.size:
        return None
    edges = label_islands(change > LEAST_CONTRAST).edges[1:].astype(np.float64)
    across, down = (edges[:, 0] + edges[:, 2]) / 2, (edges[:, 1] + edges[:, 3]) / 2
    margin = CORE * place.h
    is_inside = (
        (across >= margin) & (across <= place.w - margin) & (down >= margin / 2) & (down <= place.h - margin / 2)
    )
    if not is_inside.any():
        return None
    near, high = edges[is_inside, :2].min(axis=0)
    far, low = edges[is_inside, 2:].max(axis=0)
    return spanning((left + near, top + high, left + far, top + low))


def read_lone_syllables(
    pieces: Sequence[Piece], places: Sequence[Rect], find: Callable[[Sequence[Rect]], Sequence[Ink]], crop: Crop
) -> list[Piece]:
    """Read places that look like icons beside Korean words, and return the pieces with those that are a syllable.

    A syllable of Korean is as square as an icon. Icons are never read as one, as they are as other letters.
    """
    words = [ink.rect for ink, reading in pieces if _is_korean(reading.text.strip()[:1])]
    near = [place for place in places if any(_is_beside(place, word) for word in words)]
    inks: Sequence[Ink] = find(near) if near else ()
    sample = [*words[:SAMPLE], *(ink.rect for ink in inks)] if inks else []
    readings = read_page_lines([crop(rect) for rect in sample])[len(sample) - len(inks) :] if inks else []
    syllables = [(ink, reading) for ink, reading in zip(inks, readings, strict=True) if _is_syllable(reading)]
    spans = [ink.rect for ink, _ in syllables]
    return [*(piece for piece in pieces if not _is_within(piece[0].rect, spans)), *syllables]


def read_short_words(
    pieces: Sequence[Piece], places: Sequence[Rect], find: Callable[[Sequence[Rect]], Sequence[Ink]], crop: Crop
) -> list[Piece]:
    """Read places that look like icons and where no text was read, and return the pieces with the words among them.

    Numbers and short names, such as those of a table, are as small as icons; icons are hardly ever read for certain.
    Single letters are read where several stand in a row.
    """
    read = [ink.rect for ink, _ in pieces]
    free = [place for place in places if not any(place.common(rect) > 0 for rect in read)]
    inks: Sequence[Ink] = find(free) if free else ()
    readings = read_page_lines([crop(ink.rect) for ink in inks]) if inks else []
    candidates = list(zip(inks, readings, strict=True))
    words = [(ink, reading) for ink, reading in candidates if _is_short_word(reading)]
    in_rows = {id(ink) for row in find_letter_rows([*pieces, *candidates]) for ink, _ in row}
    letters = [piece for piece in candidates if piece not in words and id(piece[0]) in in_rows]
    return [*pieces, *words, *letters]


def _is_short_word(reading: OcrResult) -> bool:
    text = reading.text.strip()
    is_latin = text.isascii() and text.isalnum() and len(text) > 1
    return is_latin and min(reading.letter_sure, default=0.0) >= SURE_LETTER


def _is_korean(letter: str) -> bool:
    return "\uac00" <= letter <= "\ud7a3"


def _is_syllable(reading: OcrResult) -> bool:
    text = reading.text.strip()
    return len(text) == 1 and _is_korean(text) and reading.sure >= SURE_SYLLABLE


def _is_beside(place: Rect, word: Rect) -> bool:
    """Whether a word stands on the row of a place, near it and about as tall."""
    level = abs(place.middle[1] - word.middle[1]) <= SAME_ROW * place.h
    as_tall = AS_TALL[0] * place.h <= word.h <= AS_TALL[1] * place.h
    return level and as_tall and max(word.x - place.right, place.x - word.right) <= BESIDE * place.h


def _is_read(place: Rect, styled: StyledLines) -> bool:
    """Whether lines cover a place, apart from its margin."""
    if any(place.common(ink.rect) > COVERED * ink.rect.area for ink in styled.unread):
        return False
    inside = [line.ink for line in styled.lines if place.common(line.ink) > COVERED * line.ink.area]
    return place.w - sum(rect.w for rect in inside) <= MARGIN * place.h


def _has_edge(page: Pixels, place: Rect) -> bool:
    part = page[int(place.y) : round(place.bottom), int(place.x) : round(place.right)]
    return bool(part.size) and int(np.ptp(part, axis=(0, 1)).max()) >= EDGE


def _is_within(rect: Rect, spans: Sequence[Rect]) -> bool:
    return any(span.grown(ROOM).common(rect) > REPLACED * rect.area for span in spans)
