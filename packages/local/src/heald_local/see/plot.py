"""The pixels of a chart, and which of them are explained."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import LEVELS
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels

EQUAL = 4  # levels by which pixels of one colour differ
SEEN = 8  # levels by which a mark differs from the paper
MOST_COLOURS = 24  # of the marks of a chart
LEAST_COUNT, LEAST_SHARE = 16, 0.0006  # pixels, and the part of all, that have a colour of a mark exactly
_PACKED = np.array([LEVELS**2, LEVELS, 1])  # the channels of a colour, as one number
Colour = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plot:
    """The pixels of a chart without its texts, the colour of its paper, and which pixels no mark explains yet."""

    pixels: Pixels
    paper: Colour
    left: Mask

    def distance(self, colour: Colour) -> NDArray[np.float64]:
        return np.abs(self.pixels.astype(np.float64) - colour).max(axis=2)


def make_plot(pixels: Pixels, paper: Colour) -> Plot:
    differs = np.abs(pixels.astype(np.float64) - paper).max(axis=2) > SEEN
    return Plot(pixels, paper, np.asarray(differs, np.bool_))


def find_colours(plot: Plot) -> list[Colour]:
    """Return the colours that many pixels have exactly, commonest first."""
    values = plot.pixels[plot.left].astype(np.int64)
    if not len(values):
        return []
    keys, counts = np.unique(values @ _PACKED, return_counts=True)
    least = max(LEAST_COUNT, LEAST_SHARE * plot.left.size)
    colours: list[Colour] = []
    for at in np.argsort(-counts):
        if counts[at] < least or len(colours) == MOST_COLOURS:
            break
        colour = (int(keys[at]) // _PACKED % LEVELS).astype(np.float64)
        if all(float(np.abs(colour - other).max()) > EQUAL for other in colours):
            colours.append(colour)
    return colours


def explain(plot: Plot, rect: Rect) -> None:
    """Mark the pixels of a rectangle as explained."""
    part = rect.within(plot.left.shape[1], plot.left.shape[0])
    plot.left[int(part.y) : math.ceil(part.bottom), int(part.x) : math.ceil(part.right)] = False
