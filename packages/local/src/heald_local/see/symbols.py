"""Reads letters and symbols that were taken for icons or not read, such as a star before a line or an index letter.

Many icons look like a character. A mark is one only if it is what the words beside it would have there: drawn at their
size and on their baseline, by their typeface, or by the one that a browser takes for a symbol that this one lacks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from heald_local.see.face_fits import likeness
from heald_local.see.font_weights import LEAST_BOLD
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.paragraphs import as_text, group_paragraphs
from heald_local.see.styled_lines import SAME_COLOUR
from heald_pictures.colours import hex_colour, rgb_parts
from heald_pictures.elements import PictureElement, TextElement, TextLine, TextStyle
from heald_pictures.fonts import Face, face
from heald_pictures.rect import Rect, hull
from heald_pictures.regions import Pixels

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ023456789"  # I and 1 are no more than a stroke
NUMBERS = tuple(f"{number}." for number in range(1, 21))  # of the items of a list
LABELS = (*(f"{letter}:" for letter in LETTERS), *NUMBERS)  # of a question and its answer
SIGNS = (
    "★►▶▼▲◄◀/»«›‹+×→←…©®☆♥✓✔▸◂▾▴↑↓↗↘⇒⇐⇪➔➜➤➢▷◁△▽❤✗✘✕✖✚☎✉✎◆◇♦♣♠♪♫☰☘☀☼☞☛❖✦✶✱✩✭⚑⚙✈❯❮↩=&?#@%€£$>•—–¶§"  # commonest first
)
BETWEEN = ">•—–"  # signs that are icons, or the marks of items, unless words stand on both sides
DASH, DASH_GAP = "—", 0.45  # before a name, and ems of the space behind it: — Author
ALIKE = 0.88  # least likeness of a mark to its character; icons of 33 public pages have at most .83
FLAT = "—–="
FLAT_ALIKE, FLAT_OFF = 0.75, 0.7  # of flat signs: their strokes are a pixel high, so that the place tells, in pixels
ANGLES, OWNERSHIP = ">›»", "©®"
ANGLE_ALIKE, OWNED_ALIKE = 0.8, 0.8  # of an angle between two words, and of signs whose shape no icon has
ANGLE_OFF = 2.1  # pixels by which the edges of an angle are off
NUMBER_ALIKE = 0.8  # of the number of an item: icons of two marks that stand on the baseline are rare
BETTER = 0.02  # likeness by which a rarer character must be better
OFF = 1.8  # pixels by which the edges of a mark are off those of its character: the tips of a star are hardly seen
REACH = 3.0  # ems between a mark and the words beside it, at most
TALLEST = 1.6  # ems of the height of a character, with room
PALE = 0.5  # the part of a colour that thin strokes show of it, at least
SPACE_OFF = 1.6  # pixels by which the gap between a mark and the words of its line is off that of a space, at most


def read_symbols(
    pixels: Pixels, page: Pixels, texts: Sequence[TextElement], pictures: Sequence[PictureElement]
) -> tuple[list[TextElement], list[PictureElement]]:
    """Return the texts with the pictures that are a character beside them, and the pictures without these."""
    lines = [line for text in texts for line in text.lines]
    others: list[PictureElement] = []
    symbols: list[TextLine] = []
    for picture in pictures:
        is_mark = picture.kind in ("icon", "unread")
        symbol = _read_symbol(pixels, page, lines, picture.rect) if is_mark else None
        if symbol is None:
            others.append(picture)
        else:
            symbols.append(symbol)
    alone: list[TextElement] = []
    joined = lines
    for symbol in symbols:
        with_symbol = _join_symbol(joined, symbol)
        if with_symbol is None:
            alone.append(as_text([symbol]))
        else:
            joined = with_symbol
    grouped = group_paragraphs(joined) if joined is not lines else list(texts)
    return sorted([*grouped, *alone], key=lambda text: (text.rect.y, text.rect.x)), others


def _read_symbol(pixels: Pixels, page: Pixels, lines: Sequence[TextLine], place: Rect) -> TextLine | None:
    """Return a mark as a line of one character; None if it is not one, or if there are no words beside it."""
    beside = [line for line in lines if _is_beside(line, place) and is_on_ground(page, place, line.ink)]
    ink = extract_ink(pixels, page, place) if beside else None
    if ink is None:
        return None
    is_between = len({line.ink.x < place.x for line in beside}) > 1
    best: tuple[float, _Glyph, TextLine] | None = None
    for line in sorted(beside, key=lambda line: _gap(line.ink, place)):
        for glyph, off in _glyphs_at(line, ink):
            alike = _likeness(ink, glyph, line.style.size)
            begins = glyph.letter == DASH and 0 < line.ink.x - place.right <= DASH_GAP * line.style.size
            if glyph.letter in BETWEEN and not (is_between or begins):
                continue
            if off > OFF and not (is_between and glyph.letter in ANGLES):
                continue
            if alike < _least_likeness(glyph.letter, off, is_between):
                continue
            if best is None or alike > best[0] + BETTER:
                best = alike, glyph, line
    return _as_line(best[2], ink, best[1], best[0]) if best is not None else None


def _least_likeness(letter: str, off: float, is_between: bool) -> float:
    """Return from which likeness on a mark is a character whose place is off by some pixels."""
    if letter in FLAT and off <= FLAT_OFF:
        return FLAT_ALIKE
    if letter in OWNERSHIP:
        return OWNED_ALIKE
    if letter in NUMBERS:
        return NUMBER_ALIKE
    return ANGLE_ALIKE if is_between and letter in ANGLES else ALIKE


def _is_beside(line: TextLine, place: Rect) -> bool:
    size = line.style.size
    level = min(place.bottom, line.rect.bottom) - max(place.y, line.rect.y) > place.h / 2
    return level and place.h <= TALLEST * size and 0 <= _gap(line.ink, place) + 1 <= REACH * size


def is_on_ground(page: Pixels, place: Rect, words: Rect) -> bool:
    """Whether a mark stands on the ground of the words, and not in a box of its own, as a tick does."""
    grounds = [
        np.median(page[int(rect.y) : round(rect.bottom), int(rect.x) : round(rect.right)], axis=(0, 1))
        for rect in (place, words)
    ]
    return float(np.abs(grounds[0] - grounds[1]).max()) <= SAME_COLOUR


def _gap(ink: Rect, place: Rect) -> float:
    """Return the room between a line and a mark beside it; less than 0 where they overlap."""
    return max(ink.x - place.right, place.x - ink.right)


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character in the face that draws it."""

    letter: str
    face: Face


@lru_cache(64)
def _glyphs(style: TextStyle) -> tuple[_Glyph, ...]:
    bold = style.weight >= LEAST_BOLD
    usual, other = face(style.family, bold, style.italic), face("wide", bold)
    drawn_by = {letter: usual if not usual.missing(letter[0]) else other for letter in (*LETTERS, *LABELS, *SIGNS)}
    return tuple(_Glyph(letter, drawn) for letter, drawn in drawn_by.items() if not drawn.missing(letter[0]))


def _glyphs_at(line: TextLine, ink: Ink) -> Iterator[tuple[_Glyph, float]]:
    """Yield the characters whose ink would have a mark's place and size on a line, with the pixels that it is off."""
    exact, size = ink.exact, line.style.size
    for glyph in _glyphs(replace(line.style, size=0.0, colour="", spacing=0.0, underline=False)):
        left, top, right, bottom = (edge * size for edge in glyph.face.ink(glyph.letter))
        off = (exact.y - line.baseline - top, exact.bottom - line.baseline - bottom, exact.w - right + left)
        if max(map(abs, off)) <= ANGLE_OFF:
            yield glyph, max(map(abs, off))


def _likeness(ink: Ink, glyph: _Glyph, size: float) -> float:
    phase = (ink.exact.x - glyph.face.ink(glyph.letter)[0] * size) % 1
    return likeness(ink.cover, glyph.face.draw(glyph.letter, size, 0.0, phase))


def _as_line(line: TextLine, ink: Ink, glyph: _Glyph, alike: float) -> TextLine:
    """Return a character as a line of its own in the style of the words beside it, with its colour."""
    size = line.style.size
    colour = line.style.colour if _has_colour(ink, line.style.colour) else hex_colour(ink.colour)
    style = replace(line.style, colour=colour, spacing=0.0, underline=False)
    pen = ink.exact.x - glyph.face.ink(glyph.letter)[0] * size
    rect = Rect(pen, line.rect.y, glyph.face.advance(glyph.letter) * size, line.rect.h)
    return TextLine(glyph.letter, ink.rect, rect, style, line.baseline, alike, alike)


def _has_colour(ink: Ink, colour: str) -> bool:
    """Whether ink has a colour, or a paler one between it and the paper: thin strokes cover no pixel wholly."""
    change, whole = ink.colour - ink.paper, np.array(rgb_parts(colour)) - ink.paper
    strength = min(float(change @ whole) / max(float(whole @ whole), 1.0), 1.0)
    return strength >= PALE and float(np.abs(change - strength * whole).max()) <= SAME_COLOUR


def _join_symbol(lines: Sequence[TextLine], symbol: TextLine) -> list[TextLine] | None:
    """Return the lines with a symbol in those that it stands a space before or behind; None if there are none."""
    joined = symbol
    others = list(lines)
    for line in lines:
        first, second = sorted((line, joined), key=lambda part: part.rect.x)
        if _are_one(first, second):
            joined = replace(
                max(first, second, key=lambda part: part.rect.w),
                text=f"{first.text} {second.text}",
                ink=hull((first.ink, second.ink)),
                rect=hull((first.rect, second.rect)),
            )
            others.remove(line)
    return [*others, joined] if joined is not symbol else None


def _are_one(first: TextLine, second: TextLine) -> bool:
    """Whether two lines have one style and baseline, and a space between them."""
    if first.style != second.style or first.baseline != second.baseline:
        return False
    drawn = face(first.style.family, first.style.weight >= LEAST_BOLD, first.style.italic)
    space = drawn.advance(" ") * first.style.size
    return abs(second.rect.x - first.rect.right - space) <= SPACE_OFF
