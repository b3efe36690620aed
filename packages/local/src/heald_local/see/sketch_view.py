"""The page on a sketch: its place on the sheet, its scale, and the grid that its edges are moved to."""

from collections.abc import Sequence
from dataclasses import dataclass

from heald_pictures.elements import Box
from heald_pictures.rect import Rect

GRID = 4  # CSS pixels
EDGE = 22.0  # CSS pixels by which lines that begin at one edge may differ


@dataclass(frozen=True, slots=True)
class SketchView:
    """The part of the sheet that is the page, and the CSS pixels for each of its pixels."""

    page: Rect
    scale: float

    def place(self, rect: Rect) -> Rect:
        by = self.scale
        return Rect((rect.x - self.page.x) * by, (rect.y - self.page.y) * by, rect.w * by, rect.h * by)


def nearest_side(left: float, boxes: Sequence[Box], default: float) -> float:
    """Return the left side of the box that something begins with."""
    sides = [box.rect.x for box in boxes if abs(box.rect.x - left) <= EDGE and box.rect.h > 1]
    return min(sides, key=lambda side: abs(side - left), default=default)


def on_grid(value: float) -> float:
    return float(round(value / GRID) * GRID)


def merge_near(values: Sequence[float], slack: float) -> dict[float, float]:
    """Map values that are near each other to their mean, on the grid."""
    merged: dict[float, float] = {}
    group: list[float] = []
    for value in [*sorted(set(values)), float("inf")]:
        if group and value - group[0] > slack:
            merged.update(dict.fromkeys(group, on_grid(sum(group) / len(group))))
            group = []
        group.append(value)
    return merged
