"""Finds flat rectangles: areas of one colour with straight or round corners."""

import itertools
from dataclasses import dataclass

import numpy as np

from heald_local.see.corners import STRAIGHT, corner_radius, row_ends, straight_share
from heald_pictures.colours import dominant_colour, hex_colour
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels, Regions

LEAST_AREA = 24  # pixels of a region: smaller ones are parts of letters
LEAST_SIDE = 7  # pixels: a thinner part is a line
THICKEST_LINE, SHORTEST_LINE, LINE_FILLED = 4, 24, 0.9
"""Pixels of a thin region that is a line, and the part of its rectangle that it fills: others are letters' strokes."""
SLIVER_FILLED = 0.85  # a region that fills less of a thin part of it is a frame or a letter, and that part no line
LEAST_COVER, LARGE_AREA = 0.12, 200_000
"""The part of a rectangle that has its colour, unless it has so many pixels: it is the ground of a page then."""
LEAST_CUT_SIDE, LEAST_CUT_AREA = 24, 4000  # pixels of an outline that is cut where its sides jump
LEAST_JUMP = 6  # pixels by which a side jumps there: less is a round corner
LEAST_PART = 8  # rows between two jumps
SAME_SIDE = 2  # pixels by which the sides of two parts of one rectangle differ
MOST_PARTS = 6  # of an outline: one with more is not a rectangle, L or T


@dataclass(frozen=True, slots=True)
class FlatRect:
    """A rectangle of nearly one colour; `region` is the label of its pixels."""

    rect: Rect
    colour: str
    radius: float
    region: int
    cover: float  # the part of the rectangle that has the colour


def find_flats(pixels: Pixels, regions: Regions) -> list[FlatRect]:
    """Find all flat rectangles, largest first."""
    edges = regions.edges
    wide, high = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
    thin = (np.minimum(wide, high) <= THICKEST_LINE) & (np.maximum(wide, high) >= SHORTEST_LINE)
    lines = thin & (regions.area >= LINE_FILLED * wide * high)
    solid = (regions.area >= LEAST_AREA) & (np.minimum(wide, high) >= LEAST_SIDE)
    flats: list[FlatRect] = []
    for number in np.flatnonzero(lines | solid):
        flats += _flats(pixels, regions, int(number))
    flats.sort(key=lambda flat: -flat.rect.area)
    return flats


def _flats(pixels: Pixels, regions: Regions, number: int) -> list[FlatRect]:
    left, top, right, bottom = (int(edge) for edge in regions.edges[number])
    mask = regions.mask(number)
    colour = hex_colour(dominant_colour(pixels[top:bottom, left:right][mask]))
    area = int(regions.area[number])
    flats: list[FlatRect] = []
    for start, end, near, far in _plateaus(mask):
        rect = spanning((left + near, top + start, left + far, top + end))
        part = mask[start:end, near:far]
        if min(part.shape) < LEAST_SIDE and area < SLIVER_FILLED * rect.area:
            continue
        radius = corner_radius(part)
        if radius is None:
            continue
        cover = float(part.mean())
        if cover < LEAST_COVER and rect.area < LARGE_AREA:
            continue
        flats.append(FlatRect(rect, colour, radius, number, cover))
    return flats


def _plateaus(mask: Mask) -> list[tuple[int, int, int, int]]:
    """Cut an outline where its sides jump: one part for a rectangle, two or three for an L or a T."""
    height, width = mask.shape
    left, right = row_ends(mask)
    if straight_share(left, 0) >= STRAIGHT and straight_share(right, width) >= STRAIGHT:
        return [(0, height, 0, width)]
    if min(height, width) < LEAST_CUT_SIDE or mask.size < LEAST_CUT_AREA or corner_radius(mask) is not None:
        return [(0, height, 0, width)]
    jumps = np.flatnonzero((np.abs(np.diff(left)) > LEAST_JUMP) | (np.abs(np.diff(right)) > LEAST_JUMP)) + 1
    bounds = [0, *(int(jump) for jump in jumps), height]
    parts: list[tuple[int, int, int, int]] = []
    for start, end in itertools.pairwise(bounds):
        if end - start < LEAST_PART:
            continue
        near, far = int(np.median(left[start:end])), int(np.median(right[start:end]))
        if parts and abs(parts[-1][2] - near) <= SAME_SIDE and abs(parts[-1][3] - far) <= SAME_SIDE:
            parts[-1] = (parts[-1][0], end, near, far)
            continue
        parts.append((start, end, near, far))
    return parts if len(parts) <= MOST_PARTS else []
