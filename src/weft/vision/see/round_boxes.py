"""Finds outlined boxes with round ends, such as chips and round buttons, whose border has hardly a straight side."""

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
ASIDE = (-0.7, 0.0, 0.7)  # pixels beside a place that are looked at too
REACH = 4.0  # pixels around the expected place of the border


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
    bend = rect.h / 2
    middle = rect.y + bend
    half = np.linspace(-math.pi / 2, math.pi / 2, ANGLES)
    ends = ((rect.x + bend, half + math.pi), (rect.right - bend, half))
    seen = [_look_outward(pixels, across, middle, angle, bend, inside) for across, turn in ends for angle in turn]
    places = [each for each in seen if each is not None]
    if len(seen) - len(places) > MOST_MISSED * len(seen):
        return None
    radius = float(np.median([each.away for each in places]))
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
    outer = radius + 0.5
    slip = outer - bend
    place = spanning((round(rect.x - slip), round(rect.y - slip), round(rect.right + slip), round(rect.bottom + slip)))
    return Box(place, inside, place.h / 2, Border((1.0, 1.0, 1.0, 1.0), hex_colour(np.median(strong, axis=0))))


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
