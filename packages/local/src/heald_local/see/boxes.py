"""Turns flat rectangles into boxes with borders, shadows and gradients."""

from collections.abc import Sequence

import numpy as np

from heald_local.see.borders import THICKEST, find_border
from heald_local.see.flats import FlatRect
from heald_local.see.gradients import find_gradients
from heald_local.see.inset_borders import find_inset_border
from heald_local.see.round_boxes import find_round_boxes
from heald_local.see.round_measures import is_small_disc, measure_round_box
from heald_local.see.shadows import measure_shadow
from heald_pictures.colours import colour_distance, rgb_parts
from heald_pictures.elements import Box, Gradient
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels, Regions, distance_between

LEAST_MEASURED = 16  # pixels of its shorter side: smaller ones may be dots and parts of icons
LEAST_ROUND = 2  # pixels: a radius from which on a box is measured by its edge
SAME_AREA = 0.6  # the part of a box with round ends from which on a flat rectangle in it is its inside
ROUND_INSIDE = 1.5  # pixels: a flat rectangle with a smaller radius has square corners, and so has its border
SHADE_ROOM = 3  # pixels beyond the blur of a shadow in which its edge may look like lines
LARGE = 0.01  # the part of a page from which on a box shows how the page is made
FULL, FULL_NEAR = 0.5, 2  # the part of such a box that has its colour, and levels that a pixel of it may be off
UNDER_SLACK, LARGER = 0.5, 1.02  # pixels that a box may reach over the one under it, and how much larger that is
SAME_PAPER = 3  # levels by which a box of the colour of the paper may differ from it


def build_boxes(pixels: Pixels, regions: Regions, flats: Sequence[FlatRect], background: str) -> list[Box]:
    """Build boxes, outermost first, without lines that are borders and boxes that cannot be seen."""
    lines = [flat for flat in flats if min(flat.rect.w, flat.rect.h) <= THICKEST]
    areas = [flat for flat in flats if min(flat.rect.w, flat.rect.h) > THICKEST]
    boxes = find_round_boxes(pixels, areas, lines)
    rings = [(box.rect, box.rect.grown(-2)) for box in boxes]
    around = [box.rect.grown(1) for box in boxes]
    for number, flat in enumerate(areas):
        if any(rect.holds(flat.rect) and flat.rect.area > SAME_AREA * rect.area for rect in around):
            continue
        under = _under(flat.rect, areas[:number], background)
        border = find_border(pixels, flat)
        rect, radius = flat.rect, flat.radius
        if border is None and (inset := find_inset_border(pixels, flat)) is not None:
            rect, border = inset
        if border is not None:
            top, right, bottom, left = border.widths
            rect = Rect(rect.x - left, rect.y - top, rect.w + left + right, rect.h + top + bottom)
            radius = radius + max(border.widths) if radius >= ROUND_INSIDE else radius
            rings.append((rect, flat.rect))
        gradient, fading = _gradients(pixels, regions, flat, colour_distance(flat.colour, under) > 1)
        boxes += fading
        shadow = measure_shadow(pixels, rect, radius, under)
        if gradient is None and border is None and shadow is None and colour_distance(flat.colour, under) <= 1:
            continue
        is_plain = border is None and shadow is None and gradient is None
        if is_plain and radius >= LEAST_ROUND and min(rect.w, rect.h) >= LEAST_MEASURED:
            rect, radius = measure_round_box(pixels, flat)
        elif is_plain and radius >= LEAST_ROUND and is_small_disc(pixels, flat):
            radius = min(rect.w, rect.h) / 2
        boxes.append(Box(rect, flat.colour, radius, border, shadow, gradient))
    shaded = [
        (box.rect.grown(box.shadow.blur + SHADE_ROOM), box.rect.grown(-1)) for box in boxes if box.shadow is not None
    ]
    rings += [(outer, inner) for outer, inner in shaded if inner.area]
    boxes += [
        Box(line.rect, line.colour)
        for line in lines
        if not any(outer.holds(line.rect, 1) and line.rect.common(inner) < 1 for outer, inner in rings)
    ]
    boxes.sort(key=lambda box: -box.rect.area)
    return boxes


def is_exact(box: Box, pixels: Pixels, background: str) -> bool:
    """Whether a box is so large, straight and full that the page is not drawn by hand.

    The inner area of a small frame can be as straight, but it has the colour of the paper.
    """
    if box.border is not None or box.rect.area <= LARGE * pixels.shape[0] * pixels.shape[1]:
        return box.border is not None
    if box.gradient is not None:
        return True
    rect = box.rect
    part = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)]
    near = distance_between(part, np.array(rgb_parts(box.fill), np.uint8)) <= FULL_NEAR
    return colour_distance(box.fill, background) > SAME_PAPER and float(near.mean()) > FULL


def _under(rect: Rect, larger: Sequence[FlatRect], background: str) -> str:
    """Return the colour of the smallest flat rectangle around this one."""
    for flat in reversed(larger):
        if flat.rect.holds(rect, UNDER_SLACK) and flat.rect.area > rect.area * LARGER:
            return flat.colour
    return background


def _gradients(pixels: Pixels, regions: Regions, flat: FlatRect, bounded: bool) -> tuple[Gradient | None, list[Box]]:
    """Find the gradient of a flat rectangle, and the boxes on it that fade into its colour."""
    rect = flat.rect
    where = (slice(int(rect.y), int(rect.bottom)), slice(int(rect.x), int(rect.right)))
    gradient, fades = find_gradients(pixels[where], regions.labels[where] == flat.region, flat.colour, bounded=bounded)
    places = [Rect(place.x + rect.x, place.y + rect.y, place.w, place.h) for place, _ in fades]
    return gradient, [Box(place, flat.colour, gradient=fade) for place, (_, fade) in zip(places, fades, strict=True)]
