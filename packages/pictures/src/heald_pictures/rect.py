"""A rectangle in page pixels, and the hull of several."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle in page pixels; `right` and `bottom` are the first pixel outside."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def area(self) -> float:
        return self.w * self.h

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    def common(self, other: "Rect") -> float:
        wide = min(self.right, other.right) - max(self.x, other.x)
        high = min(self.bottom, other.bottom) - max(self.y, other.y)
        return wide * high if wide > 0 and high > 0 else 0.0

    def holds(self, other: "Rect", slack: float = 0.0) -> bool:
        across = other.x >= self.x - slack and other.right <= self.right + slack
        return across and other.y >= self.y - slack and other.bottom <= self.bottom + slack

    def grown(self, by: float) -> "Rect":
        return Rect(self.x - by, self.y - by, max(self.w + 2 * by, 0), max(self.h + 2 * by, 0))

    def within(self, width: float, height: float) -> "Rect":
        """Return the part that lies on a page of this size."""
        x, y = min(max(self.x, 0), width), min(max(self.y, 0), height)
        return Rect(x, y, max(min(self.right, width) - x, 0), max(min(self.bottom, height) - y, 0))


def spanning(edges: tuple[float, float, float, float]) -> Rect:
    left, top, right, bottom = edges
    return Rect(left, top, right - left, bottom - top)


def hull(rects: Iterable[Rect]) -> Rect:
    """Return the smallest rectangle around all; there must be at least one."""
    every = list(rects)
    left, top = min(rect.x for rect in every), min(rect.y for rect in every)
    return Rect(left, top, max(rect.right for rect in every) - left, max(rect.bottom for rect in every) - top)
