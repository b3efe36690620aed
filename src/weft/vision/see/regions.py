"""Labels connected regions of like pixels, and converts colours."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]
Channel = TypeVar("Channel", np.uint8, np.int16, np.float32, np.float64)

MANY, SAMPLE = 8_192, 1_024  # pixels: the colour of most of a large area is found by some of them
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


def distance_between(one: Pixels, two: Pixels) -> NDArray[np.uint8]:
    """Return the largest difference in a channel at each pixel; `two` may be one colour."""
    return largest_channel(np.maximum(one, two) - np.minimum(one, two))


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
    kept = np.flatnonzero(present)
    number = np.zeros(len(area), np.int32)
    number[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    fresh = np.where(mask, number[labels], 0).astype(np.int32)
    zero = np.zeros((1, 4), np.int32)
    return Regions(fresh, np.concatenate(([0], area[kept])), np.concatenate((zero, edges[kept])))


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
    one, two = (np.concatenate(side) for side in zip(*pairs, strict=True))
    root = _find_roots(count, one, two)
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


def _find_roots(count: int, one: NDArray[np.int32], two: NDArray[np.int32]) -> NDArray[np.int32]:
    """Find the smallest run that each run is connected with."""
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


def hex_colour(colour: Iterable[float]) -> str:
    return "#" + "".join(f"{min(max(round(float(part)), 0), 255):02x}" for part in colour)


def rgb_parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def colour_distance(one: str, two: str) -> int:
    """Return the largest difference in a channel."""
    return max(abs(a - b) for a, b in zip(rgb_parts(one), rgb_parts(two), strict=True))


def dominant_colour(pixels: Pixels) -> NDArray[np.uint8]:
    """Return the commonest colour."""
    flat = pixels.reshape(-1, 3)
    if len(flat) > MANY:
        likely = _commonest(flat[:: len(flat) // SAMPLE])
        if 2 * np.count_nonzero(distance_between(flat, likely) == 0) > len(flat):
            return likely
    return _commonest(flat)


def _commonest(flat: Pixels) -> NDArray[np.uint8]:
    wide = flat.astype(np.int32)
    values, counts = np.unique((wide[:, 0] << 16) | (wide[:, 1] << 8) | wide[:, 2], return_counts=True)
    best = int(values[counts.argmax()])
    return np.array([best >> 16, best >> 8 & 255, best & 255], np.uint8)


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2 defines it."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in rgb_parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """Return the contrast ratio of WCAG 2: 1 to 21."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
