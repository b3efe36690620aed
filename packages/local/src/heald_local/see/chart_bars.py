"""Finds the bars of a chart, with edges in parts of a pixel and round corners."""

import math
from dataclasses import dataclass

import numpy as np

from heald_local.see.plot import EQUAL, SEEN, Colour, Plot, explain
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels, label_islands

LEAST_SIDE = 3  # pixels of a bar
FILLED = 0.86  # the part of its rectangle that a bar fills; its corners may be round
SMOOTH_EDGE = 1.5  # pixels around the core of a bar that its smooth edge lies on
EDGE_SPAN = 4  # a quarter of the height at each end of a side is not looked at, and two columns of a wide side
WIDE, WIDE_END = 5, 2
SAME_BEND = 1.5  # pixels by which the radii of equal corners differ
LARGEST_CORNER = 16  # pixels
LACKING = 1 - math.pi / 4  # the part of a square that a round corner in it lacks
LEAST_LACKING = 2  # pixels that a round corner lacks
LEAST_CONTRAST = 10  # levels, as a distance of colours, from which on a mixture shows its parts
PARTLY = (0.06, 0.98)  # the part of a pixel from and to which it is covered in part
MIXED = 12  # levels that a pixel may be off the mixture of two colours
CLEARLY = 3 * SEEN  # levels by which both neighbours of an edge differ from the paper, if bars touch
HALF = 0.5  # the part of the pixel between two bars that belongs to each


@dataclass(frozen=True, slots=True)
class BarMark:
    """A filled rectangle; its corners are round by these radii, from the top left clockwise."""

    rect: Rect
    colour: Colour
    radii: tuple[float, float, float, float]


def find_bars(plot: Plot, colours: list[Colour]) -> list[BarMark]:
    """Find filled rectangles, with edges in parts of a pixel and round corners."""
    bars: list[BarMark] = []
    for colour in colours:
        same = (plot.distance(colour) <= EQUAL) & plot.left
        islands = label_islands(same)
        for number in range(1, len(islands.area)):
            left, top, right, bottom = (int(edge) for edge in islands.edges[number])
            wide, high = right - left, bottom - top
            if min(wide, high) < LEAST_SIDE or islands.area[number] < FILLED * wide * high:
                continue
            bar = _measure_bar(plot, colour, spanning((left, top, right, bottom)), islands.mask(number))
            bars.append(bar)
    for bar in bars:
        explain(plot, bar.rect.grown(SMOOTH_EDGE))
    return bars


def _measure_bar(plot: Plot, colour: Colour, core: Rect, mask: Mask) -> BarMark:
    """Return a bar with the parts of pixels that its edges cover."""
    height, width = plot.left.shape
    left, top, right, bottom = int(core.x), int(core.y), int(core.right), int(core.bottom)
    end = (bottom - top) // EDGE_SPAN
    rows = slice(top + end, bottom - end)
    columns = slice(left + WIDE_END, right - WIDE_END) if right - left > WIDE else slice(left, right)
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
    are_equal = max(bends) - min(bends) <= SAME_BEND
    radii = [float(round(sum(bends) / len(bends)))] * len(bends) if are_equal else bends
    return BarMark(rect, colour, (radii[0], radii[1], radii[2], radii[3]))


def _bend(corner: Mask) -> float:
    """Return the radius of a corner from the pixels that it lacks."""
    missing = int((~corner).sum())
    return float(round(math.sqrt(missing / LACKING))) if missing >= LEAST_LACKING else 0.0


def _edge_part(plot: Plot, colour: Colour, edge: Pixels, beyond: Pixels) -> float:
    """Return how much of the pixels at an edge a bar covers; the rest is paper, or the bar beyond."""
    mixture, next_to = (
        np.median(part.reshape(-1, part.shape[-1]).astype(np.float64), axis=0) for part in (edge, beyond)
    )
    for other in (plot.paper, next_to):
        direction = colour - other
        size = float(direction @ direction)
        if size < LEAST_CONTRAST**2:
            continue
        part = float((mixture - other) @ direction) / size
        off = float(np.abs(mixture - other - part * direction).max())
        if PARTLY[0] < part < PARTLY[1] and off < MIXED:
            return part
    between = min(float(np.abs(neighbour - plot.paper).max()) for neighbour in (mixture, next_to)) > CLEARLY
    return HALF if between and float(np.abs(next_to - colour).max()) > CLEARLY else 0.0


def _corners(mask: Mask) -> list[Mask]:
    half = min(min(mask.shape) // 2, LARGEST_CORNER)
    return [mask[:half, :half], mask[:half, -half:], mask[-half:, -half:], mask[-half:, :half]]
