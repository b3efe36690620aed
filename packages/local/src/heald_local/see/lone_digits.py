"""Reads a digit that stands alone in a small frame, such as a quantity, and was taken for an icon."""

from collections.abc import Sequence

from heald_local.see.ink import extract_ink
from heald_local.see.letter_fits import read_letter
from heald_local.see.paragraphs import as_text
from heald_pictures.elements import Box, PictureElement, TextElement, TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

DIGITS = "123456789"  # an empty 0 may be a circle
WIDTHS, HEIGHTS = (28.0, 80.0), (20.0, 64.0)  # pixels of the frame
TALLEST, SLIM = 24.0, 1.0  # pixels of a digit with room around it, and its width in heights


def read_lone_digits(
    pixels: Pixels,
    page: Pixels,
    boxes: Sequence[Box],
    texts: Sequence[TextElement],
    pictures: Sequence[PictureElement],
) -> tuple[list[TextElement], list[PictureElement]]:
    """Return the texts with these digits, and the pictures without them."""
    frames = [box.rect for box in boxes if box.border is not None and all(box.border.widths) and _is_small(box.rect)]
    marks = [picture.rect for picture in pictures]
    filled = [*(line.ink for text in texts for line in text.lines), *marks]
    digits: list[TextElement] = []
    others: list[PictureElement] = []
    for picture in pictures:
        around = [frame for frame in frames if frame.holds(picture.rect)]
        is_alone = any(sum(frame.common(other) > 0 for other in filled) == 1 for frame in around)
        line = _read_digit(pixels, page, picture.rect) if is_alone else None
        if line is None:
            others.append(picture)
        else:
            digits.append(as_text([line]))
    return sorted([*texts, *digits], key=lambda text: (text.rect.y, text.rect.x)), others


def _is_small(frame: Rect) -> bool:
    return WIDTHS[0] <= frame.w <= WIDTHS[1] and HEIGHTS[0] <= frame.h <= HEIGHTS[1]


def _read_digit(pixels: Pixels, page: Pixels, place: Rect) -> TextLine | None:
    ink = extract_ink(pixels, page, place) if place.h <= TALLEST and place.w <= SLIM * place.h else None
    return read_letter(ink, DIGITS) if ink is not None else None
