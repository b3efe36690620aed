"""Blocks of text as they are compared: lines put together to the paragraphs they were broken from.

Two browsers, or a browser and a person's screenshot, break one paragraph into different lines. What belongs together
is told by geometry alone, so that lines of a document and lines read from a picture are treated alike.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.colour import Colour, distance
from weft.studio.score.picture import Pixels
from weft.studio.score.similarity import plain

_RING = 3
"""Pixels around a text that show what it stands on."""


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


def blocks_of(texts: Sequence[TextBlock], pixels: Pixels) -> list[Block]:
    """The blocks of a picture in reading order. Text that cannot be seen in it is left out."""
    lines: list[Block] = []
    for text in texts:
        words = plain(text.text)
        area = _inside(text, pixels)
        if words and area is not None and (colour := _visible_colour(text, area)) is not None:
            lines.append(Block(words, text.x, text.y, text.w, text.h, colour))
    return _paragraphs(sorted(lines, key=lambda line: (line.y, line.x)))


def joined(first: Block, second: Block) -> Block:
    """Two blocks as one: the texts in order, the box around both, the colour of the longer one."""
    x, y = min(first.x, second.x), min(first.y, second.y)
    right, bottom = max(first.x + first.w, second.x + second.w), max(first.y + first.h, second.y + second.h)
    colour = first.colour if len(first.text) >= len(second.text) else second.colour
    return Block(f"{first.text} {second.text}", x, y, right - x, bottom - y, colour, lines=first.lines + second.lines)


def background(pixels: Pixels, x: int, y: int, w: int, h: int) -> Colour:
    """The colour that a box stands on: the median of what is right around it."""
    top, left = max(0, y - _RING), max(0, x - _RING)
    around = pixels[top : y + h + _RING, left : x + w + _RING]
    inner = (slice(y - top, y - top + h), slice(x - left, x - left + w))
    ring = np.ones(around.shape[:2], bool)
    ring[inner] = False
    found = around[ring] if ring.any() else around.reshape(-1, 3)
    red, green, blue = np.median(found, axis=0)
    return int(red), int(green), int(blue)


def _inside(text: TextBlock, pixels: Pixels) -> Pixels | None:
    """The part of the picture that a text covers, None if that is nothing."""
    height, width = pixels.shape[:2]
    left, top = max(0, int(text.x)), max(0, int(text.y))
    right, bottom = min(width, round(text.x + text.w)), min(height, round(text.y + text.h))
    return pixels[top:bottom, left:right] if right > left and bottom > top else None


def _visible_colour(text: TextBlock, area: Pixels) -> Colour | None:
    """The colour of a text, from the picture if nothing else tells. None if nothing is to be seen there."""
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


def _paragraphs(lines: list[Block]) -> list[Block]:
    open_ones: list[list[Block]] = []
    for line in lines:
        for paragraph in reversed(open_ones):
            if _continues(paragraph, line):
                paragraph.append(line)
                break
        else:
            open_ones.append([line])
    found: list[Block] = []
    for paragraph in open_ones:
        whole = paragraph[0]
        for line in paragraph[1:]:
            whole = joined(whole, line)
        found.append(whole)
    return sorted(found, key=lambda block: (block.y, block.x))


def _continues(paragraph: list[Block], line: Block) -> bool:
    """Whether the line is what was left when the one before it was full: same style, right below, no room above."""
    last = paragraph[-1]
    size = last.h
    if abs(line.h - size) > 0.2 * size or distance(line.colour, last.colour) > 12:
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
    return widest - last.w < _first_word(line) + 0.1 * size


def _first_word(line: Block) -> float:
    """The width of what would have had to fit on the line before, with the space in front of it."""
    word = line.text.partition(" ")[0]
    letter = line.w / len(line.text)
    letters = 1 if word and ord(word[0]) >= 0x2E80 else len(word) + 1
    return letters * letter
