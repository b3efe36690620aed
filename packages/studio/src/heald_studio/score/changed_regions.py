"""The regions in which two pictures of a page differ, also those that are too small or too faint to be named."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from heald_studio.score.alignment import align_sizes
from heald_studio.score.changed_area import find_changed_area
from heald_studio.score.colour_distance import css_colour
from heald_studio.score.differences import Box, pop_connected
from heald_studio.score.page_image import PageImage, Pixels, decode_pixels

MAX_REGIONS = 8
_CELL = 16
_CHANGED = 0.08
"""The share of a cell from which on it is part of a region."""


class ChangedRegion(msgspec.Struct, frozen=True):
    """A region that differs."""

    box: Box
    """In pixels of the target."""
    area: int
    """The pixels in it that changed."""
    expected: str
    """The colour that most of the changed pixels have in the target, as `#rrggbb`."""
    actual: str
    """Their colour on the page."""

    @property
    def sentence(self) -> str:
        _, _, width, height = self.box
        colours = f", mostly {self.actual} instead of {self.expected}" if self.actual != self.expected else ""
        return f"{self.area:,} of {width * height:,} pixels differ{colours}."


def find_changed_regions(target: PageImage, rendering: PageImage) -> list[ChangedRegion]:
    """Return the regions that differ most, the largest change first. Slow: run it in a thread."""
    pixels = decode_pixels(target.image)
    pictures = align_sizes(pixels, decode_pixels(rendering.image))
    scale = pixels.shape[1] / pictures[0].shape[1]
    changes = find_changed_area(*pictures).changes
    rows, columns = -(-changes.shape[0] // _CELL), -(-changes.shape[1] // _CELL)
    padded = np.zeros((rows * _CELL, columns * _CELL))
    padded[: changes.shape[0], : changes.shape[1]] = changes
    means = padded.reshape(rows, _CELL, columns, _CELL).mean(axis=(1, 3))
    cells = {(int(row), int(column)) for row, column in np.argwhere(means > _CHANGED)}
    regions: list[ChangedRegion] = []
    while cells:
        regions.append(_describe(pop_connected(cells), changes, pictures, scale))
    regions.sort(key=lambda region: (-region.area, region.box))
    return regions[:MAX_REGIONS]


def _describe(
    group: set[tuple[int, int]], changes: NDArray[np.float64], pictures: tuple[Pixels, Pixels], scale: float
) -> ChangedRegion:
    top, left = min(row for row, _ in group) * _CELL, min(column for _, column in group) * _CELL
    bottom = min((max(row for row, _ in group) + 1) * _CELL, changes.shape[0])
    right = min((max(column for _, column in group) + 1) * _CELL, changes.shape[1])
    inside = changes[top:bottom, left:right] > 0
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    expected, actual = (_median_colour(picture[top:bottom, left:right][inside]) for picture in pictures)
    box = (left + columns[0], top + rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1)
    x, y, width, height = (round(float(side) * scale) for side in box)
    return ChangedRegion((x, y, width, height), int(inside.sum() * scale * scale), expected, actual)


def _median_colour(pixels: Pixels) -> str:
    red, green, blue = np.median(pixels, axis=0)
    return css_colour((int(red), int(green), int(blue)))
