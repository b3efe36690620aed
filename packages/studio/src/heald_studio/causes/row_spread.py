"""Divides a line of a picture among its words: by their widths on the page, and by the gaps between the letters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from heald_pictures.rect import Rect
from heald_studio.causes.ink_gaps import InkGap

_BEARING = 0.04  # the room beside the ink of a word that belongs to it, in heights
_NARROW = 0.3  # the width of a sign, in heights
_MORE_ROOM = 0.02  # the further room beside the ink of a sign, in heights
_LEAST_SPACE = 0.1  # a narrower gap, in heights, is one between letters
_FARTHEST = 1.2  # how far a space may be from where it is expected, in heights
_FARTHEST_SHARE = 0.06  # the same, in widths of the line
_NEAREST = 0.3  # how far a gap between letters may be from where it is expected, in heights


@dataclass(frozen=True, slots=True)
class RowWord:
    """The width of a word on the page, and the distance to the next one; 0 if that follows without a space."""

    width: float
    space: float


def spread_row(rect: Rect, gaps: Sequence[InkGap], words: Sequence[RowWord]) -> list[Rect]:
    """Return the place of each word in a line."""
    places = _by_width(rect.x, rect.right, words)
    places = _at_spaces(rect, [gap for gap in gaps if gap.width >= _LEAST_SPACE * rect.h], words, places)
    places = _at_narrow_gaps(rect, gaps, words, places)
    rects = [Rect(left, rect.y, max(right - left, 1.0), rect.h) for left, right in places]
    return [_with_room(place) if gaps else place for place in rects]


def _by_width(left: float, right: float, words: Sequence[RowWord]) -> list[tuple[float, float]]:
    total = sum(word.width for word in words) + sum(word.space for word in words[:-1])
    scale = (right - left) / max(total, 1.0)
    places: list[tuple[float, float]] = []
    for word in words:
        places.append((left, left + word.width * scale))
        left += (word.width + word.space) * scale
    return places


def _at_spaces(
    rect: Rect, gaps: Sequence[InkGap], words: Sequence[RowWord], places: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Move the words apart at the widest gaps, if there is one for each space near its place."""
    spaces = [number for number, word in enumerate(words[:-1]) if word.space > 0]
    widest = sorted(sorted(gaps, key=lambda gap: -gap.width)[: len(spaces)], key=lambda gap: gap.left)
    if not spaces or len(widest) < len(spaces):
        return places
    farthest = max(_FARTHEST * rect.h, _FARTHEST_SHARE * rect.w)
    for number, gap in zip(spaces, widest, strict=True):
        if abs((places[number][1] + places[number + 1][0]) / 2 - gap.middle) > farthest:
            return places
    bearing = _BEARING * rect.h
    lefts = [rect.x, *(gap.right - bearing for gap in widest)]
    rights = [*(gap.left + bearing for gap in widest), rect.right]
    starts = [0, *(number + 1 for number in spaces), len(words)]
    moved: list[tuple[float, float]] = []
    for (first, last), left, right in zip(pairwise(starts), lefts, rights, strict=True):
        moved += _by_width(left, right, [RowWord(word.width, 0.0) for word in words[first:last]])
    return moved


def _at_narrow_gaps(
    rect: Rect, gaps: Sequence[InkGap], words: Sequence[RowWord], places: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Move the end of a word that is followed without a space to the nearest gap between letters."""
    moved = list(places)
    for number, word in enumerate(words[:-1]):
        if word.space > 0:
            continue
        end = moved[number][1]
        nearest = min(gaps, key=lambda gap: abs(gap.middle - end), default=None)
        if nearest is not None and abs(nearest.middle - end) <= _NEAREST * rect.h:
            bearing = min(_BEARING * rect.h, nearest.width / 2)
            moved[number] = (moved[number][0], nearest.left + bearing)
            moved[number + 1] = (nearest.right - bearing, moved[number + 1][1])
    return moved


def _with_room(place: Rect) -> Rect:
    """Return the place of a word. A narrow one is a sign such as a dot, which has more room beside its ink."""
    room = _MORE_ROOM * place.h if place.w < _NARROW * place.h else 0.0
    return Rect(place.x - room, place.y, place.w + 2 * room, place.h)
