"""Recognises boxes with a dashed border, such as places to drop files on and buttons that add something."""

import numpy as np

from heald_pictures.colours import hex_colour
from heald_pictures.elements import Border, Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels, distance_between

LEAST_WIDE, LEAST_HIGH = 40, 24  # pixels
EDGE = 4  # pixels at each side that the border lies in
ROUND = 12  # pixels at each end of a side that are not looked at: the corner may be round
DASHED = (0.35, 0.93)  # the part of a side that dashes cover
FEWEST_DASHES = 3  # of a side
DRAWN_ROW = 0.25  # the part of a row of the border that dashes cover
STRONG = 0.8  # the part of the strongest contrast that pixels have which show the colour of dashes
LONG = 3 * ROUND  # pixels of a side: half of the corners is looked at on shorter ones
MOST_INSIDE = 0.1  # the part of the inside that an icon may cover; its text is not counted
SLANTING = 1 - 0.5**0.5  # the pixels along the diagonal between a square corner and a round one, for a radius of 1


def find_dashed_box(pixels: Pixels, page: Pixels, differs: Mask, rect: Rect) -> Box | None:
    """Return the box whose dashed border is what differs from the painted page at the sides of a rectangle."""
    if rect.w < LEAST_WIDE or rect.h < LEAST_HIGH:
        return None
    place = slice(int(rect.y), int(rect.bottom)), slice(int(rect.x), int(rect.right))
    part = differs[place]
    sides = part[:EDGE], part[-EDGE:][::-1], part[:, :EDGE].T, part[:, -EDGE:].T[::-1]
    inner = part[EDGE:-EDGE, EDGE:-EDGE]
    if float(inner.mean()) > MOST_INSIDE or not all(_is_dashed(side) for side in sides):
        return None
    wide = max(int((side[:, ROUND:-ROUND].mean(axis=1) > DRAWN_ROW).sum()) for side in sides)
    ring = part.copy()
    ring[EDGE:-EDGE, EDGE:-EDGE] = False
    away = distance_between(pixels[place], page[place])
    strong = pixels[place][ring & (away >= STRONG * int(away[ring].max()))]
    colour = hex_colour(np.median(strong, axis=0))
    fill = hex_colour(np.median(page[place][EDGE:-EDGE, EDGE:-EDGE], axis=(0, 1)))
    border = Border((wide, wide, wide, wide), colour, dashed=True)
    return Box(rect, fill, _measure_radius(part), border)


def _is_dashed(side: Mask) -> bool:
    drawn = np.asarray(side.any(axis=0), np.bool_)
    corner = ROUND if len(drawn) > LONG else ROUND // 2
    line = drawn[corner:-corner]
    dashes = int((line[1:] & ~line[:-1]).sum())
    low, high = DASHED
    return dashes >= FEWEST_DASHES and low <= float(line.mean()) <= high


def _measure_radius(part: Mask) -> float:
    """Return the radius of the corners, by how far the border is from them along the diagonals."""
    corners = part, part[::-1], part[:, ::-1], part[::-1, ::-1]
    distances = [at for corner in corners if (at := _first_on_diagonal(corner)) is not None]
    return float(round(float(np.median(distances)) / SLANTING)) if distances else 0.0


def _first_on_diagonal(corner: Mask) -> int | None:
    near = [at for at in range(ROUND // 2) if corner[at, max(at - 1, 0) : at + 2].any()]
    return near[0] if near else None
