"""Flat areas that are rectangles, perhaps with round corners: bands, cards, buttons, lines. Found from like pixels.

A region's outline (its leftmost and rightmost pixel in each row) is compared with that of a rounded rectangle, so text
and pictures inside do not matter. What has another shape is no box; it stays for `pictures`.
"""

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from weft.vision.colours import commonest, css
from weft.vision.geometry import Rect, spanning
from weft.vision.regions import Mask, Pixels, Regions

LEAST_AREA = 24
LEAST_SIDE = 7
STRAIGHT = 0.86
"""The part of the rows that must end where the rectangle does."""
BENT = 6
"""From this radius on one side may be less straight: something in a corner, a shadow say, hides more of its rows."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A rectangle of one colour, or nearly: `region` is the label of its pixels."""

    rect: Rect
    colour: str
    radius: float
    region: int
    cover: float
    """The part of the rectangle that has the colour."""


def find_flats(pixels: Pixels, regions: Regions) -> list[Flat]:
    """All flat rectangles, largest first."""
    edges = regions.edges
    wide, high = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
    thin = (np.minimum(wide, high) <= 4) & (np.maximum(wide, high) >= 24) & (regions.area >= 0.9 * wide * high)
    solid = (regions.area >= LEAST_AREA) & (np.minimum(wide, high) >= LEAST_SIDE)
    found: list[Flat] = []
    for number in np.flatnonzero(thin | solid):
        found += _flats(pixels, regions, int(number))
    found.sort(key=lambda flat: -flat.rect.area)
    return found


def _flats(pixels: Pixels, regions: Regions, number: int) -> list[Flat]:
    left, top, right, bottom = (int(edge) for edge in regions.edges[number])
    mask = regions.mask(number)
    colour = css(commonest(pixels[top:bottom, left:right][mask]))
    area = int(regions.area[number])
    flats: list[Flat] = []
    for start, end, near, far in _plateaus(mask):
        rect = spanning((left + near, top + start, left + far, top + end))
        part = mask[start:end, near:far]
        if min(part.shape) < LEAST_SIDE and len(flats) + 1 and area < 0.85 * rect.area:
            continue
        radius = corner_radius(part)
        if radius is None:
            continue
        cover = float(part.mean())
        if cover < 0.12 and rect.area < 200_000:
            continue
        flats.append(Flat(rect, colour, radius, number, cover))
    return flats


def _plateaus(mask: Mask) -> list[tuple[int, int, int, int]]:
    """The outline cut where its sides jump: one part for a rectangle, two or three for an L or a T."""
    height, width = mask.shape
    left, right = _outline(mask)
    if _straight(left, 0) >= STRAIGHT and _straight(right, width) >= STRAIGHT:
        return [(0, height, 0, width)]
    if height < 24 or width < 24 or mask.size < 4000 or corner_radius(mask) is not None:
        return [(0, height, 0, width)]
    jumps = np.flatnonzero((np.abs(np.diff(left)) > 6) | (np.abs(np.diff(right)) > 6)) + 1
    bounds = [0, *(int(jump) for jump in jumps), height]
    parts: list[tuple[int, int, int, int]] = []
    for start, end in itertools.pairwise(bounds):
        if end - start < 8:
            continue
        near, far = int(np.median(left[start:end])), int(np.median(right[start:end]))
        if parts and abs(parts[-1][2] - near) <= 2 and abs(parts[-1][3] - far) <= 2:
            parts[-1] = (parts[-1][0], end, near, far)
            continue
        parts.append((start, end, near, far))
    return parts if len(parts) <= 6 else []


def _outline(mask: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first pixel of each row, and the first after its last; an empty row gives both as the middle."""
    width = mask.shape[1]
    return mask.argmax(axis=1), width - mask[:, ::-1].argmax(axis=1)


def _straight(side: NDArray[np.intp], wanted: int) -> float:
    return float((np.abs(side - wanted) <= 1).mean())


def corner_radius(mask: Mask) -> float | None:
    """The radius of a rounded rectangle that fills its own edges, 0 for square corners, None for another shape."""
    height, width = mask.shape
    left, right = _outline(mask)
    right = width - right
    most = min(height, width) / 2
    guess = _radius_of(left, right, most)
    bends = [_bend(height, guess, at) for at in (0.0, 0.5)]
    one, two = (np.minimum(*(np.abs(side - bend) for bend in bends)) for side in (left, right))
    off = np.minimum(one, two)
    fits = float((one <= 1.6).mean()), float((two <= 1.6).mean())
    if min(fits) >= STRAIGHT or (guess >= BENT and max(fits) >= 0.9 and min(fits) >= STRAIGHT - 0.1):
        return guess
    square = (left <= 1).mean(), (right <= 1).mean()
    if min(square) >= STRAIGHT and float((off <= 1.6).mean()) > 0.5:
        return 0.0
    return None


def _radius_of(left: NDArray[np.intp], right: NDArray[np.intp], most: float) -> float:
    """From the pixels that each corner lacks: a quarter of a circle leaves 0.2146 of its square."""
    half = len(left) // 2
    lacking: list[float] = []
    for side in (left, right):
        for part in (side[:half], side[::-1][:half]):
            bent = np.clip(np.minimum.accumulate(part), 0, most)
            lacking.append(float(bent.sum()))
    middle = float(np.median(lacking))
    if middle > 1500:
        return float(min(round((middle / 0.2146) ** 0.5), most))
    return float(min(int(np.abs(_lacking() - middle).argmin()), most))


@cache
def _lacking() -> NDArray[np.float64]:
    """For each whole radius, how many pixels a round corner lacks: those that are not wholly covered."""
    found: list[float] = []
    for radius in range(90):
        rows = np.arange(radius) + 0.0
        inside = radius - np.sqrt(np.clip(radius**2 - (radius - rows) ** 2, 0, None))
        found.append(float(np.ceil(inside - 0.02).sum()))
    return np.array(found)


def _bend(height: int, radius: float, at: float) -> NDArray[np.float64]:
    """How far a rounded rectangle's side lies inside its edge, row by row.

    It is taken at each row's outer edge (0, for pixels that are wholly inside) or its middle (0.5).
    """
    rows: NDArray[np.float64] = np.arange(height, dtype=np.float64)
    away = np.clip(radius - at - np.minimum(rows, height - 1 - rows), 0, None)
    return radius - np.sqrt(np.clip(radius**2 - away**2, 0, None))
