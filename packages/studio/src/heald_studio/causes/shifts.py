"""Where a place of a page lies in its picture, by the pairs of places around it that are certain."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest

from heald_pictures.rect import Rect

_NEAREST = 5
_ROW = 0.3  # the weight of a distance along a row: what stands beside moves together
_SOFT = 30.0  # pixels within which pairs count alike


@dataclass(frozen=True, slots=True)
class PlacePair:
    """The same text on the page and in the picture."""

    page: Rect
    picture: Rect


class Shifts:
    """Maps rectangles of a page to its picture."""

    def __init__(self, pairs: Sequence[PlacePair], page_height: float, picture_height: float) -> None:
        self._pairs = pairs
        self._scale = picture_height / max(page_height, 1.0)

    def place(self, rect: Rect) -> Rect:
        """Return the place in the picture. Without a pair it is the same part of the height."""
        if not self._pairs:
            return Rect(rect.x, rect.y * self._scale, rect.w, rect.h)
        nearest = nsmallest(_NEAREST, ((self._distance(rect, pair), n) for n, pair in enumerate(self._pairs)))
        total = across = down = size = 0.0
        for distance, number in nearest:
            pair = self._pairs[number]
            weight = 1 / (distance + _SOFT) ** 2
            total += weight
            across += weight * (pair.picture.x - pair.page.x)
            down += weight * (pair.picture.middle[1] - pair.page.middle[1])
            size += weight * pair.picture.h / max(pair.page.h, 1.0)
        scale = min(max(size / total, 0.5), 2.0)
        height = rect.h * scale
        middle = rect.middle[1] + down / total
        return Rect(rect.x + across / total, middle - height / 2, rect.w * scale, height)

    def _distance(self, rect: Rect, pair: PlacePair) -> float:
        return abs(rect.middle[1] - pair.page.middle[1]) + _ROW * abs(rect.x - pair.page.x)
