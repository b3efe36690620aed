"""Where text is: a network marks the pixels of text, its islands become boxes. Empty areas are never looked at."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from weft.vision import models
from weft.vision.geometry import Rect
from weft.vision.regions import Mask, Pixels, islands

TILE = 480
"""Rows that the network sees at once; tiles share `OVERLAP` rows so that no line is cut in two."""
OVERLAP = 64
SURE = 0.3
LEAST_MEAN = 0.45
GROWTH = 1.6
"""The network marks the core of a line; its box is this much larger."""


def find_text(pixels: Pixels, busy: Mask, done: Callable[[float], None] | None = None) -> list[Rect]:
    """Boxes of text lines, roughly. `busy` marks pixels that are not plain background."""
    height, width = pixels.shape[:2]
    network = models.detector()
    chance = np.zeros((height, width), np.float32)
    tiles = list(_tiles(busy))
    seen = models.spread(lambda tile: _run(network, pixels[tile[0] : tile[1], tile[2] : tile[3]]), tiles)
    for number, (tile, found) in enumerate(zip(tiles, seen, strict=True)):
        top, bottom, left, right = tile
        part = chance[top:bottom, left:right]
        np.maximum(part, found, out=part)
        if done is not None:
            done((number + 1) / len(tiles))
    return _boxes(chance)


def _tiles(busy: Mask) -> Iterator[tuple[int, int, int, int]]:
    """Bands of rows that hold something, cut to the columns that do."""
    height, width = busy.shape
    rows = np.flatnonzero(busy.any(axis=1))
    if not len(rows):
        return
    breaks = np.flatnonzero(np.diff(rows) > OVERLAP)
    for band in np.split(rows, breaks + 1):
        top, end = max(int(band[0]) - 16, 0), min(int(band[-1]) + 17, height)
        while top < end:
            bottom = min(top + TILE, end)
            if end - bottom < OVERLAP:
                bottom = end
            columns = np.flatnonzero(busy[top:bottom].any(axis=0))
            if len(columns):
                yield top, bottom, max(int(columns[0]) - 16, 0), min(int(columns[-1]) + 17, width)
            if bottom == end:
                break
            top = bottom - OVERLAP


def _run(network: models.Model, tile: Pixels) -> NDArray[np.float32]:
    height, width = tile.shape[:2]
    padded = np.zeros((-(-height // 32) * 32, -(-width // 32) * 32, 3), np.float32)
    padded[:height, :width] = tile[:, :, ::-1]
    padded[height:, :width] = padded[height - 1, :width]
    padded[:, width:] = padded[:, width - 1 : width]
    batch = ((padded / 127.5) - 1.0).transpose(2, 0, 1)[None]
    return network(np.ascontiguousarray(batch, np.float32))[0, 0, :height, :width]


def _boxes(chance: NDArray[np.float32]) -> list[Rect]:
    height, width = chance.shape
    marked = islands(chance > SURE)
    found: list[Rect] = []
    for number in range(1, len(marked.area)):
        left, top, right, bottom = (int(edge) for edge in marked.edges[number])
        wide, high = right - left, bottom - top
        if min(wide, high) < 3:
            continue
        mean = float(chance[top:bottom, left:right][marked.mask(number)].mean())
        if mean < LEAST_MEAN:
            continue
        out = wide * high * GROWTH / (2 * (wide + high))
        found.append(Rect(left - out, top - out, wide + 2 * out, high + 2 * out).within(width, height))
    return found
