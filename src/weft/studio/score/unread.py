"""Finds the places of a picture that look like text and that no read line explains."""

from collections.abc import Iterator, Sequence

from weft.vision.elements import Rect

LEAST_HEIGHT, MOST_HEIGHT = 8.0, 96.0
LEAST_WIDTH = 1.7  # of a place, in heights: a narrower one may be an icon
LEAST_REST = 1.6  # of what is left beside the lines on it, in heights: less is the margin of a line


def find_unread(places: Sequence[Rect], lines: Sequence[Rect]) -> list[Rect]:
    """Return the parts of places that no line covers. Places may overlap each other; the parts do not."""
    found: list[Rect] = []
    for place in sorted(places, key=lambda each: -each.area):
        if not LEAST_HEIGHT <= place.h <= MOST_HEIGHT or place.w < LEAST_WIDTH * place.h:
            continue
        level = [line for line in (*lines, *found) if _are_level(place, line)]
        found += _parts_beside(place, level)
    return sorted(found, key=lambda each: (each.y, each.x))


def _are_level(place: Rect, line: Rect) -> bool:
    common = min(place.bottom, line.bottom) - max(place.y, line.y)
    return common > 0.4 * min(place.h, line.h) and line.x < place.right and line.right > place.x


def _parts_beside(place: Rect, lines: Sequence[Rect]) -> Iterator[Rect]:
    end = place.x
    for left, right in (*sorted((line.x, line.right) for line in lines), (place.right, place.right)):
        if left - end > max(LEAST_REST * place.h, 0.2 * place.w if lines else 0.0):
            yield Rect(end, place.y, left - end, place.h)
        end = max(end, right)
