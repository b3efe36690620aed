"""Separates what is drawn on a page from the seams and shadows of its boxes, and from dust."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from heald_local.see.patches import Patch
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels

HAZE = 4.0  # pixels around a box that are marked as its shadow, at most
LEAST_CORNER, LARGEST_CORNER = 2.0, 24.0  # pixels: the radius of a corner with a smooth edge
SMOOTH = 2  # pixels from the edge that is painted to the end of the smooth one
LEAST_COUNT, LEAST_SIDE = 14, 5  # pixels of a patch, and of its longer side: smaller ones are dust
FRAME_DENSITY, FRAMED = 0.3, 0.5
"""Of a patch around a box that is its seam: its density, and the part that the box fills."""
FRAME_ROOM = 2  # pixels by which such a patch may lie within the box
SEAM_REACH = 3.0  # pixels around a box in which its seams lie, and inside in which they are thin
BEND_ROOM = 2  # pixels beyond a round corner
THIN_DENSITY = 0.5  # a patch along a side that is less dense is a seam
MOST_OFF, LARGEST = 0.15, 0.75  # parts of a box that what lies in its middle may be off and fill


def mark_rects(shape: tuple[int, int], rects: Sequence[Rect], by: float) -> Mask:
    """Mark rectangles, each larger by some pixels."""
    marked = np.zeros(shape, np.bool_)
    for rect in rects:
        part = rect.grown(by).within(shape[1], shape[0])
        marked[int(part.y) : round(part.bottom), int(part.x) : round(part.right)] = True
    return marked


def mark_shadows(shape: tuple[int, int], boxes: Sequence[Box]) -> Mask:
    """Mark the shadows close around boxes, which must not connect a box with its content."""
    marked = np.zeros(shape, np.bool_)
    for box in boxes:
        if box.shadow is not None:
            ring = mark_rects(shape, [box.rect], min(box.shadow.blur + abs(box.shadow.y), HAZE))
            marked |= ring & ~mark_rects(shape, [box.rect], -1)
    return marked


def mark_corners(pixels: Pixels, page: Pixels, boxes: Sequence[Box]) -> Mask:
    """Mark the smooth edges of round corners, which must not connect a box with its content.

    The painted page has hard edges. A pixel of a smooth one has a colour between those that are painted around it.
    """
    height, width = page.shape[:2]
    marked = np.zeros((height, width), np.bool_)
    for box in boxes:
        reach = math.ceil(min(box.radius, LARGEST_CORNER)) + 1
        if box.radius < LEAST_CORNER:
            continue
        left, top, right, bottom = (round(edge) for edge in (box.rect.x, box.rect.y, box.rect.right, box.rect.bottom))
        for x in (left - 1, right + 1 - reach):
            for y in (top - 1, bottom + 1 - reach):
                if min(x, y) < SMOOTH or x + reach + SMOOTH > width or y + reach + SMOOTH > height:
                    continue
                around = page[y - SMOOTH : y + reach + SMOOTH, x - SMOOTH : x + reach + SMOOTH]
                near = sliding_window_view(around, (2 * SMOOTH + 1, 2 * SMOOTH + 1), (0, 1))
                seen = pixels[y : y + reach, x : x + reach]
                between = (seen >= near.min(axis=(-2, -1))) & (seen <= near.max(axis=(-2, -1)))
                marked[y : y + reach, x : x + reach] |= between.all(axis=2)
    return marked


def is_worth_keeping(patch: Patch, boxes: Sequence[Box]) -> bool:
    """Whether a patch is not the seam of a box, a shadow, or dust."""
    rect = patch.rect
    if patch.count < LEAST_COUNT or max(rect.w, rect.h) < LEAST_SIDE:
        return False
    around = rect.grown(FRAME_ROOM)
    framed = (box for box in boxes if around.holds(box.rect) and box.rect.area > FRAMED * rect.area)
    if patch.density < FRAME_DENSITY and any(framed):
        return False
    return not any(_is_seam(rect, patch.density, box) for box in boxes)


def _is_seam(rect: Rect, density: float, box: Box) -> bool:
    reach = SEAM_REACH + (box.shadow.blur if box.shadow is not None else 0)
    if not box.rect.grown(reach).holds(rect) or _is_central(rect, box.rect):
        return False
    bend = box.radius + BEND_ROOM
    near_x = rect.right <= box.rect.x + bend or rect.x >= box.rect.right - bend
    near_y = rect.bottom <= box.rect.y + bend or rect.y >= box.rect.bottom - bend
    thin_x = rect.right <= box.rect.x + SEAM_REACH or rect.x >= box.rect.right - SEAM_REACH
    thin_y = rect.bottom <= box.rect.y + SEAM_REACH or rect.y >= box.rect.bottom - SEAM_REACH
    return (near_x and near_y) or thin_x or thin_y or (density < THIN_DENSITY and (near_x or near_y))


def _is_central(rect: Rect, box: Rect) -> bool:
    """Whether a patch lies in the middle of a box, as an icon on a disc: the corners of a disc reach to there."""
    (x, y), (across, down) = rect.middle, box.middle
    off = max(abs(x - across) / box.w, abs(y - down) / box.h)
    return off <= MOST_OFF and max(rect.w / box.w, rect.h / box.h) <= LARGEST
