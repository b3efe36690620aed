"""Straightens a sheet that was photographed from the side."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from heald_local.see.sheet_corners import Corners, side_lengths
from heald_pictures.regions import Pixels

LEAST_SIDE = 8  # pixels of a straightened sheet
LONGEST = 1600  # pixels of the longer side of a straightened sheet
INSET = 0.012  # of the sheet's sides: the edge itself and its shadow are cut off


def straighten(pixels: Pixels, corners: Corners) -> Pixels:
    """Return the sheet as if it were seen from the front."""
    top, right, bottom, left = side_lengths(corners)
    middle = corners.mean(axis=0)
    inner = middle + (corners - middle) * (1 - 2 * INSET)
    wide, high = max(top, bottom), max(left, right)
    scale = min(LONGEST / max(wide, high), 1.0)
    width, height = max(round(wide * scale), LEAST_SIDE), max(round(high * scale), LEAST_SIDE)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    turn = Image.Transform.PERSPECTIVE
    factors = tuple(float(factor) for factor in _perspective(target, inner))
    shrunk = Image.fromarray(pixels).filter(ImageFilter.BoxBlur(max(1 / scale - 1, 0) / 2))
    return np.asarray(shrunk.transform((width, height), turn, factors, Image.Resampling.BICUBIC))


def _perspective(target: Corners, source: Corners) -> NDArray[np.float64]:
    """Return the eight factors that map points of the target to points of the source."""
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(target, source, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    return np.linalg.solve(np.array(rows, np.float64), source.ravel()).astype(np.float64)
