"""A picture of the differences of two pages."""

import numpy as np

from heald_studio.score.alignment import align_sizes
from heald_studio.score.page_image import PageImage, Pixels, decode_pixels, encode_png
from heald_studio.score.ssim import ssim_map

_RED = np.array((220, 30, 30), np.float64)


def heat_map(target: PageImage, rendering: PageImage) -> bytes:
    """Return a PNG of the rendering in grey, red where it differs from the target."""
    expected, rendered = align_sizes(decode_pixels(target.image), decode_pixels(rendering.image))
    heat = np.clip(1 - ssim_map(expected, rendered), 0, 1)[..., None]
    return encode_png(_blend(rendered, heat))


def _blend(rendered: Pixels, heat: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Pixels:
    grey = 160 + 0.35 * rendered.astype(np.float64).mean(axis=2, keepdims=True)
    grey = np.minimum(np.repeat(grey, 3, axis=2), 255)
    return (grey * (1 - heat) + _RED * heat).round().astype(np.uint8)
