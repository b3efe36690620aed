"""Connected regions of like pixels, by runs: what is next to each other and nearly the same colour is one region.

`label` needs no image library: rows become runs, runs that touch are joined by pointer jumping. Linear in pixels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]

STRIP = 512
"""Rows that are compared at once, so that a tall page needs little memory."""


@dataclass(frozen=True, slots=True)
class Regions:
    """A label for each pixel, and for each label its area and its edges (left, top, right, bottom)."""

    labels: Labels
    area: NDArray[np.int64]
    edges: NDArray[np.int32]

    def mask(self, number: int) -> Mask:
        """The pixels of one region within its own edges."""
        left, top, right, bottom = (int(edge) for edge in self.edges[number])
        return self.labels[top:bottom, left:right] == number


def same_colour(pixels: Pixels, slack: int) -> Regions:
    """Regions in which neighbours differ by no more than `slack` in each channel."""
    height, width = pixels.shape[:2]
    across, down = np.empty((height, width - 1), np.bool_), np.empty((height - 1, width), np.bool_)
    for top in range(0, height, STRIP):
        values = pixels[top : top + STRIP + 1].astype(np.int16)
        across[top : top + STRIP] = np.abs(values[:STRIP, 1:] - values[:STRIP, :-1]).max(axis=2) <= slack
        down[top : top + STRIP] = np.abs(values[1:] - values[:-1]).max(axis=2) <= slack
    return _join(across, down)


def islands(mask: Mask) -> Regions:
    """Regions of true pixels; every false pixel has label 0, whose area and edges mean nothing."""
    # What is false forms runs too, one row high: as single pixels it would take far more memory and time.
    across, down = np.equal(mask[:, 1:], mask[:, :-1]), np.logical_and(mask[1:], mask[:-1])
    whole = _join(across, down, diagonal=mask)
    labels, area, edges = whole.labels, whole.area, whole.edges
    kept = np.unique(labels[mask])
    number = np.zeros(len(area), np.int32)
    number[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    fresh = np.where(mask, number[labels], 0).astype(np.int32)
    zero = np.zeros((1, 4), np.int32)
    return Regions(fresh, np.concatenate(([0], area[kept])), np.concatenate((zero, edges[kept])))


def _join(across: Mask, down: Mask, diagonal: Mask | None = None) -> Regions:
    height, width = across.shape[0], across.shape[1] + 1
    starts = np.ones((height, width), np.bool_)
    starts[:, 1:] = ~across
    runs = (np.cumsum(starts.ravel(), dtype=np.int32) - 1).reshape(height, width)
    count = int(runs[-1, -1]) + 1
    first = down & (starts[1:] | starts[:-1])
    first[:, 1:] |= down[:, 1:] & ~down[:, :-1]
    pairs = [(runs[:-1][first], runs[1:][first])]
    if diagonal is not None:
        falling = diagonal[:-1, :-1] & diagonal[1:, 1:]
        rising = diagonal[:-1, 1:] & diagonal[1:, :-1]
        pairs += [(runs[:-1, :-1][falling], runs[1:, 1:][falling]), (runs[:-1, 1:][rising], runs[1:, :-1][rising])]
    one, two = (np.concatenate(side) for side in zip(*pairs, strict=True))
    root = _roots(count, one, two)
    kept, number = np.unique(root, return_inverse=True)
    labels = number.astype(np.int32)[runs]
    positions = np.flatnonzero(starts.ravel())
    lengths = np.diff(np.append(positions, height * width))
    rows, left = np.divmod(positions, width)
    return _measure(labels, number, len(kept), (rows, left, lengths))


def _measure(
    labels: Labels,
    number: NDArray[np.intp],
    count: int,
    runs: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]],
) -> Regions:
    rows, left, lengths = runs
    area = np.bincount(number, weights=lengths, minlength=count).astype(np.int64)
    edges = np.zeros((count, 4), np.int32)
    edges[:, 0], edges[:, 1] = labels.shape[1], labels.shape[0]
    np.minimum.at(edges[:, 0], number, left.astype(np.int32))
    np.minimum.at(edges[:, 1], number, rows.astype(np.int32))
    np.maximum.at(edges[:, 2], number, (left + lengths).astype(np.int32))
    np.maximum.at(edges[:, 3], number, rows.astype(np.int32) + 1)
    return Regions(labels, area, edges)


def _roots(count: int, one: NDArray[np.int32], two: NDArray[np.int32]) -> NDArray[np.int32]:
    """The smallest run that each run hangs together with."""
    root = np.arange(count, dtype=np.int32)
    while len(one):
        low, high = np.minimum(root[one], root[two]), np.maximum(root[one], root[two])
        apart = low != high
        if not apart.any():
            break
        one, two, low, high = one[apart], two[apart], low[apart], high[apart]
        np.minimum.at(root, high, low)
        while True:
            further = root[root]
            if np.array_equal(further, root):
                break
            root = further
    return root
