"""The line box of a line that was read in a picture: where a browser has the line of a text."""

from heald_pictures.elements import TextLine
from heald_pictures.rect import Rect

_CERTAIN = 0.95  # the likeness of a line from which on its font, and the height of its box with it, is certain
_TRUST = 0.6  # the weight of the height that the letters say; the font's one has the rest
_BOX = 1.55  # the height of a line box, in heights of capital letters, of most fonts
_ROUNDED = 1.7  # pixels; a smaller difference of the heights is one of rounding
_RANGE = (0.6, 1.3)  # of the box of the letters, in heights of the font's one; others are misread
_TALL = frozenset("ABCDEFGHIKLMNOPRSTUVWXYZ0123456789bdfhkl")  # as high as a capital letter; J and Q may be lower
_TALLER = frozenset("()[]{}|/\\$@§")


def place_line_box(line: TextLine) -> Rect:
    """Return the box of a line: at least as wide as its ink, and as high as its letters say if its font is not
    certain."""
    left, right = min(line.rect.x, line.ink.x), max(line.rect.right, line.ink.right)
    box = Rect(left, line.rect.y, right - left, line.rect.h)
    height = _BOX * (line.baseline - line.ink.y)
    is_misfit = abs(height - box.h) > _ROUNDED and _RANGE[0] * box.h <= height <= _RANGE[1] * box.h
    if line.likeness >= _CERTAIN or not is_misfit or not _is_capital_high(line.text):
        return box
    scale = 1 + _TRUST * (height / box.h - 1)
    return Rect(box.x, line.baseline - scale * (line.baseline - box.y), box.w, scale * box.h)


def _is_capital_high(text: str) -> bool:
    """Whether the highest letters of a text are as high as a capital letter."""
    letters = set(text)
    is_plain = all(letter.isascii() or not letter.isalpha() for letter in letters)
    return is_plain and bool(letters & _TALL) and not letters & _TALLER
