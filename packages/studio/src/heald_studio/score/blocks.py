"""Blocks of text: lines of a page that are joined to paragraphs, with their places and colours."""

from collections.abc import Sequence

import msgspec
import numpy as np

from heald_studio.browser.page import TextBlock
from heald_studio.score.colour_distance import Colour, colour_distance
from heald_studio.score.page_image import Pixels
from heald_studio.score.text_similarity import normalise_text

_LEVEL, _SAME_HEIGHT = 0.1, 0.15
"""Parts of the height by which the lower ends and the heights of the runs of a row differ."""
_RUN_GAP = (-0.1, 0.5)
"""Heights between two runs of a row: they are a space apart, or touch."""
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
    bold: float | None = None
    italic: float | None = None

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
            lines.append(Block(words, text.x, text.y, text.w, text.h, colour, bold=text.bold, italic=text.italic))
    return _join_paragraphs(_join_runs(lines))


def join_blocks(first: Block, second: Block) -> Block:
    """Join two blocks: the texts in order, the box around both, the colour of the longer text."""
    x, y = min(first.x, second.x), min(first.y, second.y)
    right, bottom = max(first.x + first.w, second.x + second.w), max(first.y + first.h, second.y + second.h)
    colour = first.colour if len(first.text) >= len(second.text) else second.colour
    return Block(
        f"{first.text} {second.text}",
        x,
        y,
        right - x,
        bottom - y,
        colour,
        lines=first.lines + second.lines,
        bold=_joined_share(first, second, first.bold, second.bold),
        italic=_joined_share(first, second, first.italic, second.italic),
    )


def _joined_share(first: Block, second: Block, share: float | None, other: float | None) -> float | None:
    """Return a share of two texts together, by their lengths; None if one is unknown."""
    if share is None or other is None:
        return None
    count = len(first.text) + len(second.text)
    return (share * len(first.text) + other * len(second.text)) / count


def background_colour(pixels: Pixels, x: int, y: int, w: int, h: int) -> Colour:
    """Return the background colour of a box: the median of the pixels around it."""
    top, left = max(0, y - _RING), max(0, x - _RING)
    around = pixels[top : y + h + _RING, left : x + w + _RING]
    inner = (slice(y - top, y - top + h), slice(x - left, x - left + w))
    ring = np.ones(around.shape[:2], bool)
    ring[inner] = False
    samples = around[ring] if ring.any() else around.reshape(-1, 3)
    red, green, blue = np.median(samples, axis=0)
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


def _join_runs(lines: Sequence[Block]) -> list[Block]:
    """Join the words of a row that are a space apart, as they are read from a picture, whatever elements they are."""
    ended: list[Block] = []
    rows: list[Block] = []
    """Those that a line can still continue, from left to right."""
    for line in sorted(lines, key=lambda line: (line.x, line.y)):
        ended += [row for row in rows if _ends_before(row, line)]
        rows = [row for row in rows if not _ends_before(row, line)]
        before = next((number for number, row in enumerate(rows) if _continues_row(row, line)), None)
        if before is None:
            rows.append(line)
        else:
            rows[before] = msgspec.structs.replace(join_blocks(rows[before], line), lines=1)
    return sorted(ended + rows, key=lambda row: (row.y, row.x))


def _ends_before(row: Block, line: Block) -> bool:
    """Whether the row ends too far to the left for the line, however large both are."""
    return line.x - row.x - row.w > _RUN_GAP[1] * row.h


def _continues_row(row: Block, line: Block) -> bool:
    size = min(row.h, line.h)
    is_level = abs(row.y + row.h - line.y - line.h) <= _LEVEL * size and abs(row.h - line.h) <= _SAME_HEIGHT * size
    return is_level and _RUN_GAP[0] * size <= line.x - row.x - row.w <= _RUN_GAP[1] * size


def _join_paragraphs(lines: list[Block]) -> list[Block]:
    paragraphs: list[list[Block]] = []
    for line in lines:
        for paragraph in reversed(paragraphs):
            if _continues_paragraph(paragraph, line):
                paragraph.append(line)
                break
        else:
            paragraphs.append([line])
    blocks: list[Block] = []
    for paragraph in paragraphs:
        whole = paragraph[0]
        for line in paragraph[1:]:
            whole = join_blocks(whole, line)
        blocks.append(whole)
    return sorted(blocks, key=lambda block: (block.y, block.x))


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
    widest = max(block.w for block in (*paragraph, line))
    return widest - last.w < _first_word_width(line) + 0.1 * size


def _first_word_width(line: Block) -> float:
    """Return the width of the first word and the space before it."""
    word = line.text.partition(" ")[0]
    count = 1 if word and ord(word[0]) >= 0x2E80 else len(word) + 1  # scripts from 0x2E80 break anywhere
    return count * line.w / len(line.text)
