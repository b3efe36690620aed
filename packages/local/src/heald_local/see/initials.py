"""Reads the large first letter of a paragraph, which stands beside its first lines and is taken for an icon."""

from collections.abc import Sequence

from heald_local.see.ink import extract_ink
from heald_local.see.letter_fits import read_letter
from heald_local.see.paragraphs import as_text
from heald_pictures.elements import PictureElement, TextElement, TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

CAPITALS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
HEIGHTS = (1.6, 7.0)  # ems of the words behind it
REACH, LEVEL = 1.5, 1.0  # ems from an initial to these words, and between their upper edges


def read_initials(
    pixels: Pixels, page: Pixels, texts: Sequence[TextElement], pictures: Sequence[PictureElement]
) -> tuple[list[TextElement], list[PictureElement]]:
    """Return the texts with the initials, and the pictures without them."""
    lines = [line for text in texts for line in text.lines]
    initials: list[TextElement] = []
    others: list[PictureElement] = []
    for picture in pictures:
        line = _read_initial(pixels, page, lines, picture.rect)
        if line is None:
            others.append(picture)
        else:
            initials.append(as_text([line]))
    return sorted([*texts, *initials], key=lambda text: (text.rect.y, text.rect.x)), others


def _read_initial(pixels: Pixels, page: Pixels, lines: Sequence[TextLine], place: Rect) -> TextLine | None:
    if not any(_continues(place, line) for line in lines):
        return None
    ink = extract_ink(pixels, page, place)
    return read_letter(ink, CAPITALS) if ink is not None else None


def _continues(place: Rect, line: TextLine) -> bool:
    """Whether a line goes on behind a large letter: it begins within a word, and at the height of the letter."""
    size = line.style.size
    if not HEIGHTS[0] * size <= place.h <= HEIGHTS[1] * size or not line.text[:1].islower():
        return False
    return 0 <= line.ink.x - place.right + 1 <= REACH * size and -size / 2 <= line.ink.y - place.y <= LEVEL * size
