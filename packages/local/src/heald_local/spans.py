"""Groups items along one axis, and compares distances between them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def cut(items: Sequence[Item], span: Callable[[Item], tuple[float, float]], gap: float = 0.0) -> list[list[Item]]:
    """Group items along one axis: those whose spans overlap by more than a pixel, or lie nearer than `gap`."""
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


def is_even(values: Sequence[float], slack: float) -> bool:
    """Whether all values are within `slack` of their middle."""
    return not values or max(values) - min(values) <= 2 * slack
