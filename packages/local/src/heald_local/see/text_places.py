"""Finds the places of text with a neural network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see import models
from heald_local.see.workers import map_parallel
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels, label_islands

TILE = 480  # rows that the network sees at once; tiles share `OVERLAP` rows so that no line is cut in two
OVERLAP = 64
SURE, LEAST_MEAN = 0.3, 0.45  # of a line that is read: the least chance of a pixel, and their mean
LIKELY, LEAST_LIKELY = 0.15, 0.22  # of a place that looks like text, whether or not it can be read
BAND_MARGIN = 16  # pixels of background that it sees around a band
LEAST_SIDE = 3  # pixels of the core of a line
GREY = 127.5  # half of the lightest level: the network sees colours from -1 to 1
GROWTH = 1.6  # the network marks the core of a line; its box is this much larger


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """Rough boxes of text lines: those that are read, and all that look like text."""

    lines: list[Rect]
    likely: list[Rect]


def find_text(pixels: Pixels, busy: Mask, done: Callable[[float], None] | None = None) -> TextPlaces:
    """Find text. `busy` marks pixels that are not plain background."""
    height, width = pixels.shape[:2]
    network = models.detection_network()
    chance = np.zeros((height, width), np.float32)
    tiles = sorted(_tiles(busy), key=lambda tile: -(tile[1] - tile[0]) * (tile[3] - tile[2]))  # none large at the end
    maps = map_parallel(lambda tile: _detect_tile(network, pixels[tile[0] : tile[1], tile[2] : tile[3]]), tiles)
    for number, (tile, tile_chance) in enumerate(zip(tiles, maps, strict=True)):
        top, bottom, left, right = tile
        part = chance[top:bottom, left:right]
        np.maximum(part, tile_chance, out=part)
        if done is not None:
            done((number + 1) / len(tiles))
    return TextPlaces(_boxes(chance, SURE, LEAST_MEAN), _boxes(chance, LIKELY, LEAST_LIKELY))


def _tiles(busy: Mask) -> Iterator[tuple[int, int, int, int]]:
    """Yield bands of rows that are not empty, cropped to their columns."""
    height, width = busy.shape
    rows = np.flatnonzero(busy.any(axis=1))
    if not len(rows):
        return
    breaks = np.flatnonzero(np.diff(rows) > OVERLAP)
    for band in np.split(rows, breaks + 1):
        top, end = max(int(band[0]) - BAND_MARGIN, 0), min(int(band[-1]) + 1 + BAND_MARGIN, height)
        while top < end:
            bottom = min(top + TILE, end)
            if end - bottom < OVERLAP:
                bottom = end
            columns = np.flatnonzero(busy[top:bottom].any(axis=0))
            if len(columns):
                left, right = int(columns[0]) - BAND_MARGIN, int(columns[-1]) + 1 + BAND_MARGIN
                yield top, bottom, max(left, 0), min(right, width)
            if bottom == end:
                break
            top = bottom - OVERLAP


def _detect_tile(network: models.Network, tile: Pixels) -> NDArray[np.float32]:
    height, width, channels = tile.shape
    padded = np.zeros((*models.padded_shape(height, width), channels), np.float32)
    padded[:height, :width] = tile[:, :, ::-1]
    padded[height:, :width] = padded[height - 1, :width]
    padded[:, width:] = padded[:, width - 1 : width]
    batch = ((padded / GREY) - 1.0).transpose(2, 0, 1)[None]
    return network(np.ascontiguousarray(batch, np.float32))[0, 0, :height, :width]


def _boxes(chance: NDArray[np.float32], least: float, least_mean: float) -> list[Rect]:
    height, width = chance.shape
    marked = label_islands(chance > least)
    places: list[Rect] = []
    for number in range(1, len(marked.area)):
        left, top, right, bottom = (int(edge) for edge in marked.edges[number])
        wide, high = right - left, bottom - top
        if min(wide, high) < LEAST_SIDE:
            continue
        mean = float(chance[top:bottom, left:right][marked.mask(number)].mean())
        if mean < least_mean:
            continue
        out = wide * high * GROWTH / (2 * (wide + high))
        places.append(Rect(left - out, top - out, wide + 2 * out, high + 2 * out).within(width, height))
    return places
