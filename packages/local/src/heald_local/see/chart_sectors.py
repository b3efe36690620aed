"""Finds discs and rings of a chart, and the sectors of each."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.patches import find_patches
from heald_local.see.plot import EQUAL, SEEN, Colour, Plot, explain

LEAST_DISC = 56  # pixels across a disc
OVAL, OVAL_SHARE = 2, 0.03  # pixels, and the part of its width, by which its sides may differ
SMOOTH = 0.3  # pixels of its radius that are a smooth edge
RING_FROM, RING_STEP, RING_COUNT = 0.93, 0.5, 180
"""The hole of a ring: the largest radius that is tried, in parts of the outer one, pixels of a step, and places."""
HOLE = 0.9  # the part of the places on a circle that show the paper in a hole, or outside of a disc
DISC_MIDDLE = 0.7  # radii from the middle of a disc to where its sectors are looked at
COUNT = 1440  # places at which they are looked at: four in a degree
EDGE_INSIDE, EDGE_OUTSIDE = 2, 2.5  # pixels from the edge to where a disc is, and is not
ROUND = 0.85  # the part of the edge of a disc that is drawn
MOST_UNNAMED = 0.15  # the part of the places that have none of the colours
SHORTEST_SECTOR, LONGEST_GAP = 8, 40  # places


@dataclass(frozen=True, slots=True)
class SectorMark:
    """A part of a disc or a ring, from one angle to another, clockwise from the right."""

    x: float
    y: float
    outer: float
    inner: float
    start: float
    end: float
    colour: Colour
    gap: float  # pixels of paper between two sectors


def find_sectors(plot: Plot, colours: list[Colour]) -> list[SectorMark]:
    """Find discs and rings, and the sectors of each."""
    marks: list[SectorMark] = []
    for patch in find_patches(plot.left):
        rect = patch.rect
        if min(rect.w, rect.h) < LEAST_DISC or abs(rect.w - rect.h) > OVAL_SHARE * rect.w + OVAL:
            continue
        (x, y), outer = rect.middle, (rect.w + rect.h) / 2 / 2
        inner = _hole_radius(plot, x, y, outer)
        sectors = _split_disc(plot, (x, y, outer - SMOOTH, inner), colours)
        if sectors:
            marks += sectors
            explain(plot, rect.grown(1))
    return marks


def _ring(plot: Plot, x: float, y: float, radius: float, count: int) -> NDArray[np.float64]:
    angles = np.arange(count) * 2 * math.pi / count
    columns = np.clip((x + radius * np.cos(angles)).astype(int), 0, plot.pixels.shape[1] - 1)
    rows = np.clip((y + radius * np.sin(angles)).astype(int), 0, plot.pixels.shape[0] - 1)
    return plot.pixels[rows, columns].astype(np.float64)


def _hole_radius(plot: Plot, x: float, y: float, outer: float) -> float:
    """Return the radius of the hole in a ring; 0 for a disc."""
    for radius in np.arange(RING_FROM * outer, 2, -RING_STEP):
        ring = _ring(plot, x, y, float(radius), RING_COUNT)
        if float((np.abs(ring - plot.paper).max(axis=1) <= SEEN).mean()) > HOLE:
            return float(radius) + RING_STEP
    return 0.0


def _split_disc(plot: Plot, disc: tuple[float, float, float, float], colours: list[Colour]) -> list[SectorMark]:
    x, y, outer, inner = disc
    middle = (outer + inner) / 2 if inner else DISC_MIDDLE * outer
    ring = _ring(plot, x, y, middle, COUNT)
    edge = _ring(plot, x, y, outer - EDGE_INSIDE, COUNT)
    outside = _ring(plot, x, y, outer + EDGE_OUTSIDE, COUNT)
    round_enough = float((np.abs(edge - plot.paper).max(axis=1) > SEEN).mean()) > ROUND
    if not round_enough or float((np.abs(outside - plot.paper).max(axis=1) <= SEEN).mean()) < HOLE or not colours:
        return []
    away = np.stack([np.abs(ring - colour).max(axis=1) for colour in colours])
    names = np.where(away.min(axis=0) <= 2 * EQUAL, away.argmin(axis=0), -1)
    if float((names < 0).mean()) > MOST_UNNAMED:
        return []
    starts = np.flatnonzero(names != np.roll(names, 1))
    if not len(starts):
        turn = 2 * math.pi
        return [SectorMark(x, y, outer, inner, 0.0, turn, colours[int(names[0])], 0.0)]
    runs = [(int(start), int(names[start]), int(end)) for start, end in zip(starts, np.roll(starts, -1), strict=True)]
    runs = [(start, name, end if end > start else end + COUNT) for start, name, end in runs]
    wide = [run for run in runs if run[1] >= 0 and run[2] - run[0] >= SHORTEST_SECTOR]
    gaps = [run[2] - run[0] for run in runs if run[1] < 0 and run[2] - run[0] < LONGEST_GAP]
    sectors: list[SectorMark] = []
    for at, (start, name, end) in enumerate(wide):
        before, after = wide[at - 1][2] % COUNT, wide[(at + 1) % len(wide)][0]
        begin = (start + before - (COUNT if before > start else 0)) / 2
        finish = (end + after + (COUNT if after < end - COUNT / 2 else 0)) / 2
        gap = float(np.median(gaps)) * 2 * math.pi * middle / COUNT if gaps else 0.0
        step = 2 * math.pi / COUNT
        sectors.append(SectorMark(x, y, outer, inner, begin * step, finish * step, colours[name], max(gap - 1, 0.0)))
    return sectors
