"""Finds the marks of a chart on its plot: rules, sectors, bars.

Each `find_…` removes the pixels that it explains from the mask of those that are left. Places are pixels of the plot.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Rect, spanning
from weft.vision.see.pictures import find_patches
from weft.vision.see.regions import Mask, Pixels, label_islands

EQUAL = 4  # levels by which pixels of one colour differ
SEEN = 8  # levels by which a mark differs from the paper
LONG = 40  # pixels of a rule, at least
MOST_COLOURS = 24
LEAST_DISC = 56

Colour = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plot:
    """The pixels of a chart without its texts, the colour of its paper, and which pixels no mark explains yet."""

    pixels: Pixels
    paper: Colour
    left: Mask

    def distance(self, colour: Colour) -> NDArray[np.float64]:
        return np.abs(self.pixels.astype(np.float64) - colour).max(axis=2)


@dataclass(frozen=True, slots=True)
class RuleMark:
    """A straight line of an axis or a grid."""

    rect: Rect
    colour: Colour


@dataclass(frozen=True, slots=True)
class BarMark:
    """A filled rectangle; its corners are round by these radii, from the top left clockwise."""

    rect: Rect
    colour: Colour
    radii: tuple[float, float, float, float]


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


def make_plot(pixels: Pixels, paper: Colour) -> Plot:
    differs = np.abs(pixels.astype(np.float64) - paper).max(axis=2) > SEEN
    return Plot(pixels, paper, np.asarray(differs, np.bool_))


def find_colours(plot: Plot) -> list[Colour]:
    """Return the colours that many pixels have exactly, commonest first."""
    values = plot.pixels[plot.left].astype(np.int64)
    if not len(values):
        return []
    keys, counts = np.unique(values @ np.array([65536, 256, 1]), return_counts=True)
    least = max(16, 0.0006 * plot.left.size)
    found: list[Colour] = []
    for at in np.argsort(-counts):
        if counts[at] < least or len(found) == MOST_COLOURS:
            break
        key = int(keys[at])
        colour = np.array([key >> 16, key >> 8 & 255, key & 255], np.float64)
        if all(float(np.abs(colour - other).max()) > EQUAL for other in found):
            found.append(colour)
    return found


def find_rules(plot: Plot, colours: list[Colour]) -> list[RuleMark]:
    """Find lines of at most two pixels that have the same on both sides."""
    found: list[RuleMark] = []
    for colour in colours:
        same = (plot.distance(colour) <= EQUAL) & plot.left
        for upright in (False, True):
            mask = same.T if upright else same
            pixels = plot.pixels.transpose(1, 0, 2) if upright else plot.pixels
            for rect in _level_lines(mask, pixels.astype(np.int16)):
                turned = Rect(rect.y, rect.x, rect.h, rect.w) if upright else rect
                found.append(RuleMark(turned, colour))
    for rule in found:
        part = (slice(int(rule.rect.y), int(rule.rect.bottom)), slice(int(rule.rect.x), int(rule.rect.right)))
        plot.left[part] &= np.abs(plot.pixels[part].astype(np.float64) - rule.colour).max(axis=2) > EQUAL
    return found


def _level_lines(mask: Mask, pixels: NDArray[np.int16]) -> Iterator[Rect]:
    height = len(mask)
    used = -1
    for row in np.flatnonzero(mask.sum(axis=1) >= LONG).tolist():
        if row <= used:
            continue
        thick = 2 if row + 1 < height and int((mask[row] & mask[row + 1]).sum()) >= 0.8 * int(mask[row].sum()) else 1
        columns = np.flatnonzero(mask[row])
        above, below = max(row - 1, 0), min(row + thick, height - 1)
        free = np.abs(pixels[above, columns] - pixels[below, columns]).max(axis=1) <= 2 * EQUAL
        apart = np.abs(pixels[above, columns] - pixels[row, columns]).max(axis=1) > EQUAL
        at_edge = row == 0 or row + thick >= height
        if not at_edge and float((free & apart).mean()) < 0.3:
            continue
        used = row + thick - 1
        runs = [run for run in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1) if len(run) >= 3]
        if runs and sum(map(len, runs)) >= LONG:
            yield spanning((int(runs[0][0]), row, int(runs[-1][-1]) + 1, row + thick))


def find_bars(plot: Plot, colours: list[Colour]) -> list[BarMark]:
    """Find filled rectangles, with edges in parts of a pixel and round corners."""
    found: list[BarMark] = []
    for colour in colours:
        same = (plot.distance(colour) <= EQUAL) & plot.left
        islands = label_islands(same)
        for number in range(1, len(islands.area)):
            left, top, right, bottom = (int(edge) for edge in islands.edges[number])
            wide, high = right - left, bottom - top
            if min(wide, high) < 3 or islands.area[number] < 0.86 * wide * high:
                continue
            bar = _measure_bar(plot, colour, spanning((left, top, right, bottom)), islands.mask(number))
            found.append(bar)
    for bar in found:
        explain(plot, bar.rect.grown(1.5))
    return found


def _measure_bar(plot: Plot, colour: Colour, core: Rect, mask: Mask) -> BarMark:
    """Return a bar with the parts of pixels that its edges cover."""
    height, width = plot.left.shape
    left, top, right, bottom = int(core.x), int(core.y), int(core.right), int(core.bottom)
    rows, columns = slice(top + (bottom - top) // 4, bottom - (bottom - top) // 4), slice(left + 2, right - 2)
    columns = columns if right - left > 5 else slice(left, right)

    near = _edge_part(plot, colour, plot.pixels[rows, max(left - 1, 0)], plot.pixels[rows, max(left - 2, 0)])
    far = _edge_part(
        plot, colour, plot.pixels[rows, min(right, width - 1)], plot.pixels[rows, min(right + 1, width - 1)]
    )
    over = _edge_part(plot, colour, plot.pixels[max(top - 1, 0), columns], plot.pixels[max(top - 2, 0), columns])
    under = _edge_part(
        plot, colour, plot.pixels[min(bottom, height - 1), columns], plot.pixels[min(bottom + 1, height - 1), columns]
    )
    rect = spanning((left - near, top - over, right + far, bottom + under))
    bends = [_bend(corner) for corner in _corners(mask)]
    near_all = max(bends) - min(bends) <= 1.5
    radii = [float(round(sum(bends) / 4))] * 4 if near_all else bends
    return BarMark(rect, colour, (radii[0], radii[1], radii[2], radii[3]))


def _bend(corner: Mask) -> float:
    """Return the radius of a corner from the pixels that it lacks."""
    missing = int((~corner).sum())
    return float(round(math.sqrt(missing / (1 - math.pi / 4)))) if missing >= 2 else 0.0


def _edge_part(plot: Plot, colour: Colour, edge: Pixels, beyond: Pixels) -> float:
    """Return how much of the pixels at an edge a bar covers; the rest is paper, or the bar beyond."""
    shown, next_to = (np.median(each.reshape(-1, 3).astype(np.float64), axis=0) for each in (edge, beyond))
    for other in (plot.paper, next_to):
        direction = colour - other
        size = float(direction @ direction)
        if size < 100:
            continue
        part = float((shown - other) @ direction) / size
        if 0.06 < part < 0.98 and float(np.abs(shown - other - part * direction).max()) < 12:
            return part
    between = min(float(np.abs(each - plot.paper).max()) for each in (shown, next_to)) > 3 * SEEN
    return 0.5 if between and float(np.abs(next_to - colour).max()) > 3 * SEEN else 0.0


def _corners(mask: Mask) -> list[Mask]:
    half = min(min(mask.shape) // 2, 16)
    return [mask[:half, :half], mask[:half, -half:], mask[-half:, -half:], mask[-half:, :half]]


def explain(plot: Plot, rect: Rect) -> None:
    """Mark the pixels of a rectangle as explained."""
    part = rect.within(plot.left.shape[1], plot.left.shape[0])
    plot.left[int(part.y) : math.ceil(part.bottom), int(part.x) : math.ceil(part.right)] = False


def find_sectors(plot: Plot, colours: list[Colour]) -> list[SectorMark]:
    """Find discs and rings, and the sectors of each."""
    found: list[SectorMark] = []
    for patch in find_patches(plot.left):
        rect = patch.rect
        if min(rect.w, rect.h) < LEAST_DISC or abs(rect.w - rect.h) > 0.03 * rect.w + 2:
            continue
        x, y, outer = rect.x + rect.w / 2, rect.y + rect.h / 2, (rect.w + rect.h) / 4
        inner = _hole_radius(plot, x, y, outer)
        sectors = _split_disc(plot, (x, y, outer - 0.3, inner), colours)
        if sectors:
            found += sectors
            explain(plot, rect.grown(1))
    return found


def _ring(plot: Plot, x: float, y: float, radius: float, count: int) -> NDArray[np.float64]:
    angles = np.arange(count) * 2 * math.pi / count
    columns = np.clip((x + radius * np.cos(angles)).astype(int), 0, plot.pixels.shape[1] - 1)
    rows = np.clip((y + radius * np.sin(angles)).astype(int), 0, plot.pixels.shape[0] - 1)
    return plot.pixels[rows, columns].astype(np.float64)


def _hole_radius(plot: Plot, x: float, y: float, outer: float) -> float:
    """Return the radius of the hole in a ring; 0 for a disc."""
    for radius in np.arange(0.93 * outer, 2, -0.5):
        shown = _ring(plot, x, y, float(radius), 180)
        if float((np.abs(shown - plot.paper).max(axis=1) <= SEEN).mean()) > 0.9:
            return float(radius) + 0.5
    return 0.0


def _split_disc(plot: Plot, disc: tuple[float, float, float, float], colours: list[Colour]) -> list[SectorMark]:
    x, y, outer, inner = disc
    middle = (outer + inner) / 2 if inner else 0.7 * outer
    count = 1440
    shown = _ring(plot, x, y, middle, count)
    edge = _ring(plot, x, y, outer - 2, count)
    outside = _ring(plot, x, y, outer + 2.5, count)
    round_enough = float((np.abs(edge - plot.paper).max(axis=1) > SEEN).mean()) > 0.85
    if not round_enough or float((np.abs(outside - plot.paper).max(axis=1) <= SEEN).mean()) < 0.9 or not colours:
        return []
    away = np.stack([np.abs(shown - colour).max(axis=1) for colour in colours])
    names = np.where(away.min(axis=0) <= 2 * EQUAL, away.argmin(axis=0), -1)
    if float((names < 0).mean()) > 0.15:
        return []
    starts = np.flatnonzero(names != np.roll(names, 1))
    if not len(starts):
        turn = 2 * math.pi
        return [SectorMark(x, y, outer, inner, 0.0, turn, colours[int(names[0])], 0.0)]
    runs = [(int(start), int(names[start]), int(end)) for start, end in zip(starts, np.roll(starts, -1), strict=True)]
    runs = [(start, name, end if end > start else end + count) for start, name, end in runs]
    wide = [run for run in runs if run[1] >= 0 and run[2] - run[0] >= 8]
    gaps = [run[2] - run[0] for run in runs if run[1] < 0 and run[2] - run[0] < 40]
    found: list[SectorMark] = []
    for at, (start, name, end) in enumerate(wide):
        before, after = wide[at - 1][2] % count, wide[(at + 1) % len(wide)][0]
        begin = (start + before - (count if before > start else 0)) / 2
        finish = (end + after + (count if after < end - count / 2 else 0)) / 2
        gap = float(np.median(gaps)) * 2 * math.pi * middle / count if gaps else 0.0
        step = 2 * math.pi / count
        found.append(SectorMark(x, y, outer, inner, begin * step, finish * step, colours[name], max(gap - 1, 0.0)))
    return found
