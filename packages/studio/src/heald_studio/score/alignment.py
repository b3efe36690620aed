"""Makes two pictures comparable: aligns their sizes, and paints over their text."""

from collections.abc import Sequence

import numpy as np

from heald_studio.browser.page import TextBlock
from heald_studio.score.blocks import background_colour
from heald_studio.score.colour_distance import Colour
from heald_studio.score.page_image import Pixels, resize_to_width

WIDTH = 640
"""Wider pictures are compared at this width, so that small shifts are a few pixels."""


_UNLIKE_INK = 48
"""Levels of 255 by which a ground differs from the text on it."""
_LEAST_GROUND = 0.15
"""The share of the pixels that a ground of one colour has."""


def paint_over_text(pixels: Pixels, texts: Sequence[TextBlock]) -> Pixels:
    """Paint over each line of text with its ground, a piece at a time: the word of a line may have its own ground."""
    height, width = pixels.shape[:2]
    clean = pixels.copy()
    for text in texts:
        left, top = max(0, int(text.x) - 1), max(0, int(text.y) - 1)
        right, bottom = min(width, round(text.x + text.w) + 1), min(height, round(text.y + text.h) + 1)
        if right <= left or bottom <= top:
            continue
        around = background_colour(pixels, left, top, right - left, bottom - top)
        for start in range(left, right, bottom - top):
            piece = slice(top, bottom), slice(start, min(start + bottom - top, right))
            ground = _ground_colour(pixels[piece], text.colour) if text.colour is not None else None
            clean[piece] = ground or around
    return clean


def _ground_colour(piece: Pixels, ink: Colour) -> Colour | None:
    """Return the colour under a piece of text; None if the ground has no single colour."""
    flat = piece.reshape(-1, 3)
    ground = flat[np.abs(flat.astype(np.int16) - np.array(ink, np.int16)).max(axis=1) > _UNLIKE_INK]
    if not len(ground):
        return None
    colours, counts = np.unique(ground.astype(np.uint32) @ np.array((65536, 256, 1), np.uint32), return_counts=True)
    most = int(np.argmax(counts))
    if counts[most] < _LEAST_GROUND * len(flat):
        return None
    colour = int(colours[most])
    return colour >> 16, colour >> 8 & 255, colour & 255


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
