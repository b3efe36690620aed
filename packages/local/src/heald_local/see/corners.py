"""Measures the corners of a shape: square, round on all sides, or round on one side."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import PIXEL_MIDDLE
from heald_pictures.regions import Mask

STRAIGHT = 0.86  # the part of the rows that must end where the rectangle does
LEAST_JOINED, LEAST_FULL = 20, 0.6  # pixels of a side, and the part of one colour, of a box with one round side
BENT = 6  # pixels: from this radius on one side may be less straight: a shadow in a corner hides rows
BENT_STRAIGHT, OTHER_STRAIGHT = 0.76, 0.9  # the part of the rows of such a side, and of the other one
NEAR = 1.6  # pixels that a row may end beside the place where a smooth edge is expected
SQUARE_NEAR = 0.5  # the part of the rows that are near on one side or the other, of a box with square corners
JOINED_STRAIGHT, JOINED_RADIUS = 0.95, 0.35
"""A box with one round side: the part of the rows of its square side, and its radius in parts of its height."""
LACKING = 0.2146  # the part of a square that a quarter circle in it leaves free: 1 - pi / 4
LARGEST_COUNTED = 90  # pixels: the lacking pixels of smaller radii are counted, those of larger ones computed
MOST_COUNTED = 1500  # pixels that a corner with a counted radius lacks, at most
JUST_COVERED = 0.02  # the part of a pixel that a corner may cover without its being counted as lacking


def row_ends(mask: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first pixel of each row, and the first after its last; the middle for an empty row."""
    width = mask.shape[1]
    return mask.argmax(axis=1), width - mask[:, ::-1].argmax(axis=1)


def straight_share(side: NDArray[np.intp], edge: int) -> float:
    """Return the part of the rows that end at an edge."""
    return float((np.abs(side - edge) <= 1).mean())


def corner_radius(mask: Mask) -> float | None:
    """Return the radius of a rounded rectangle, 0 for square corners, None for another shape."""
    height, width = mask.shape
    left, ends = row_ends(mask)
    right = width - ends
    most = min(height, width) / 2
    guess = _radius_of(left, right, most)
    bends = [_bend(height, guess, at) for at in (0.0, PIXEL_MIDDLE)]
    left_off, right_off = (np.minimum(*(np.abs(side - bend) for bend in bends)) for side in (left, right))
    fits = float((left_off <= NEAR).mean()), float((right_off <= NEAR).mean())
    if min(fits) >= STRAIGHT or (guess >= BENT and max(fits) >= OTHER_STRAIGHT and min(fits) >= BENT_STRAIGHT):
        return guess
    square = (left <= 1).mean(), (right <= 1).mean()
    if min(square) >= STRAIGHT and float((np.minimum(left_off, right_off) <= NEAR).mean()) > SQUARE_NEAR:
        return 0.0
    return _half_round(mask, left, right)


def _half_round(mask: Mask, left: NDArray[np.intp], right: NDArray[np.intp]) -> float | None:
    """Return the radius of a box with round corners on one side alone, as the first of joined buttons has.

    None for another shape: a letter such as D is rounder.
    """
    height, width = mask.shape
    if min(height, width) < LEAST_JOINED or float(mask.mean()) < LEAST_FULL:
        return None
    for bent, straight in ((left, right), (right, left)):
        radius = _radius_of(bent, bent, min(height, width) / 2)
        off = np.abs(bent - _bend(height, radius, 0.0))
        is_round = radius <= JOINED_RADIUS * height and float((off <= NEAR).mean()) >= STRAIGHT
        if is_round and straight_share(straight, 0) >= JOINED_STRAIGHT:
            return radius
    return None


def _radius_of(left: NDArray[np.intp], right: NDArray[np.intp], most: float) -> float:
    """Compute the radius from the pixels that each corner lacks: a quarter circle leaves a known part of its square."""
    half = len(left) // 2
    lacking: list[float] = []
    for side in (left, right):
        for part in (side[:half], side[::-1][:half]):
            bent = np.clip(np.minimum.accumulate(part), 0, most)
            lacking.append(float(bent.sum()))
    middle = float(np.median(lacking))
    if middle > MOST_COUNTED:
        return float(min(round((middle / LACKING) ** (1 / 2)), most))
    return float(min(int(np.abs(_lacking() - middle).argmin()), most))


@cache
def _lacking() -> NDArray[np.float64]:
    """Return, for each whole radius, how many pixels a round corner lacks."""
    counts: list[float] = []
    for radius in range(LARGEST_COUNTED):
        rows = np.arange(radius) + 0.0
        inside = radius - np.sqrt(np.clip(radius**2 - (radius - rows) ** 2, 0, None))
        counts.append(float(np.ceil(inside - JUST_COVERED).sum()))
    return np.array(counts)


def _bend(height: int, radius: float, at: float) -> NDArray[np.float64]:
    """Return how far a rounded rectangle's side lies inside its edge, row by row.

    It is measured at each row's outer edge (0, for pixels that are wholly inside) or its middle (0.5).
    """
    rows: NDArray[np.float64] = np.arange(height, dtype=np.float64)
    away = np.clip(radius - at - np.minimum(rows, height - 1 - rows), 0, None)
    return radius - np.sqrt(np.clip(radius**2 - away**2, 0, None))
