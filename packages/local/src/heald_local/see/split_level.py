"""Finds the lightness that parts the pixels of a picture into two groups."""

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import LEVELS


def split_level(light: NDArray[np.integer]) -> float:
    """Return the lightest level of the darker of the two most different groups of pixels (Otsu 1979)."""
    counts = np.bincount(light.ravel(), minlength=LEVELS).astype(np.float64)
    below, sums = np.cumsum(counts), np.cumsum(counts * np.arange(LEVELS))
    above = below[-1] - below
    apart = sums / np.maximum(below, 1) - (sums[-1] - sums) / np.maximum(above, 1)
    return float((below * above * apart**2).argmax())
