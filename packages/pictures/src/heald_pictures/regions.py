"""Labels connected regions of like pixels, and converts colours."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]
Channel = TypeVar("Channel", np.uint8, np.int16, np.float32, np.float64)
STRIP = 512  # rows that are compared at once, so that a tall page needs little memory


@dataclass(frozen=True, slots=True)
class Regions:
    """A label for each pixel, and for each label its area and edges (left, top, right, bottom)."""

    labels: Labels
    area: NDArray[np.int64]
    edges: NDArray[np.int32]

    def mask(self, number: int) -> Mask:
        left, top, right, bottom = (int(edge) for edge in self.edges[number])
        return self.labels[top:bottom, left:right] == number


def label_colours(pixels: Pixels, slack: int) -> Regions:
    """Label regions in which neighbours differ by at most `slack` in each channel."""
    height, width = pixels.shape[:2]
    across, down = np.empty((height, width - 1), np.bool_), np.empty((height - 1, width), np.bool_)
    for top in range(0, height, STRIP):
        values = pixels[top : top + STRIP + 1]
        across[top : top + STRIP] = distance_between(values[:STRIP, 1:], values[:STRIP, :-1]) <= slack
        down[top : top + STRIP] = distance_between(values[1:], values[:-1]) <= slack
    return _label_runs(across, down)


def distance_between(first: Pixels, second: Pixels) -> NDArray[np.uint8]:
    """Return the largest difference in a channel at each pixel; `two` may be one colour."""
    return largest_channel(np.maximum(first, second) - np.minimum(first, second))


def largest_channel(values: NDArray[Channel]) -> NDArray[Channel]:
    """Return the largest of the three channels at each pixel: far faster than a maximum along an axis of three."""
    return np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2])


def label_islands(mask: Mask) -> Regions:
    """Label regions of true pixels; false pixels have label 0."""
    # False pixels form runs of one row too: as single pixels they would need far more memory and time.
    across, down = np.equal(mask[:, 1:], mask[:, :-1]), np.logical_and(mask[1:], mask[:-1])
    whole = _label_runs(across, down, diagonal=mask)
    labels, area, edges = whole.labels, whole.area, whole.edges
    present = np.zeros(len(area), np.bool_)
    present[labels[mask]] = True
    numbers = np.flatnonzero(present)
    number = np.zeros(len(area), np.int32)
    number[numbers] = np.arange(1, len(numbers) + 1, dtype=np.int32)
    fresh = np.where(mask, number[labels], 0).astype(np.int32)
    zero = np.zeros((1, 4), np.int32)
    return Regions(fresh, np.concatenate(([0], area[numbers])), np.concatenate((zero, edges[numbers])))


def _label_runs(across: Mask, down: Mask, diagonal: Mask | None = None) -> Regions:
    height, width = across.shape[0], across.shape[1] + 1
    starts = np.ones((height, width), np.bool_)
    starts[:, 1:] = ~across
    runs = (np.cumsum(starts.ravel(), dtype=np.int32) - 1).reshape(height, width)
    count = int(runs[-1, -1]) + 1
    first = down & (starts[1:] | starts[:-1])
    first[:, 1:] |= down[:, 1:] & ~down[:, :-1]
    pairs = [(runs[:-1][first], runs[1:][first])]
    if diagonal is not None:
        # Two that touch at their corners alone: others are connected over a third one, and are most by far.
        falls, rises = diagonal[:-1, :-1] & diagonal[1:, 1:], diagonal[:-1, 1:] & diagonal[1:, :-1]
        falling = falls & ~(diagonal[:-1, 1:] | diagonal[1:, :-1])
        rising = rises & ~(diagonal[:-1, :-1] | diagonal[1:, 1:])
        pairs += [(runs[:-1, :-1][falling], runs[1:, 1:][falling]), (runs[:-1, 1:][rising], runs[1:, :-1][rising])]
    left_runs, right_runs = (np.concatenate(side) for side in zip(*pairs, strict=True))
    root = _find_roots(count, left_runs, right_runs)
    first_of = root == np.arange(count, dtype=np.int32)
    number = (np.cumsum(first_of, dtype=np.int32) - 1)[root]
    labels = number[runs]
    positions = np.flatnonzero(starts.ravel())
    lengths = np.diff(np.append(positions, height * width))
    rows, left = np.divmod(positions, width)
    return _measure_regions(labels, number, int(first_of.sum()), (rows, left, lengths))


def _measure_regions(
    labels: Labels,
    number: Labels,
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


def _find_roots(count: int, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int32]:
    """Find the smallest run that each run is connected with."""
    root = np.arange(count, dtype=np.int32)
    while len(first):
        low, high = np.minimum(root[first], root[second]), np.maximum(root[first], root[second])
        apart = low != high
        if not apart.any():
            break
        first, second, low, high = first[apart], second[apart], low[apart], high[apart]
        np.minimum.at(root, high, low)
        while True:
            further = root[root]
            if np.array_equal(further, root):
                break
            root = further
    return root
