"""Recognises the arrow that browsers draw at the right end of a select, which is the same in every style."""

import numpy as np

from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels, distance_between

ARROW = np.array(
    [
        [0.45, 0.09, 0, 0, 0, 0, 0.09, 0.45],
        [1, 0.86, 0.1, 0, 0, 0.1, 0.86, 1],
        [0.87, 1, 0.86, 0.1, 0.1, 0.86, 1, 0.87],
        [0.11, 0.86, 1, 0.87, 0.87, 1, 0.86, 0.11],
        [0, 0.11, 0.87, 1, 1, 0.87, 0.11, 0],
        [0, 0, 0.11, 0.88, 0.88, 0.11, 0, 0],
    ],
    np.float32,
)
"""The darkness of its pixels, without the outermost, in Chromium."""
BEHIND = 5  # pixels from the arrow to the right edge of a select
AWAY = 2  # pixels that it may be elsewhere, for example where a border is wider
ROOM = 3  # pixels before the arrow that are free of letters
MOST_OFF = 0.06  # of the darkness of its pixels, on average
LEAST_CONTRAST = 40  # levels
HEIGHTS = (14.0, 80.0)  # pixels of a select


def room_before_arrow(pixels: Pixels, box: Rect) -> Rect | None:
    """Return the part of a select before its arrow; None if the box has no such arrow."""
    high, wide = ARROW.shape
    if not HEIGHTS[0] <= box.h <= HEIGHTS[1] or box.w < 2 * wide:
        return None
    left, top = round(box.right) - BEHIND - wide, round(box.middle[1] - high / 2)
    place = Rect(left, top, wide, high).grown(AWAY)
    if place.x < 0 or place.y < 0 or place.right > pixels.shape[1] or place.bottom > pixels.shape[0]:
        return None
    seen = pixels[int(place.y) : int(place.bottom), int(place.x) : int(place.right)]
    away = distance_between(seen, np.broadcast_to(np.median(seen, axis=(0, 1)), seen.shape).astype(np.uint8))
    if away.max() < LEAST_CONTRAST:
        return None
    dark = away / away.max()
    views = np.lib.stride_tricks.sliding_window_view(dark, ARROW.shape)
    if float(np.abs(views - ARROW).mean(axis=(2, 3)).min()) > MOST_OFF:
        return None
    return spanning((box.x, box.y, left - ROOM, box.bottom))
