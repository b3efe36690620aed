"""Two pictures brought to one size, and their text taken off, so that what remains can be compared point by point."""

from collections.abc import Sequence

import numpy as np

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.block import background
from weft.studio.score.picture import Pixels, resized

WIDTH = 640
"""Wider pictures are compared at this width: what a person would call the same place is a few pixels then."""


def without_text(pixels: Pixels, texts: Sequence[TextBlock]) -> Pixels:
    """The picture with each line of text painted over in the colour it stands on."""
    height, width = pixels.shape[:2]
    clean = pixels.copy()
    for text in texts:
        left, top = max(0, int(text.x) - 1), max(0, int(text.y) - 1)
        right, bottom = min(width, round(text.x + text.w) + 1), min(height, round(text.y + text.h) + 1)
        if right > left and bottom > top:
            clean[top:bottom, left:right] = background(pixels, left, top, right - left, bottom - top)
    return clean


def aligned(target: Pixels, rendered: Pixels) -> tuple[Pixels, Pixels]:
    """Both at one width, the shorter one continued in the colour it ends with."""
    width = min(WIDTH, target.shape[1])
    one, other = resized(target, width), resized(rendered, width)
    height = max(one.shape[0], other.shape[0])
    return _continued(one, height), _continued(other, height)


def _continued(pixels: Pixels, height: int) -> Pixels:
    missing = height - pixels.shape[0]
    if not missing:
        return pixels
    last = np.median(pixels[-1], axis=0).astype(np.uint8)
    return np.concatenate([pixels, np.broadcast_to(last, (missing, pixels.shape[1], 3))])
