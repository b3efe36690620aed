"""The structural similarity (SSIM) of two pictures at each pixel."""

import numpy as np
from numpy.typing import NDArray

from heald_studio.score.page_image import Pixels

Map = NDArray[np.float64]
_Plane = NDArray[np.float32]

_WINDOW = 7
_C1, _C2 = np.float32((0.01 * 255) ** 2), np.float32((0.03 * 255) ** 2)


def ssim_map(picture: Pixels, second: Pixels) -> Map:
    """Return the structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) around each pixel, 1 for equal.

    It is the mean over the channels, with a uniform 7 × 7 window. The sizes must be equal.
    """
    similarity = np.ones(picture.shape[:2], np.float64)
    reach = _WINDOW // 2
    for first, last in _unequal_rows(picture, second, reach):
        top, bottom = max(first - reach, 0), min(last + reach, len(picture))
        planes = picture[top:bottom].astype(np.float32), second[top:bottom].astype(np.float32)
        likeness = sum(_channel(planes[0][..., channel], planes[1][..., channel]) for channel in range(3)) / 3
        similarity[first:last] = np.asarray(likeness)[first - top : last - top]
    return similarity


def _unequal_rows(first: Pixels, second: Pixels, reach: int) -> list[tuple[int, int]]:
    """Return the spans of rows whose windows hold a difference; everywhere else the similarity is 1."""
    rows = np.flatnonzero((first != second).any(axis=(1, 2)))
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > 4 * reach)
    return [
        (max(int(band[0]) - reach, 0), min(int(band[-1]) + reach + 1, len(first)))
        for band in np.split(rows, breaks + 1)
    ]


def _channel(x: _Plane, y: _Plane) -> _Plane:
    mean_x, mean_y = _window_mean(x), _window_mean(y)
    var_x, var_y = _window_mean(x * x) - mean_x * mean_x, _window_mean(y * y) - mean_y * mean_y
    both = _window_mean(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + _C1) * (2 * both + _C2)
    return np.asarray(above / ((mean_x * mean_x + mean_y * mean_y + _C1) * (var_x + var_y + _C2)), np.float32)


def _window_mean(values: _Plane) -> _Plane:
    """Return the mean over the window around each pixel, with edges repeated."""
    padded = np.pad(values, _WINDOW // 2, mode="edge")
    return np.asarray(_sum_of_seven(_sum_of_seven(padded).T).T / np.float32(_WINDOW**2), np.float32)


def _sum_of_seven(values: _Plane) -> _Plane:
    """Return the sum of each row and the six after it, as 4 + 2 + 1 rows."""
    two = values[:-1] + values[1:]
    four = two[:-2] + two[2:]
    return np.asarray(four[:-3] + two[4:-1] + values[6:], np.float32)
