"""Rank filters of pictures: the middle, the largest and the smallest value around each pixel, by channel.

Each pixel beyond the edge has the value of the nearest one on it. Whole rows are compared at once: Pillow's filters of
the same names compare pixel by pixel, and are many times slower.
"""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.uint8]

_ROWS = 64
"""Rows that are filtered at a time: what is compared stays in the cache of the processor."""


def median_of_nine(values: Values) -> Values:
    """Return the median of the 3 × 3 pixels around each pixel."""
    wide = np.pad(values, [(1, 1), (1, 1), *[(0, 0)] * (values.ndim - 2)], mode="edge")
    medians = np.empty_like(values)
    for top in range(0, len(values), _ROWS):
        medians[top : top + _ROWS] = _middle(wide[top : top + _ROWS + 2])
    return medians


def _middle(wide: Values) -> Values:
    """Return the medians inside a frame of one pixel.

    Of nine values in three sorted columns, the median is the middle one of the largest of the lowest, the middle of the
    middle and the smallest of the highest."""
    above, here, below = wide[:-2], wide[1:-1], wide[2:]
    less, more = np.minimum(above, here), np.maximum(above, here)
    high = np.maximum(more, below)
    more = np.minimum(more, below)
    middle, low = np.maximum(less, more), np.minimum(less, more)
    lowest = np.maximum(np.maximum(low[:, :-2], low[:, 1:-1]), low[:, 2:])
    highest = np.minimum(np.minimum(high[:, :-2], high[:, 1:-1]), high[:, 2:])
    return _middle_of_three(lowest, _middle_of_three(middle[:, :-2], middle[:, 1:-1], middle[:, 2:]), highest)


def _middle_of_three(a: Values, b: Values, c: Values) -> Values:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def largest_around(values: Values, reach: int) -> Values:
    """Return the largest value within so many pixels to all sides, corners included."""
    return _extreme_around(np.maximum, values, reach)


def smallest_around(values: Values, reach: int) -> Values:
    """Return the smallest value within so many pixels to all sides, corners included."""
    return _extreme_around(np.minimum, values, reach)


def _extreme_around(choose: np.ufunc, values: Values, reach: int) -> Values:
    extremes = values.copy()
    for by in _steps(reach):
        wider = extremes.copy()
        choose(wider[by:], extremes[:-by], out=wider[by:])
        choose(wider[:-by], extremes[by:], out=wider[:-by])
        extremes = wider.copy()
        choose(extremes[:, by:], wider[:, :-by], out=extremes[:, by:])
        choose(extremes[:, :-by], wider[:, by:], out=extremes[:, :-by])
    return extremes


def _steps(reach: int) -> list[int]:
    """Split a reach into steps, each at most one more than all before it: they leave no gap, at the edges neither."""
    steps: list[int] = []
    while (done := sum(steps)) < reach:
        steps.append(min(done + 1, reach - done))
    return steps
