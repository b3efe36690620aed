"""A picture of the difference: the rendering in grey, and red where it is unlike the target."""

import numpy as np

from weft.studio.score.canvas import aligned
from weft.studio.score.picture import Picture, Pixels, pixels_of, png
from weft.studio.score.ssim import similarity_map

_RED = np.array((220, 30, 30), np.float64)


def heat_map(target: Picture, rendering: Picture) -> bytes:
    """A PNG at the width of comparison, text included. A picture against itself has no red in it."""
    expected, seen = aligned(pixels_of(target.image), pixels_of(rendering.image))
    heat = np.clip(1 - similarity_map(expected, seen), 0, 1)[..., None]
    return png(_mixed(seen, heat))


def _mixed(seen: Pixels, heat: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Pixels:
    grey = 160 + 0.35 * seen.astype(np.float64).mean(axis=2, keepdims=True)
    grey = np.minimum(np.repeat(grey, 3, axis=2), 255)
    return (grey * (1 - heat) + _RED * heat).round().astype(np.uint8)
