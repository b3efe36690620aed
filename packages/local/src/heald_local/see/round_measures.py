"""Measures filled boxes with round corners by the pixels that they cover in part."""

import math

import numpy as np
from numpy.typing import NDArray

from heald_local.see.flats import FlatRect
from heald_local.see.pixel_units import SIDES
from heald_local.see.round_boxes import LEAST_CONTRAST
from heald_pictures.colours import rgb_parts
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels

MARGIN = 2  # pixels around a filled box that show its ground
UNEVEN, MOST_UNEVEN = 6, 0.02  # levels that a pixel of the ground may be off, and the part of them that may be more
WHOLE = 0.97  # the part of a pixel from which on it is inside
LACKING = 1 - math.pi / 4  # the part of a square that a round corner in it lacks
FARTHEST = 1.5  # pixels by which a side may be off the one that was seen first
MOST_OFF = 0.4  # pixels that the sides may differ from those of a box with the measured corners, on average
SOFT = 0.25  # how much more than a whole radius is still that one: the edge of an arc is drawn a little too faint
NEARLY_ROUND = 0.94  # of half the shorter side: a larger radius is one of round ends
SMALL_DISC = 0.8  # the same for a bullet: few pixels show its radius, and hard edges are those of a wider one
Cover = NDArray[np.float64]  # parts of pixels, or sums of them


def measure_round_box(pixels: Pixels, flat: FlatRect) -> tuple[Rect, float]:
    """Return the place and the radius of a filled box on an even ground; those of the flat rectangle if it is none.

    The flat rectangle has the pixels that are wholly inside. Those at the edge are mixed with the ground, by how much
    of them lies inside; so the sides are known to a part of a pixel, and the radius by what the corners lack.
    """
    left, top = int(flat.rect.x) - MARGIN, int(flat.rect.y) - MARGIN
    right, bottom = int(flat.rect.right) + MARGIN, int(flat.rect.bottom) + MARGIN
    if min(left, top) < 0 or right > pixels.shape[1] or bottom > pixels.shape[0]:
        return flat.rect, flat.radius
    cover = _find_cover(pixels[top:bottom, left:right], np.array(rgb_parts(flat.colour), np.float64))
    if cover is None:
        return flat.rect, flat.radius
    starts, spans = _measure_rows(cover)
    uppers, heights = _measure_rows(cover.T)
    wide, high = float(np.sort(spans)[-2]), float(np.sort(heights)[-2])
    most = min(wide, high) / 2
    lacking = max(wide * high - float(spans.sum()), 0.0)
    corner = min(math.sqrt(lacking / (SIDES * LACKING)), most)
    radius = most if corner > NEARLY_ROUND * most else corner
    x, y = left + float(starts[spans.argmax()]), top + float(uppers[heights.argmax()])
    place = spanning((round(x), round(y), round(x + wide), round(y + high)))
    edges = zip((place.x, place.y, place.right, place.bottom), _edges(flat.rect), strict=True)
    if max(abs(measured - seen) for measured, seen in edges) > FARTHEST or not _has_corners(spans, wide, high, radius):
        return flat.rect, flat.radius
    return place, min(place.w, place.h) / 2 if radius == most else float(math.floor(radius + SOFT))


def is_small_disc(pixels: Pixels, flat: FlatRect) -> bool:
    """Whether a small square with round corners on an even ground is a disc, such as a bullet."""
    rect = flat.rect
    left, top, right, bottom = (int(edge) for edge in _edges(rect.grown(1)))
    if abs(rect.w - rect.h) > 1 or min(left, top) < 0 or right > pixels.shape[1] or bottom > pixels.shape[0]:
        return False
    cover = _find_cover(pixels[top:bottom, left:right], np.array(rgb_parts(flat.colour), np.float64))
    if cover is None:
        return False
    lacking = max(rect.area - float(cover[1:-1, 1:-1].sum()), 0.0)
    return math.sqrt(lacking / (SIDES * LACKING)) >= SMALL_DISC * min(rect.w, rect.h) / 2


def _edges(rect: Rect) -> tuple[float, float, float, float]:
    return rect.x, rect.y, rect.right, rect.bottom


def _find_cover(part: Pixels, fill: Cover) -> Cover | None:
    """Return how much of each pixel a fill covers; None if the ground around is not even or nearly as the fill."""
    ring = np.concatenate((part[0], part[-1], part[:, 0], part[:, -1])).astype(np.float64)
    ground = np.median(ring, axis=0)
    along = fill - ground
    off = np.abs(ring - ground).max(axis=1) > UNEVEN
    if float(off.mean()) > MOST_UNEVEN or float(np.abs(along).max()) < LEAST_CONTRAST:
        return None
    return np.clip((part - ground) @ along / float(along @ along), 0, 1)


def _measure_rows(cover: Cover) -> tuple[Cover, Cover]:
    """Return where each row begins, and how long it is from its begin to its end, whatever lies between."""
    wide = cover.shape[1]
    inside: NDArray[np.bool_] = cover >= WHOLE
    counted: NDArray[np.intp] = np.arange(wide, dtype=np.intp)
    first, last = inside.argmax(axis=1), wide - 1 - inside[:, ::-1].argmax(axis=1)
    before = np.where(counted < first[:, None], 1 - cover, 0.0).sum(axis=1)
    after = np.where(counted > last[:, None], 1 - cover, 0.0).sum(axis=1)
    whole = inside.any(axis=1)
    partly: Cover = cover.sum(axis=1)
    return np.where(whole, before, 0.0), np.where(whole, wide - before - after, partly)


def _has_corners(spans: Cover, wide: float, high: float, radius: float) -> bool:
    """Whether the rows of a box are as long as those of one with such corners."""
    rows = np.flatnonzero(spans >= 1)
    if abs(len(rows) - high) > 2:
        return False
    middle = (rows[0] + rows[-1]) / 2
    into = np.clip(np.abs(rows - middle) - (high / 2 - radius), 0, radius)
    return float(np.abs(wide - 2 * (radius - np.sqrt(radius**2 - into**2)) - spans[rows]).mean()) <= 2 * MOST_OFF
