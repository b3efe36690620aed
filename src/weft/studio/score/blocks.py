"""Text blocks as they are compared: lines joined to paragraphs, with their colours."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import msgspec
import numpy as np

from weft.studio.browser.page import TextBlock
from weft.studio.score.picture import Pixels

Colour = tuple[int, int, int]

_WHITE = (0.95047, 1.0, 1.08883)
_25_7 = 25.0**7


def lab(colour: Colour) -> tuple[float, float, float]:
    """Convert an sRGB colour to CIELAB (D65)."""
    red, green, blue = (_linear(part / 255) for part in colour)
    xyz = (
        0.4124564 * red + 0.3575761 * green + 0.1804375 * blue,
        0.2126729 * red + 0.7151522 * green + 0.0721750 * blue,
        0.0193339 * red + 0.1191920 * green + 0.9503041 * blue,
    )
    x, y, z = (_cube_root(part / white) for part, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colour_distance(one: Colour, other: Colour) -> float:
    """Return the CIEDE2000 distance: 0 for equal colours, about 2 for a visible difference, 100 from black to white."""
    return 0.0 if one == other else delta_e(lab(one), lab(other))


def delta_e(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return CIEDE2000 of two colours in CIELAB, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 0.5 * (1 - sqrt(chroma**7 / (chroma**7 + _25_7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    dl, dc = l2 - l1, c2 - c1
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    if c1 * c2 and turn == -180 and h2 > h1:
        turn = 180.0
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = _mean_hue(h1, h2) if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    sl = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    sc, sh = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    spread = 30 * exp(-(((mean_h - 275) / 25) ** 2))
    rotation = -2 * sqrt(mean_c**7 / (mean_c**7 + _25_7)) * sin(radians(2 * spread))
    return sqrt(max(0.0, (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rotation * (dc / sc) * (dh / sh)))


def css_colour(colour: Colour) -> str:
    """Format a colour for CSS."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _cube_root(part: float) -> float:
    return part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116


def _mean_hue(one: float, other: float) -> float:
    if abs(one - other) <= 180:
        return (one + other) / 2
    return (one + other + 360) / 2 if one + other < 360 else (one + other - 360) / 2


LIKENESS = 0.5
"""Texts with a lower similarity count as unrelated."""

_MAX_LENGTH = 2_000
_SPACE = re.compile(r"\s+")


def normalise_text(text: str) -> str:
    """Normalise a text for comparison: fold compatibility forms, collapse spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()[:_MAX_LENGTH]


@lru_cache(maxsize=200_000)
def text_similarity(one: str, other: str) -> float:
    """Return the Ratcliff-Obershelp similarity, from 0 to 1; 0 for any pair below LIKENESS. The order does not matter.

    Cheaper bounds (lengths, characters, longest common subsequence) reject most pairs first.
    """
    if one == other:
        return 1.0
    total = len(one) + len(other)
    least = LIKENESS * total / 2
    if min(len(one), len(other)) < least or _common_char_count(one, other) < least:
        return 0.0
    if _common_subsequence(one, other) < least:
        return 0.0
    first, second = sorted((one, other))
    found = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return found if found >= LIKENESS else 0.0


@lru_cache(maxsize=10_000)
def _char_counts(text: str) -> Counter[str]:
    return Counter(text)


def _common_char_count(one: str, other: str) -> int:
    mine, yours = _char_counts(one), _char_counts(other)
    return sum(min(count, yours.get(char, 0)) for char, count in mine.items())


def _common_subsequence(one: str, other: str) -> int:
    """Return the length of the longest common subsequence, with a row of the table in the bits of a number."""
    places: dict[str, int] = {}
    for index, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << index
    every = (1 << len(one)) - 1
    row = every
    for char in other:
        hits = row & places.get(char, 0)
        row = ((row + hits) | (row - hits)) & every
    return len(one) - row.bit_count()


_RING = 3
"""Pixels around a text that show its background."""


class Block(msgspec.Struct, frozen=True):
    """A text and its place in the picture, in pixels."""

    text: str
    x: float
    y: float
    w: float
    h: float
    colour: Colour
    lines: int = 1

    @property
    def area(self) -> float:
        return self.w * self.h

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def box(self) -> tuple[int, int, int, int]:
        return round(self.x), round(self.y), round(self.w), round(self.h)


def find_blocks(texts: Sequence[TextBlock], pixels: Pixels) -> list[Block]:
    """Return the blocks of a picture in reading order, without invisible text."""
    lines: list[Block] = []
    for text in texts:
        words = normalise_text(text.text)
        area = _covered_pixels(text, pixels)
        if words and area is not None and (colour := _visible_colour(text, area)) is not None:
            lines.append(Block(words, text.x, text.y, text.w, text.h, colour))
    return _join_paragraphs(sorted(lines, key=lambda line: (line.y, line.x)))


def join_blocks(first: Block, second: Block) -> Block:
    """Join two blocks: the texts in order, the box around both, the colour of the longer text."""
    x, y = min(first.x, second.x), min(first.y, second.y)
    right, bottom = max(first.x + first.w, second.x + second.w), max(first.y + first.h, second.y + second.h)
    colour = first.colour if len(first.text) >= len(second.text) else second.colour
    return Block(f"{first.text} {second.text}", x, y, right - x, bottom - y, colour, lines=first.lines + second.lines)


def background_colour(pixels: Pixels, x: int, y: int, w: int, h: int) -> Colour:
    """Return the background colour of a box: the median of the pixels around it."""
    top, left = max(0, y - _RING), max(0, x - _RING)
    around = pixels[top : y + h + _RING, left : x + w + _RING]
    inner = (slice(y - top, y - top + h), slice(x - left, x - left + w))
    ring = np.ones(around.shape[:2], bool)
    ring[inner] = False
    found = around[ring] if ring.any() else around.reshape(-1, 3)
    red, green, blue = np.median(found, axis=0)
    return int(red), int(green), int(blue)


def _covered_pixels(text: TextBlock, pixels: Pixels) -> Pixels | None:
    """Return the pixels that a text covers, None if it lies outside."""
    height, width = pixels.shape[:2]
    left, top = max(0, int(text.x)), max(0, int(text.y))
    right, bottom = min(width, round(text.x + text.w)), min(height, round(text.y + text.h))
    return pixels[top:bottom, left:right] if right > left and bottom > top else None


def _visible_colour(text: TextBlock, area: Pixels) -> Colour | None:
    """Return the colour of a text, measured in the picture if it is unknown. None if the text is invisible."""
    flat = area.reshape(-1, 3).astype(np.int16)
    low, high = flat.min(axis=0), flat.max(axis=0)
    if int((high - low).max()) < 8:
        return None
    if text.colour is not None:
        return text.colour
    ground = np.median(flat, axis=0)
    away = np.abs(flat - ground).sum(axis=1)
    ink = flat[away >= 0.95 * np.quantile(away, 0.995)]
    red, green, blue = np.median(ink, axis=0)
    return int(red), int(green), int(blue)


def _join_paragraphs(lines: list[Block]) -> list[Block]:
    open_ones: list[list[Block]] = []
    for line in lines:
        for paragraph in reversed(open_ones):
            if _continues_paragraph(paragraph, line):
                paragraph.append(line)
                break
        else:
            open_ones.append([line])
    found: list[Block] = []
    for paragraph in open_ones:
        whole = paragraph[0]
        for line in paragraph[1:]:
            whole = join_blocks(whole, line)
        found.append(whole)
    return sorted(found, key=lambda block: (block.y, block.x))


def _continues_paragraph(paragraph: list[Block], line: Block) -> bool:
    """Whether the line continues a paragraph: same style, right below, and too wide for the line before."""
    last = paragraph[-1]
    size = last.h
    if abs(line.h - size) > 0.2 * size or colour_distance(line.colour, last.colour) > 12:
        return False
    gap = line.y - (last.y + last.h)
    if not -0.5 * size < gap < 0.6 * size or line.y - last.y < 0.5 * size:
        return False
    lefts, middles, rights = (
        line.x - last.x,
        line.x + line.w / 2 - last.x - last.w / 2,
        line.x + line.w - last.x - last.w,
    )
    if min(abs(lefts), abs(middles), abs(rights)) > 0.35 * size:
        return False
    widest = max(one.w for one in (*paragraph, line))
    return widest - last.w < _first_word_width(line) + 0.1 * size


def _first_word_width(line: Block) -> float:
    """Return the width of the first word and the space before it."""
    word = line.text.partition(" ")[0]
    count = 1 if word and ord(word[0]) >= 0x2E80 else len(word) + 1  # scripts from 0x2E80 break anywhere
    return count * line.w / len(line.text)
