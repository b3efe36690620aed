"""Structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) of two pictures, in numpy alone.

Over each colour channel with a uniform 7 × 7 window and the usual constants. Equal pictures give exactly 1.
"""

import numpy as np
from numpy.typing import NDArray

from weft.studio.score.picture import Pixels

Map = NDArray[np.float64]

_WINDOW = 7
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def similarity_map(one: Pixels, other: Pixels) -> Map:
    """How alike the surroundings of each pixel are, 1 for equal, averaged over the channels. Sizes must agree."""
    total = np.zeros(one.shape[:2], np.float64)
    for channel in range(3):
        total += _channel(one[..., channel].astype(np.float64), other[..., channel].astype(np.float64))
    return total / 3


def _channel(x: Map, y: Map) -> Map:
    mean_x, mean_y = _mean(x), _mean(y)
    var_x, var_y = _mean(x * x) - mean_x * mean_x, _mean(y * y) - mean_y * mean_y
    both = _mean(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + _C1) * (2 * both + _C2)
    return above / ((mean_x * mean_x + mean_y * mean_y + _C1) * (var_x + var_y + _C2))


def _mean(values: Map) -> Map:
    """The mean over the window around each pixel, edges repeated."""
    reach = _WINDOW // 2
    padded = np.pad(values, reach + 1, mode="edge")
    sums = padded.cumsum(axis=0).cumsum(axis=1)
    span = _WINDOW
    height, width = values.shape
    below, beside = slice(span, span + height), slice(span, span + width)
    above, before = slice(0, height), slice(0, width)
    return (sums[below, beside] - sums[above, beside] - sums[below, before] + sums[above, before]) / span**2
