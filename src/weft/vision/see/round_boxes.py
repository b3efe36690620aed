"""Finds outlined boxes with round ends, such as chips and round buttons, whose border has hardly a straight side, and
measures filled boxes with round corners by the pixels that they cover in part.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Border, Box, Rect, spanning
from weft.vision.see.regions import Pixels, colour_distance, dominant_colour, hex_colour, rgb_parts

HEIGHTS = (14.0, 72.0)
ROUND = 0.3  # of the shorter side: the radius from which on a flat rectangle may have round ends
LINE = 3.0  # pixels of a thick border
ANGLES = 9  # places at which each end is looked at
LEAST_CONTRAST = 10  # levels by which a border differs from what is inside and outside
MOST_MISSED = 0.12  # the part of the places at which no border is seen
SLIP = 1.5  # pixels by which the border may be nearer or farther than usual
BULGE = 0.6  # pixels by which it may be farther away in slanting directions: more is a corner, and no round end
ASIDE = (-0.7, 0.0, 0.7)  # pixels beside a place that are looked at too
REACH = 4.0  # pixels around the expected place of the border
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


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A border seen from the middle of an end: how far away it is, its colour, and the colour behind it."""

    away: float
    colour: NDArray[np.float64]
    ground: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RoundFlat:
    """A flat rectangle as `boxes` finds it: its place, its colour, its radius."""

    rect: Rect
    colour: str
    radius: float


def find_round_boxes(pixels: Pixels, areas: Sequence[RoundFlat], lines: Sequence[RoundFlat]) -> list[Box]:
    """Return boxes with a border all around and round ends; `lines` are thin flat rectangles."""
    found: list[Box] = []
    for rect, inside in (*_ring_places(areas), *_line_pairs(pixels, lines)):
        box = _check_ends(pixels, rect, inside)
        if box is not None and not any(other.rect.common(box.rect) > 0.5 * box.rect.area for other in found):
            found.append(box)
    return found


def _ring_places(areas: Sequence[RoundFlat]) -> Iterator[tuple[Rect, str]]:
    """Yield the outer places of flat rectangles with round corners, as if they had a thin border."""
    low, high = HEIGHTS
    for flat in areas:
        rect, short = flat.rect, min(flat.rect.w, flat.rect.h)
        if low <= rect.h <= high and rect.w >= 0.95 * rect.h and flat.radius >= ROUND * short:
            yield rect.grown(2 if rect.w - rect.h < 2 else 1), flat.colour


def _line_pairs(pixels: Pixels, lines: Sequence[RoundFlat]) -> Iterator[tuple[Rect, str]]:
    """Yield the places between two level lines of one length and colour, with room for round ends."""
    low, high = HEIGHTS
    level = sorted((line for line in lines if line.rect.h <= LINE and line.rect.w >= 8), key=lambda line: line.rect.y)
    for number, upper in enumerate(level):
        for lower in level[number + 1 :]:
            tall = lower.rect.bottom - upper.rect.y
            if tall > high:
                break
            same = abs(upper.rect.x - lower.rect.x) <= 1 and abs(upper.rect.right - lower.rect.right) <= 1
            if tall < low or not same or colour_distance(upper.colour, lower.colour) > 3:
                continue
            left, right = upper.rect.x - tall / 2, upper.rect.right + tall / 2
            if left < 0 or right > pixels.shape[1]:
                continue
            row = pixels[int(upper.rect.bottom), int(upper.rect.x) : int(upper.rect.right)]
            yield spanning((left, upper.rect.y, right, lower.rect.bottom)), hex_colour(dominant_colour(row))


def _check_ends(pixels: Pixels, rect: Rect, inside: str) -> Box | None:
    """Return the box if a border runs around both ends."""
    place = _move_sides(rect, _look_around(pixels, rect, inside))
    seen = _look_around(pixels, place, inside)
    places = [each for each in seen if each is not None]
    if len(seen) - len(places) > MOST_MISSED * len(seen):
        return None
    radius = float(np.median([each.away for each in places]))
    slanting, level = (
        [each.away for number, each in enumerate(seen) if each is not None and number % ANGLES % 4 == turn]
        for turn in (2, 0)
    )
    if slanting and level and float(np.mean(slanting) - np.mean(level)) > BULGE:
        return None
    grounds = np.stack([each.ground for each in places])
    uneven = np.abs(grounds - np.median(grounds, axis=0)).max(axis=1) > LEAST_CONTRAST
    if max(abs(each.away - radius) for each in places) > SLIP or float(uneven.mean()) > MOST_MISSED:
        return None
    colours = np.stack([each.colour for each in places])
    base = np.array(rgb_parts(inside), np.float64)
    strength = np.abs(colours - base).max(axis=1)
    strong = colours[strength >= np.quantile(strength, 0.7)]
    if float(np.abs(strong - np.median(strong, axis=0)).max()) > 3 * LEAST_CONTRAST:
        return None
    return Box(place, inside, place.h / 2, Border((1.0, 1.0, 1.0, 1.0), hex_colour(np.median(strong, axis=0))))


def _look_around(pixels: Pixels, rect: Rect, inside: str) -> list[_Seen | None]:
    """Return the border around the left end, from below to above, and around the right end, from above to below."""
    bend = rect.h / 2
    half = np.linspace(-math.pi / 2, math.pi / 2, ANGLES)
    ends = ((rect.x + bend, half + math.pi), (rect.right - bend, half))
    return [_look_outward(pixels, x, rect.y + bend, angle, bend, inside) for x, turn in ends for angle in turn]


def _move_sides(rect: Rect, seen: Sequence[_Seen | None]) -> Rect:
    """Move the sides to where the border ends straight above, below, to the left and to the right.

    Half pixels are looked at, and the pixel that one lies in is the next one up or to the left: a border of one pixel
    ends a quarter of a pixel beyond the middle of what is seen there, and three quarters below and to the right.
    """
    bend, last = rect.h / 2, ANGLES - 1

    def beyond(numbers: Sequence[int], rest: float) -> float:
        found = [each.away for number in numbers if (each := seen[number]) is not None]
        return sum(found) / len(found) + rest - bend if found else 0.0

    left, right = beyond([last // 2], 0.25), beyond([ANGLES + last // 2], 0.75)
    above, below = beyond([last, ANGLES], 0.25), beyond([0, ANGLES + last], 0.75)
    return spanning(
        (round(rect.x - left), round(rect.y - above), round(rect.right + right), round(rect.bottom + below))
    )


def _look_outward(pixels: Pixels, x: float, y: float, angle: float, radius: float, inside: str) -> _Seen | None:
    """Return the border in a direction; None if there is none.

    A thin border lies on several pixels, so that places beside each other are looked at, and the clearest counts.
    """
    steps = np.arange(radius - REACH, radius + REACH + 0.5, 0.5)
    fill = np.array(rgb_parts(inside), np.float64)
    best, clearest = None, float(LEAST_CONTRAST)
    for aside in ASIDE:
        columns = np.floor(x + math.cos(angle) * steps - math.sin(angle) * aside).astype(np.intp)
        rows = np.floor(y + math.sin(angle) * steps + math.cos(angle) * aside).astype(np.intp)
        height, width = pixels.shape[:2]
        if rows.min() < 0 or columns.min() < 0 or rows.max() >= height or columns.max() >= width:
            return None
        colours = pixels[rows, columns].astype(np.float64)
        clear = _off_mixture(colours, fill, colours[-1])
        at = int(clear.argmax())
        if float(np.abs(colours[0] - fill).max()) > LEAST_CONTRAST or not 2 <= at <= len(steps) - 3:
            continue
        if clear[at] >= clearest:
            peak = np.flatnonzero(clear >= clear[at] - 1)
            best, clearest = _Seen(float(steps[peak].mean()), colours[at], colours[-1]), float(clear[at])
    return best


def _off_mixture(
    colours: NDArray[np.float64], one: NDArray[np.float64], two: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far colours are from all mixtures of two others, which the smooth edge of a filled shape has."""
    along = two - one
    part = np.clip((colours - one) @ along / max(float(along @ along), 1.0), 0, 1)
    return np.abs(colours - one - part[:, None] * along).max(axis=1)


def measure_round_box(pixels: Pixels, flat: RoundFlat) -> tuple[Rect, float]:
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
    radius = min(math.sqrt(max(wide * high - float(spans.sum()), 0.0) / (4 * LACKING)), most)
    radius = most if radius > NEARLY_ROUND * most else radius
    x, y = left + float(starts[spans.argmax()]), top + float(uppers[heights.argmax()])
    place = spanning((round(x), round(y), round(x + wide), round(y + high)))
    edges = zip((place.x, place.y, place.right, place.bottom), _edges(flat.rect), strict=True)
    if max(abs(one - two) for one, two in edges) > FARTHEST or not _has_corners(spans, wide, high, radius):
        return flat.rect, flat.radius
    return place, min(place.w, place.h) / 2 if radius == most else float(math.floor(radius + SOFT))


def is_small_disc(pixels: Pixels, flat: RoundFlat) -> bool:
    """Whether a small square with round corners on an even ground is a disc, such as a bullet."""
    rect = flat.rect
    left, top, right, bottom = (int(edge) for edge in _edges(rect.grown(1)))
    if abs(rect.w - rect.h) > 1 or min(left, top) < 0 or right > pixels.shape[1] or bottom > pixels.shape[0]:
        return False
    cover = _find_cover(pixels[top:bottom, left:right], np.array(rgb_parts(flat.colour), np.float64))
    if cover is None:
        return False
    lacking = max(rect.area - float(cover[1:-1, 1:-1].sum()), 0.0)
    return math.sqrt(lacking / (4 * LACKING)) >= SMALL_DISC * min(rect.w, rect.h) / 2


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
