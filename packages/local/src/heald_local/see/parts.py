"""Finds the parts of a page with Heald's own network: icons, and controls with their state.

The network is small data of the `heald-local` distribution; `packages/local/training` has its recipe. Where it is
missing, `find_parts` finds nothing, and the page is built without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heald_local.see import models
from heald_local.see.pixel_units import PIXEL_MIDDLE, SIDES
from heald_local.see.workers import map_parallel
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels

SMALL = ("icon", "checkbox", "checkbox_on", "radio", "radio_on", "switch", "switch_on", "thumb")
LARGE = ("button", "field", "textarea", "select", "slider", "photo")
NAMES = SMALL + LARGE
CHANNELS = len(NAMES) + 2 * SIDES + 3  # heat, edges of small and of large parts, masks
TEXT = CHANNELS - 2  # the mask of text; those of photographs and of text on them are not used
STRIDE = 4  # pixels of the page for each of the answer
PEAK = 1  # pixels of the answer around a peak that are lower
SAME_PLACE = 0.5  # the part of both that two parts at one place share
KNOB_SIZE, KNOB_INSIDE = 0.8, 0.6  # of a switch: the part that a knob is smaller than, and of the knob that is inside
TILE, OVERLAP = 768, 128  # rows that the network sees at once, and those that tiles share
MARGIN = 48  # pixels of background that it sees around what is drawn
SURE, LEAST_ICON = 0.4, 0.55  # the chance of a part, and of an icon
WORDY = 0.35  # an icon of which more than this part looks like text is text


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part of the page: its class, its place, and the chance that it is one."""

    name: str
    rect: Rect
    sure: float


def find_parts(pixels: Pixels, busy: Mask) -> list[FoundPart]:
    """Find the parts of a page; none without the network. `busy` marks pixels that are not plain background."""
    network = models.parts_network()
    if network is None:
        return []
    seen_tiles = map_parallel(lambda tile: _see_tile(network, pixels, tile), _tiles(busy))
    return _without_doubles([part for parts in seen_tiles for part in parts])


@dataclass(frozen=True, slots=True)
class _Tile:
    """A part of the page that the network sees, and the rows of it whose answer is used."""

    rows: slice
    columns: slice
    first: int
    last: int


def _tiles(busy: Mask) -> Iterator[_Tile]:
    """Yield the bands of rows between wide empty ones, cut where they are tall and cropped to their columns.

    Tiles overlap where a band is cut; at its ends there is only the margin.
    """
    height, width = busy.shape
    filled = np.flatnonzero(busy.any(axis=1))
    step = TILE - OVERLAP
    for band in np.split(filled, np.flatnonzero(np.diff(filled) > 2 * MARGIN) + 1) if len(filled) else ():
        start, end = max(int(band[0]) - MARGIN, 0), min(int(band[-1]) + MARGIN, height)
        for first in range(start, end, step):
            last = min(first + step, end)
            top, bottom = max(first - OVERLAP // 2, start), min(last + OVERLAP // 2, end)
            columns = np.flatnonzero(busy[top:bottom].any(axis=0))
            left, right = max(int(columns[0]) - MARGIN, 0), min(int(columns[-1]) + MARGIN, width)
            yield _Tile(slice(top, bottom), slice(left, right), first, last)


def _see_tile(network: models.Network, pixels: Pixels, tile: _Tile) -> list[FoundPart]:
    """Return the parts whose middle lies on the rows of a tile that are used."""
    part = pixels[tile.rows, tile.columns]
    height, width, channels = part.shape
    padded = np.zeros((1, channels, *models.padded_shape(height, width)), np.float32)
    padded[0, :, :height, :width] = part.transpose(2, 0, 1)
    seen = network(padded)[0]
    down, right = tile.rows.start, tile.columns.start
    parts = [part for part in _peaks(seen) if tile.first <= part.rect.middle[1] + down < tile.last]
    return [
        replace(part, rect=Rect(part.rect.x + right, part.rect.y + down, part.rect.w, part.rect.h))
        for part in parts
        if part.name != "icon" or _is_icon(part, seen[TEXT])
    ]


def _peaks(seen: NDArray[np.float32]) -> Iterator[FoundPart]:
    """Yield a part for each peak of the heat."""
    heat = seen[: len(NAMES)]
    height, width = heat.shape[1:]
    for index in np.argwhere(heat > SURE):
        kind, row, column = (int(place) for place in index)
        sure = float(heat[kind, row, column])
        around = heat[kind, max(row - PEAK, 0) : row + PEAK + 1, max(column - PEAK, 0) : column + PEAK + 1]
        if float(around.max()) > sure:
            continue
        start = len(NAMES) + (0 if kind < len(SMALL) else SIDES)
        left, top, right, bottom = (float(edge) for edge in seen[start : start + SIDES, row, column])
        x, y = (column + PIXEL_MIDDLE) * STRIDE, (row + PIXEL_MIDDLE) * STRIDE
        rect = spanning((x - left, y - top, x + right, y + bottom)).within(width * STRIDE, height * STRIDE)
        yield FoundPart(NAMES[kind], rect, sure)


def _without_doubles(parts: list[FoundPart]) -> list[FoundPart]:
    """Keep the surest of parts at the same place: a control is on or off, a frame is a field or a button."""
    single: list[FoundPart] = []
    for part in sorted(parts, key=lambda part: -part.sure):
        large = part.name in LARGE
        same = [other for other in single if (other.name in LARGE) == large]
        if not any(_overlap(part.rect, other.rect) > SAME_PLACE for other in same):
            single.append(part)
    switches = [part.rect for part in single if part.name.startswith("switch")]
    return [part for part in single if part.name in LARGE or not _is_knob(part.rect, switches)]


def _is_knob(rect: Rect, switches: Sequence[Rect]) -> bool:
    """Whether a mark is the knob of a switch."""
    return any(
        rect.area < KNOB_SIZE * switch.area and rect.common(switch) > KNOB_INSIDE * rect.area for switch in switches
    )


def _overlap(rect: Rect, other: Rect) -> float:
    both = rect.common(other)
    return both / max(rect.area + other.area - both, 1.0)


def _is_icon(part: FoundPart, text: NDArray[np.float32]) -> bool:
    return part.sure >= LEAST_ICON and float(_part_of(text, part.rect).mean()) < WORDY


def _part_of(mask: NDArray[np.float32], rect: Rect) -> NDArray[np.float32]:
    top, left = int(rect.y) // STRIDE, int(rect.x) // STRIDE
    return mask[top : max(-(-int(rect.bottom) // STRIDE), top + 1), left : max(-(-int(rect.right) // STRIDE), left + 1)]
