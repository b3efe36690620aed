"""Finds rows of equal boxes with one letter or figure on each: an index, or the numbers of pages.

The detector of text sees such a row as one line whose letters are the boxes, and that of icons as a row of icons.
"""

from collections.abc import Sequence

import numpy as np

from heald_local.see.letter_spacing import are_in_order
from heald_local.see.ocr import read_lines
from heald_pictures.elements import Box
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels

FEWEST = 4  # boxes of a row
SMALLEST, LARGEST = 16.0, 64.0  # pixels of their heights
SHAPE = (0.6, 1.7)  # their widths, in heights
SAME = 4.0  # pixels by which their upper ends and their heights differ
GAP = (-0.2, 1.0)  # heights between two of them, whose shadows or edges may overlap
MARGIN = 5  # of the width and height of a box, the outer fifths are not looked at
DRAWN, LEAST_DRAWN = 60, 0.05  # levels by which a pixel differs from the ground, and the part of them
INSIDE = 0.12  # heights of the edge of a box that its letter does not reach


def find_letter_tiles(pixels: Pixels, boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes of all such rows."""
    rows: list[list[Box]] = []
    candidates = [box for box in boxes if _can_be_tile(box) and _is_drawn_on(pixels, box.rect)]
    for box in sorted(candidates, key=lambda box: box.rect.x):
        row = next((row for row in rows if _continues(row[-1].rect, box.rect) and row[-1].fill == box.fill), None)
        if row is None:
            rows.append([box])
        else:
            row.append(box)
    return [box for row in rows if len(row) >= FEWEST and _is_index(pixels, row) for box in row]


def _is_index(pixels: Pixels, row: Sequence[Box]) -> bool:
    """Whether what is drawn on the boxes is read as letters of an alphabet; icons are not."""
    inner = [_inside(box.rect) for box in row]
    crops = [pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)] for rect in inner]
    return are_in_order([reading.text.strip() for reading in read_lines(crops)])


def split_at_tiles(places: Sequence[Rect], tiles: Sequence[Box]) -> list[Rect]:
    """Return the places of text with one for each tile in place of those that reach over several."""
    if not tiles:
        return list(places)
    grounds = [tile.rect for tile in tiles]
    inner = [_inside(ground) for ground in grounds]
    others = [place for place in places if not any(place.common(ground) > 0 for ground in grounds)]
    beside = [
        part
        for place in places
        if any(place.common(ground) > 0 for ground in grounds)
        for part in _parts_beside(place, grounds)
    ]
    return [*others, *beside, *inner]


def _inside(rect: Rect) -> Rect:
    return rect.grown(-INSIDE * rect.h)


def _parts_beside(place: Rect, grounds: Sequence[Rect]) -> list[Rect]:
    """Return what a place has before and behind the tiles that it reaches over."""
    on = [ground for ground in grounds if place.common(ground) > 0]
    before = spanning((place.x, place.y, max(min(ground.x for ground in on), place.x), place.bottom))
    behind = spanning((min(max(ground.right for ground in on), place.right), place.y, place.right, place.bottom))
    return [part for part in (before, behind) if part.w > place.h]


def _can_be_tile(box: Box) -> bool:
    width, height = box.rect.w, box.rect.h
    return SMALLEST <= height <= LARGEST and SHAPE[0] * height <= width <= SHAPE[1] * height


def _continues(last: Rect, rect: Rect) -> bool:
    is_level = abs(last.y - rect.y) <= SAME and abs(last.h - rect.h) <= SAME
    return is_level and GAP[0] * rect.h <= rect.x - last.right <= GAP[1] * rect.h


def _is_drawn_on(pixels: Pixels, rect: Rect) -> bool:
    inner = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.int16)
    rows, columns = (slice(length // MARGIN, length - length // MARGIN) for length in inner.shape[:2])
    middle = inner[rows, columns].reshape(-1, inner.shape[-1])
    drawn = (np.abs(middle - inner[1, inner.shape[1] // 2]) > DRAWN).any(axis=1)
    return bool(drawn.size) and float(drawn.mean()) > LEAST_DRAWN
