"""Finds outlined boxes with round ends, such as chips and round buttons, whose border has hardly a straight side."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.flats import FlatRect
from heald_pictures.colours import colour_distance, dominant_colour, hex_colour, rgb_parts
from heald_pictures.elements import Border, Box
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels

HEIGHTS = (14.0, 72.0)
ROUND = 0.3  # of the shorter side: the radius from which on a flat rectangle may have round ends
LINE = 3.0  # pixels of a thick border
ANGLES = 9  # places at which each end is looked at
LEAST_CONTRAST = 10  # levels by which a border differs from what is inside and outside
MOST_MISSED = 0.12  # the part of the places at which no border is seen
SLIP = 1.5  # pixels by which the border may be nearer or farther than usual
BULGE = 0.6  # pixels by which it may be farther away in slanting directions: more is a corner, and no round end
SAME_BOX = 0.5  # the part of a box from which on it was found before
SQUARE = 0.95  # the least width, in parts of the height
SHORTEST_LINE = 8  # pixels of the straight part of a border above and below
SAME_COLOUR = 3  # levels by which these two differ
SLANT = 4  # of the places at an end, each fourth looks to a side, above or below, and those between them slantwise
STRONGEST = 0.7  # the quantile of places that show the colour of the border
SAME_BORDER = 3 * LEAST_CONTRAST  # levels by which it may differ from place to place
STEP = 0.5  # pixels from look to look
NEAR_SIDE, FAR_SIDE = 0.25, 0.75  # pixels from what is seen of a border to its end: above and left, below and right
WITHIN = 2  # looks before and behind the border that show what is beside it
PEAK = 1  # levels by which the looks at a border differ
ASIDE = (-0.7, 0.0, 0.7)  # pixels beside a place that are looked at too
REACH = 4.0  # pixels around the expected place of the border


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A border seen from the middle of an end: how far away it is, its colour, and the colour behind it."""

    away: float
    colour: NDArray[np.float64]
    ground: NDArray[np.float64]


def find_round_boxes(pixels: Pixels, areas: Sequence[FlatRect], lines: Sequence[FlatRect]) -> list[Box]:
    """Return boxes with a border all around and round ends; `lines` are thin flat rectangles."""
    boxes: list[Box] = []
    for rect, inside in (*_ring_places(areas), *_line_pairs(pixels, lines)):
        box = _check_ends(pixels, rect, inside)
        if box is not None and not any(other.rect.common(box.rect) > SAME_BOX * box.rect.area for other in boxes):
            boxes.append(box)
    return boxes


def _ring_places(areas: Sequence[FlatRect]) -> Iterator[tuple[Rect, str]]:
    """Yield the outer places of flat rectangles with round corners, as if they had a thin border."""
    low, high = HEIGHTS
    for flat in areas:
        rect, short = flat.rect, min(flat.rect.w, flat.rect.h)
        if low <= rect.h <= high and rect.w >= SQUARE * rect.h and flat.radius >= ROUND * short:
            yield rect.grown(2 if rect.w - rect.h < 2 else 1), flat.colour


def _line_pairs(pixels: Pixels, lines: Sequence[FlatRect]) -> Iterator[tuple[Rect, str]]:
    """Yield the places between two level lines of one length and colour, with room for round ends."""
    low, high = HEIGHTS
    level = sorted(
        (line for line in lines if line.rect.h <= LINE and line.rect.w >= SHORTEST_LINE), key=lambda line: line.rect.y
    )
    for number, upper in enumerate(level):
        for lower in level[number + 1 :]:
            tall = lower.rect.bottom - upper.rect.y
            if tall > high:
                break
            same = abs(upper.rect.x - lower.rect.x) <= 1 and abs(upper.rect.right - lower.rect.right) <= 1
            if tall < low or not same or colour_distance(upper.colour, lower.colour) > SAME_COLOUR:
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
    places = [look for look in seen if look is not None]
    if len(seen) - len(places) > MOST_MISSED * len(seen):
        return None
    radius = float(np.median([look.away for look in places]))
    slanting, level = (
        [look.away for number, look in enumerate(seen) if look is not None and number % ANGLES % SLANT == turn]
        for turn in (SLANT // 2, 0)
    )
    if slanting and level and float(np.mean(slanting) - np.mean(level)) > BULGE:
        return None
    grounds = np.stack([look.ground for look in places])
    uneven = np.abs(grounds - np.median(grounds, axis=0)).max(axis=1) > LEAST_CONTRAST
    if max(abs(look.away - radius) for look in places) > SLIP or float(uneven.mean()) > MOST_MISSED:
        return None
    colours = np.stack([look.colour for look in places])
    base = np.array(rgb_parts(inside), np.float64)
    strength = np.abs(colours - base).max(axis=1)
    strong = colours[strength >= np.quantile(strength, STRONGEST)]
    if float(np.abs(strong - np.median(strong, axis=0)).max()) > SAME_BORDER:
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
        away = [look.away for number in numbers if (look := seen[number]) is not None]
        return sum(away) / len(away) + rest - bend if away else 0.0

    left, right = beyond([last // 2], NEAR_SIDE), beyond([ANGLES + last // 2], FAR_SIDE)
    above, below = beyond([last, ANGLES], NEAR_SIDE), beyond([0, ANGLES + last], FAR_SIDE)
    return spanning(
        (round(rect.x - left), round(rect.y - above), round(rect.right + right), round(rect.bottom + below))
    )


def _look_outward(pixels: Pixels, x: float, y: float, angle: float, radius: float, inside: str) -> _Seen | None:
    """Return the border in a direction; None if there is none.

    A thin border lies on several pixels, so that places beside each other are looked at, and the clearest counts.
    """
    steps = np.arange(radius - REACH, radius + REACH + STEP, STEP)
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
        if float(np.abs(colours[0] - fill).max()) > LEAST_CONTRAST or not WITHIN <= at < len(steps) - WITHIN:
            continue
        if clear[at] >= clearest:
            peak = np.flatnonzero(clear >= clear[at] - PEAK)
            best, clearest = _Seen(float(steps[peak].mean()), colours[at], colours[-1]), float(clear[at])
    return best


def _off_mixture(
    colours: NDArray[np.float64], inside: NDArray[np.float64], outside: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far colours are from all mixtures of two others, which the smooth edge of a filled shape has."""
    along = outside - inside
    part = np.clip((colours - inside) @ along / max(float(along @ along), 1.0), 0, 1)
    return np.abs(colours - inside - part[:, None] * along).max(axis=1)
