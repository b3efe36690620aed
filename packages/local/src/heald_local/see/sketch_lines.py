"""Finds the lines of handwriting on a sketch, and writes them in usual sizes."""

from collections.abc import Sequence

import numpy as np

from heald_local.see.font_weights import BOLD, REGULAR
from heald_local.see.sketch_boxes import INK
from heald_local.see.sketch_view import EDGE, merge_near, nearest_side, on_grid
from heald_pictures.elements import Box, TextLine, TextStyle
from heald_pictures.fonts import face
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Mask

WORD_GAP = 0.75  # the widest gap between words, in parts of the height of a line
LEVEL = 0.5  # the part of its height by which a word is beside the line that it continues
PLACE_ROOM = 4  # pixels around a place of text in which its strokes may lie
LEAST_INK = 4  # pixels of both sides of something that is written
HOLDER = 4  # a frame with less than so many heights and widths of a text holds nothing else
HOLDER_ROOM = 2  # CSS pixels by which a text may reach over its frame
ALIKE = (0.7, 1.43)  # the size of a text beside another one that is meant to be as large
LEAST_EXTENT = 0.4  # ems of a text by which its size is computed
SIZES = (13, 14, 16, 18, 20, 24, 28, 32, 40, 48, 56, 64)
HAND = 0.72  # sizes: handwriting is larger than the text that it stands for
LEAST_HEADING = 32  # pixels of the smallest heading


def ink_rects(rest: Mask, place: Rect) -> list[Rect]:
    """Return what is drawn at a place, parted at gaps that are wider than between words."""
    part = place.grown(PLACE_ROOM).within(rest.shape[1], rest.shape[0])
    left, top = int(part.x), int(part.y)
    drawn = rest[top : int(part.bottom), left : int(part.right)]
    columns = np.flatnonzero(drawn.any(axis=0))
    rows = np.flatnonzero(drawn.any(axis=1))
    if len(rows) < LEAST_INK or len(columns) < LEAST_INK:
        return []
    wide = np.flatnonzero(np.diff(columns) > WORD_GAP * (rows[-1] - rows[0] + 1)) + 1
    words: list[Rect] = []
    for group in np.split(columns, wide):
        near, far = int(group[0]), int(group[-1]) + 1
        lines = np.flatnonzero(drawn[:, near:far].any(axis=1))
        words.append(spanning((left + near, top + int(lines[0]), left + far, top + int(lines[-1]) + 1)))
    return [rect for rect in words if min(rect.w, rect.h) >= LEAST_INK]


def join_words(rects: Sequence[Rect]) -> list[Rect]:
    """Join the words of a line: handwriting has wide gaps."""
    lines: list[Rect] = []
    for rect in sorted(rects, key=lambda word: word.x):
        near = next((number for number, line in enumerate(lines) if _continues(line, rect)), None)
        if near is None:
            lines.append(rect)
        else:
            lines[near] = hull((lines[near], rect))
    return lines


def _continues(line: Rect, rect: Rect) -> bool:
    level = min(line.bottom, rect.bottom) - max(line.y, rect.y)
    return level > LEVEL * min(line.h, rect.h) and rect.x - line.right < WORD_GAP * min(line.h, rect.h)


def _holder(place: Rect, boxes: Sequence[Box]) -> Rect | None:
    """Return the frame that holds nothing but this text, such as a button."""
    around = [box.rect for box in boxes if box.border is not None and box.rect.grown(HOLDER_ROOM).holds(place)]
    room = min(around, key=lambda rect: rect.area, default=None)
    return room if room is not None and room.h < HOLDER * place.h and room.w < HOLDER * place.w else None


def write_lines(read: Sequence[tuple[Rect, str, float]], boxes: Sequence[Box]) -> list[TextLine]:
    """Write lines in usual sizes: those beside each other alike, and those below each other from one edge on."""
    sizes = [_hand_size(place, text) for place, text, _ in read]
    edges = merge_near([place.x for place, _, _ in read], EDGE)
    lines: list[TextLine] = []
    for number, (place, text, sure) in enumerate(read):
        middle = place.y + place.h / 2
        beside = [other for other, (rect, _, _) in enumerate(read) if rect.y < middle < rect.bottom]
        alike = [other for other in beside if ALIKE[0] < sizes[other] / sizes[number] < ALIKE[1]]
        level = float(np.median([read[other][0].y + read[other][0].h / 2 for other in alike]))
        size = float(np.median([sizes[other] for other in alike]))
        holder = _holder(place, boxes)
        start = Rect(nearest_side(place.x, boxes, edges[place.x]), level, 0, 0)
        lines.append(_line(text, size, start, holder, sure))
    return lines


def _hand_size(place: Rect, text: str) -> float:
    """Return the size of handwriting, by its height and its width."""
    sans = face("sans")
    _, top, _, bottom = sans.ink(text)
    by_height, by_width = place.h / max(bottom - top, LEAST_EXTENT), place.w / max(sans.advance(text), LEAST_EXTENT)
    return (by_height * by_width) ** (1 / 2)


def _line(text: str, hand_size: float, start: Rect, holder: Rect | None, sure: float) -> TextLine:
    """Write a line from its left edge on, or in the middle of its frame if it is alone in one."""
    size = float(min(SIZES, key=lambda usual: abs(usual - hand_size * HAND)))
    bold = size >= LEAST_HEADING
    used = face("sans", bold)
    width = used.advance(text) * size
    ascent, descent = round(used.ascent * size), round(used.descent * size)
    if holder is None:
        left, top = start.x, on_grid(start.y - (ascent + descent) / 2)
    else:
        left = round(holder.x + (holder.w - width) / 2)
        top = round(holder.y + (holder.h - ascent - descent) / 2)
    style = TextStyle("sans", size, BOLD if bold else REGULAR, False, INK)
    box = Rect(max(left, 0), max(top, 0), width, ascent + descent)
    return TextLine(text, box.grown(-1), box, style, box.y + ascent, sure)
