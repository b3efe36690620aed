"""Finds photographs by their grain.

A page paints areas in one colour or in a gradient: from pixel to pixel it stays or it goes one way. A photograph goes
up and down by a few levels everywhere, even where it is so dark or so even that it looks like an area.
"""

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import BLOCK_AXES
from heald_pictures.colours import rgb_parts
from heald_pictures.elements import Box
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import STRIP, Mask, Pixels, distance_between, label_islands

_BLOCK = 8  # pixels
_COARSE, _LARGEST_STEP = 4, 60  # of the sum of three channels: smaller ones dither a gradient, larger ones are edges
_GRAINY = 0.16  # the part of a block that is lighter or darker than both of its neighbours
_LEAST_COARSE = 0.02  # the same for a whole photograph, of turns that no gradient has
_LEAST_WIDE, _LEAST_HIGH = 64, 48  # pixels of a photograph
_LEAST_FULL = 0.55  # the part of its rectangle that a photograph fills; the rest is text and panels
_EDGE_SHARE = 0.4  # of the grain within a photograph: rows and columns with less lie outside of it
_PAINTED = 0.4  # the part of a box that has its colour exactly; the rest is text


def find_grain(pixels: Pixels) -> list[Rect]:
    """Find the rectangles of photographs that have grain."""
    across, down = _find_turns(pixels, 1), _find_turns(pixels, 0)
    height, width = across.shape
    tall, wide = height // _BLOCK, width // _BLOCK
    if not tall or not wide:
        return []
    blocks = across[: tall * _BLOCK, : wide * _BLOCK].reshape(tall, _BLOCK, wide, _BLOCK)
    islands = label_islands(np.asarray(blocks.mean(axis=BLOCK_AXES) >= _GRAINY, np.bool_))
    photos: list[Rect] = []
    for number in range(1, len(islands.area)):
        left, top, right, bottom = (int(edge) * _BLOCK for edge in islands.edges[number])
        if int(islands.area[number]) * _BLOCK**2 < _LEAST_FULL * (right - left) * (bottom - top):
            continue
        if right - left < _LEAST_WIDE or bottom - top < _LEAST_HIGH:
            continue
        if float(_find_turns(pixels[top:bottom, left:right], 1, _COARSE).mean()) < _LEAST_COARSE:
            continue
        rows = _extent(across[:, left:right].mean(axis=1), top, bottom)
        columns = _extent(down[top:bottom].mean(axis=0), left, right)
        photos.append(spanning((columns[0], rows[0], columns[1], rows[1])))
    return photos


def _find_turns(pixels: Pixels, axis: int, least: int = 1) -> Mask:
    """Mark the pixels that are a little lighter or a little darker than both neighbours along an axis."""
    marked = np.zeros(pixels.shape[:2], np.bool_)
    for top in range(0, len(pixels), STRIP):
        start, end = max(top - 1, 0), min(top + STRIP + 1, len(pixels))
        light = pixels[start:end, :, 0].astype(np.int16) + pixels[start:end, :, 1] + pixels[start:end, :, 2]
        steps: NDArray[np.int16] = np.diff(light, axis=axis)
        size = np.abs(steps)
        small, up = (size >= least) & (size <= _LARGEST_STEP), steps > 0
        if axis:
            marked[start:end, 1:-1] = small[:, 1:] & small[:, :-1] & (up[:, 1:] != up[:, :-1])
        else:
            marked[start + 1 : end - 1] = small[1:] & small[:-1] & (up[1:] != up[:-1])
    return marked


def _extent(shares: NDArray[np.float64], start: int, end: int) -> tuple[int, int]:
    """Return where the grain begins and ends, to the pixel: within a block around these places."""
    enough = shares >= _EDGE_SHARE * float(np.median(shares[start:end]))
    low, high = max(start - _BLOCK, 0), min(end + _BLOCK, len(shares))
    inside = np.flatnonzero(enough[low:high])
    first, last = low + int(inside[0]), low + int(inside[-1]) + 1
    # a pixel at the edge of the screenshot has no neighbour to turn at
    return 0 if first <= 1 else first, len(shares) if last >= len(shares) - 1 else last


def is_painted(pixels: Pixels, box: Box) -> bool:
    """Whether a box has one colour exactly, apart from its text: a button or a label, and no part of a photograph."""
    rect = box.rect
    part = pixels[int(rect.y) : round(rect.bottom), int(rect.x) : round(rect.right)]
    return (
        box.gradient is None
        and float((distance_between(part, np.array(rgb_parts(box.fill), np.uint8)) == 0).mean()) >= _PAINTED
    )
