"""A picture of the differences of two pages."""

import numpy as np

from heald_studio.score.alignment import align_sizes
from heald_studio.score.changed_area import find_changed_area
from heald_studio.score.page_image import PageImage, Pixels, decode_pixels, encode_png
from heald_studio.score.ssim import Map, ssim_map

_FAINT = 0.05
"""Heat that the eye does not see as red."""
_RED = np.array((220, 30, 30), np.float64)


def heat_map(target: PageImage, rendering: PageImage) -> bytes:
    """Return a PNG of the rendering in grey, red where it differs from the target."""
    pictures = align_sizes(decode_pixels(target.image), decode_pixels(rendering.image))
    return encode_png(_blend(pictures[1], _heat(*pictures)[..., None]))


def shows_red(target: Pixels, rendered: Pixels) -> bool:
    """Whether the map of two pictures of the same size has red in it."""
    return bool((_heat(target, rendered) > _FAINT).any())


def _heat(target: Pixels, rendered: Pixels) -> Map:
    """Return how red each pixel is: its lost structure, or its visible change of colour."""
    return np.maximum(np.clip(1 - ssim_map(target, rendered), 0, 1), find_changed_area(target, rendered).changes)


def _blend(rendered: Pixels, heat: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Pixels:
    grey = 160 + 0.35 * rendered.astype(np.float64).mean(axis=2, keepdims=True)
    grey = np.minimum(np.repeat(grey, 3, axis=2), 255)
    return (grey * (1 - heat) + _RED * heat).round().astype(np.uint8)
