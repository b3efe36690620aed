"""Compares how much of a rectangle lies on others."""

from collections.abc import Sequence

from heald_pictures.rect import Rect

MOSTLY = 0.5  # the part of a rectangle from which on it lies on another one


def is_mostly_on(rect: Rect, others: Sequence[Rect], share: float = MOSTLY) -> bool:
    return any(other.common(rect) > share * rect.area for other in others)
