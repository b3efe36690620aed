"""Finds the border of a flat rectangle: a ring of one colour around it."""

import numpy as np
from numpy.typing import NDArray

from heald_local.see.flats import FlatRect
from heald_local.see.pixel_units import SIDES
from heald_pictures.colours import colour_distance, dominant_colour, hex_colour, rgb_parts
from heald_pictures.elements import Border
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

THICKEST = 6  # pixels of a border
CORNER_ROOM = 2  # pixels beside a round corner, and around the middle of a short side, that are not a side's own
EVEN, EVEN_SHARE = 3, 0.9  # levels by which the pixels of a side differ, and the part of them that do not differ more
SAME = 3  # levels by which two rings of one colour, or a ring and what it is around, differ
SAME_BORDER = 4  # levels by which the sides of one border differ
FEWEST_SIDES = 3  # a tab has a border on three sides
MOST_WIDTHS = 2  # different widths of the sides of one border
CLEARLY, CLEARLY_SHARE = 24, 0.95
"""Levels by which a border differs from a gradient around it, and the part of the pixels that differ so much."""
FAINT = 10  # levels by which a ring differs from what is around it, at most, if it may be a shadow
FADED_AWAY = 3  # pixels outside of a flat rectangle at which a shadow has faded further
TOP, RIGHT, BOTTOM, LEFT = range(SIDES)


def side_strip(pixels: Pixels, rect: Rect, side: int, away: int, bend: int) -> Pixels | None:
    """Return the pixels along a side from `TOP` to `LEFT`, `away` pixels outside, without corners."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = int(rect.x), int(rect.y), int(rect.right), int(rect.bottom)
    inset = max(min(bend, (right - left) // 2 - CORNER_ROOM, (bottom - top) // 2 - CORNER_ROOM), 0)
    if side in (TOP, BOTTOM):
        row = top - away if side == TOP else bottom - 1 + away
        return pixels[row, left + inset : right - inset] if 0 <= row < height else None
    column = left - away if side == LEFT else right - 1 + away
    return pixels[top + inset : bottom - inset, column] if 0 <= column < width else None


def find_border(pixels: Pixels, flat: FlatRect) -> Border | None:
    """Find a ring of one colour on three sides at least."""
    bend = int(flat.radius) + CORNER_ROOM
    measures = [_measure_side(pixels, flat, side, bend) for side in range(SIDES)]
    widths, colours = [width for width, _ in measures], [colour for _, colour in measures]
    sides = [side for side in range(SIDES) if widths[side]]
    if len(sides) < FEWEST_SIDES:
        return None
    if max(colour_distance(colours[sides[0]], colours[side]) for side in sides) > SAME_BORDER:
        return None
    if len({widths[side] for side in sides}) > MOST_WIDTHS:
        return None
    outside = [side_strip(pixels, flat.rect, side, int(widths[side]) + 1, bend) for side in sides]
    beyond = [hex_colour(dominant_colour(strip)) for strip in outside if strip is not None and len(strip)]
    if beyond and _fading(colours[sides[0]], beyond, pixels, flat, sides, bend):
        return None
    return Border((widths[0], widths[1], widths[2], widths[3]), colours[sides[0]])


def _measure_side(pixels: Pixels, flat: FlatRect, side: int, bend: int) -> tuple[float, str]:
    """Return the width of the border on a side and its colour; the width is 0 if it has none."""
    border = ""
    for away in range(1, THICKEST + 2):
        strip = side_strip(pixels, flat.rect, side, away, bend)
        if strip is None or not len(strip):
            break
        colour = dominant_colour(strip)
        if not is_even(strip, colour):
            is_ended = away > 1 and _is_unlike(strip, border)  # a gradient or a photograph is around it
            return (away - 1 if is_ended else 0.0), border
        name = hex_colour(colour)
        if away == 1:
            if colour_distance(name, flat.colour) <= SAME:
                break
            border = name
        elif colour_distance(name, border) > SAME:
            return away - 1, border
    return 0.0, border


def is_even(strip: Pixels, colour: NDArray[np.uint8]) -> bool:
    """Whether nearly all pixels have a colour."""
    return bool((np.abs(strip.astype(np.int16) - colour).max(axis=1) <= EVEN).mean() >= EVEN_SHARE)


def _is_unlike(strip: Pixels, colour: str) -> bool:
    """Whether nearly all pixels differ clearly from a colour."""
    off = np.abs(strip.astype(np.int16) - np.array(rgb_parts(colour), np.int16)).max(axis=1)
    return float((off > CLEARLY).mean()) >= CLEARLY_SHARE


def _fading(colour: str, outside: list[str], pixels: Pixels, flat: FlatRect, sides: list[int], bend: int) -> bool:
    """Whether a ring is the first step of a shadow: it barely differs from the next."""
    if min(colour_distance(colour, other) for other in outside) > FAINT:
        return False
    if len(sides) == SIDES and max(colour_distance(outside[0], other) for other in outside) > 1:
        return False
    further = [side_strip(pixels, flat.rect, side, FADED_AWAY, bend) for side in sides]
    steps = [hex_colour(dominant_colour(strip)) for strip in further if strip is not None and len(strip)]
    return bool(steps) and min(colour_distance(ring, step) for ring, step in zip(outside, steps, strict=False)) > 0
