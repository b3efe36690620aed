"""Rectangles, and the cuts that divide a set of them into rows and columns. Pure arithmetic."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


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
        """The area that both cover."""
        wide = min(self.right, other.right) - max(self.x, other.x)
        high = min(self.bottom, other.bottom) - max(self.y, other.y)
        return wide * high if wide > 0 and high > 0 else 0.0

    def holds(self, other: "Rect", slack: float = 0.0) -> bool:
        return (
            other.x >= self.x - slack
            and other.y >= self.y - slack
            and other.right <= self.right + slack
            and other.bottom <= self.bottom + slack
        )

    def grown(self, by: float) -> "Rect":
        return Rect(self.x - by, self.y - by, max(self.w + 2 * by, 0), max(self.h + 2 * by, 0))

    def within(self, width: float, height: float) -> "Rect":
        """The part that lies on a page of this size."""
        x, y = min(max(self.x, 0), width), min(max(self.y, 0), height)
        return Rect(x, y, max(min(self.right, width) - x, 0), max(min(self.bottom, height) - y, 0))


def spanning(edges: tuple[float, float, float, float]) -> Rect:
    """From left, top, right and bottom."""
    left, top, right, bottom = edges
    return Rect(left, top, right - left, bottom - top)


def hull(rects: Iterable[Rect]) -> Rect:
    """The smallest rectangle around all; there must be one."""
    every = list(rects)
    left, top = min(rect.x for rect in every), min(rect.y for rect in every)
    return Rect(left, top, max(rect.right for rect in every) - left, max(rect.bottom for rect in every) - top)


def cut(items: Sequence[Item], span: Callable[[Item], tuple[float, float]], gap: float = 0.0) -> list[list[Item]]:
    """Groups along one axis: items whose spans overlap, or lie nearer than `gap`, share a group. Ordered, none lost.

    Spans may overlap by one pixel and still be apart: neighbours that touch are not one.
    """
    ordered = sorted(items, key=lambda item: span(item)[0])
    groups: list[list[Item]] = []
    reach = float("-inf")
    for item in ordered:
        start, end = span(item)
        if not groups or start >= reach - 1 + gap:
            groups.append([])
        groups[-1].append(item)
        reach = max(reach, end) if len(groups[-1]) > 1 else end
    return groups


def even(values: Sequence[float], slack: float) -> bool:
    """All within `slack` of their middle."""
    return not values or max(values) - min(values) <= 2 * slack
