"""Makes two pictures comparable: aligns their sizes, and paints over their text."""

from collections.abc import Sequence

import numpy as np

from heald_studio.browser.page import TextBlock
from heald_studio.score.blocks import background_colour
from heald_studio.score.page_image import Pixels, resize_to_width

WIDTH = 640
"""Wider pictures are compared at this width, so that small shifts are a few pixels."""


def paint_over_text(pixels: Pixels, texts: Sequence[TextBlock]) -> Pixels:
    """Paint over each line of text with its background colour."""
    height, width = pixels.shape[:2]
    clean = pixels.copy()
    for text in texts:
        left, top = max(0, int(text.x) - 1), max(0, int(text.y) - 1)
        right, bottom = min(width, round(text.x + text.w) + 1), min(height, round(text.y + text.h) + 1)
        if right > left and bottom > top:
            clean[top:bottom, left:right] = background_colour(pixels, left, top, right - left, bottom - top)
    return clean


def align_sizes(target: Pixels, rendered: Pixels) -> tuple[Pixels, Pixels]:
    """Scale both pictures to one width and extend the shorter one with its last colour."""
    width = min(WIDTH, target.shape[1])
    first, second = resize_to_width(target, width), resize_to_width(rendered, width)
    height = max(first.shape[0], second.shape[0])
    return _extend_height(first, height), _extend_height(second, height)


def _extend_height(pixels: Pixels, height: int) -> Pixels:
    missing = height - pixels.shape[0]
    if not missing:
        return pixels
    last = np.median(pixels[-1], axis=0).astype(np.uint8)
    return np.concatenate([pixels, np.broadcast_to(last, (missing, pixels.shape[1], 3))])
