"""The area that two pictures of a page do not share, and the part of it that has something on it."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from heald_studio.score.page_image import Pixels

Map = NDArray[np.float64]
Mask = NDArray[np.bool_]
_Levels = NDArray[np.int16]

_VISIBLE = 8
"""Levels of 255 from which a colour counts as another one; less counts in part."""
_UNSEEN = 3
"""Levels by which colours differ that nobody tells apart."""
_REACH = 1
"""Pixels that an edge may have moved."""
_BAND = 256
"""Rows that are compared at once: few enough to stay in the processor's cache."""


class ChangedArea(msgspec.Struct, frozen=True):
    """What differs between two pictures of the same size."""

    changes: Map
    """For each pixel how much of it changed, 0 to 1."""
    content: Mask
    """The pixels where either picture has more than its ground."""

    @property
    def share(self) -> float:
        """The share of the whole area that changed."""
        return float(self.changes.mean())

    @property
    def shape_similarity(self) -> float:
        """1 minus the share of the content that changed: by place, size, colour and outline."""
        count = int(np.count_nonzero(self.content))
        return max(0.0, 1 - float(self.changes[self.content].sum()) / count) if count else 1.0


def find_changed_area(target: Pixels, rendered: Pixels) -> ChangedArea:
    """Compare two pictures of the same size. An edge that moved by a pixel is not a change."""
    changes = np.zeros(target.shape[:2], np.float64)
    for top in range(0, len(target), _BAND):
        band = slice(top, top + _BAND)
        if not np.array_equal(target[band], rendered[band]):
            first, last = max(top - _REACH, 0), min(top + _BAND + _REACH, len(target))
            pictures = target[first:last].astype(np.int16), rendered[first:last].astype(np.int16)
            levels = np.maximum(_levels_outside(*pictures), _levels_outside(*reversed(pictures)))
            inner = levels[top - first : top - first + len(changes[band])]
            changes[band] = np.clip((inner - _UNSEEN) / (_VISIBLE - _UNSEEN), 0.0, 1.0)
    content = _has_content(target) | _has_content(rendered) | (changes > 0)
    return ChangedArea(changes, content)


def _levels_outside(picture: _Levels, other: _Levels) -> _Levels:
    """Return by how many levels each pixel lies outside the colours around it in the other picture."""
    low, high = other, other
    for axis in (0, 1):
        low = _spread(low, axis, np.minimum)
        high = _spread(high, axis, np.maximum)
    return np.maximum(np.maximum(picture - high, low - picture), 0).max(axis=2)


def _spread(levels: _Levels, axis: int, choose: np.ufunc) -> _Levels:
    """Return the lowest or highest level of each pixel and its neighbours along an axis."""
    result = levels.copy()
    later = [slice(None)] * 3
    earlier = [slice(None)] * 3
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    result[tuple(later)] = choose(result[tuple(later)], levels[tuple(earlier)])
    result[tuple(earlier)] = choose(result[tuple(earlier)], levels[tuple(later)])
    return result


def _has_content(pixels: Pixels) -> Mask:
    """Return where a picture differs from its ground, the colour that it has most of."""
    packed = pixels.astype(np.uint32) @ np.array((65536, 256, 1), np.uint32)
    colours, counts = np.unique(packed[::4, ::4], return_counts=True)
    most = int(colours[int(np.argmax(counts))])
    ground = np.array((most >> 16, most >> 8 & 255, most & 255), np.int16)
    return np.asarray(np.abs(pixels.astype(np.int16) - ground).max(axis=2) >= _VISIBLE)
