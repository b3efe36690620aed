"""Finds the border of a flat rectangle with an inner shadow between them, as fields have it."""

from heald_local.see.borders import CORNER_ROOM, SAME, SAME_BORDER, THICKEST, is_even, side_strip
from heald_local.see.flats import FlatRect
from heald_local.see.pixel_units import SIDES
from heald_pictures.colours import colour_distance, dominant_colour, hex_colour
from heald_pictures.elements import Border
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

DEEPEST = 8  # pixels of an inner shadow at one side
LEAST_STEP = 8  # levels between the darkest line of the shadow and the border
LEAST_SIDE = 12  # pixels of the shorter side of the rectangle


def find_inset_border(pixels: Pixels, flat: FlatRect) -> tuple[Rect, Border] | None:
    """Return the rectangle with its inner shadow, and the border around it: a ring of one colour on all sides."""
    if min(flat.rect.w, flat.rect.h) < LEAST_SIDE:
        return None
    measures = [_measure_side(pixels, flat, side) for side in range(SIDES)]
    sides = [measure for measure in measures if measure is not None]
    if len(sides) < SIDES or not any(depth for depth, _, _ in sides):
        return None
    colour = sides[0][2]
    if max(colour_distance(colour, other) for _, _, other in sides) > SAME_BORDER:
        return None
    (top, right, bottom, left), widths = [depth for depth, _, _ in sides], [width for _, width, _ in sides]
    rect = flat.rect
    inside = Rect(rect.x - left, rect.y - top, rect.w + left + right, rect.h + top + bottom)
    return (inside, Border((widths[0], widths[1], widths[2], widths[3]), colour)) if len(set(widths)) == 1 else None


def _measure_side(pixels: Pixels, flat: FlatRect, side: int) -> tuple[float, float, str] | None:
    """Return how deep the inner shadow of a side is, and the width and the colour of the border behind it.

    From the rectangle outward, each line of the shadow is further from its colour than the one before; the border is
    the furthest, and what lies beyond it is not further.
    """
    bend = int(flat.radius) + CORNER_ROOM
    away, last, depth, width = 0, 0, 0, 0
    border = ""
    for number in range(1, DEEPEST + THICKEST + 2):
        strip = side_strip(pixels, flat.rect, side, number, bend)
        if strip is None or not len(strip):
            return None
        colour = dominant_colour(strip)
        if not is_even(strip, colour):
            return None
        name = hex_colour(colour)
        distance = colour_distance(name, flat.colour)
        if border and colour_distance(name, border) <= SAME:
            width += 1
        elif distance > away:
            depth, width, last, away, border = number - 1, 1, away, distance, name
        else:
            is_border = away - last >= LEAST_STEP and depth <= DEEPEST and width <= THICKEST
            return (float(depth), float(width), border) if is_border else None
    return None
