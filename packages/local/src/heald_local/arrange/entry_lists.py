"""Makes lists of entries that repeat below each other: a link with a date, a line of text or a dividing line."""

import itertools
from collections.abc import Sequence

from heald_local.arrange.part import Part
from heald_pictures.rect import hull

_FEWEST = 3  # entries of a list
_PERIODS = (2, 3, 4)  # parts of an entry
_SAME_GAP, _SAME_EDGE = 3.0, 2.5  # pixels by which the distances and the left edges of entries differ
_WIDEST_GAP = 60.0  # pixels between two entries
_THICKEST = 8.0  # pixels of a picture that is a dividing line
_TEXTS = frozenset({"p", "a"})

Look = tuple[str, int, bool, str]


def gather_entries(children: Sequence[Part]) -> tuple[Part, ...]:
    """Return the children of a stack, with the entries among them in lists."""
    gathered: list[Part] = []
    at = 0
    while at < len(children):
        entries = _find_shortest(children[at:])
        if entries:
            items = tuple(
                Part("stack", hull(part.rect for part in entry), tuple(entry), tag="li", name="item")
                for entry in entries
            )
            gathered.append(Part("stack", hull(item.rect for item in items), items, tag="ul", name="list"))
        else:
            gathered.append(children[at])
        at += max(sum(map(len, entries)), 1)
    return tuple(gathered)


def _find_shortest(children: Sequence[Part]) -> list[Sequence[Part]]:
    """Return the entries of the fewest parts that the children begin with."""
    for period in _PERIODS:
        entries = _find_entries(children, period)
        if entries:
            return entries
    return []


def _find_entries(children: Sequence[Part], period: int) -> list[Sequence[Part]]:
    """Return the entries of some parts each that the children begin with; none if they do not form a list."""
    first = children[:period]
    looks = [_look(part) for part in first]
    if len(first) < period or None in looks or len(set(looks)) < period or not any(part.tag == "a" for part in first):
        return []
    entries = [first]
    for start in range(period, len(children) - period + 1, period):
        entry = children[start : start + period]
        if [_look(part) for part in entry] != looks or not _is_aligned(first, entry):
            break
        entries.append(entry)
    return entries if len(entries) >= _FEWEST and _are_even(entries) else []


def is_line_across(part: Part) -> bool:
    """Whether a part is a dividing line between others that stand below each other, also one with a pattern."""
    return part.kind == "rule" or (part.picture is not None and part.rect.h <= _THICKEST)


def _look(part: Part) -> Look | None:
    """Return how a part of an entry looks; none if it cannot be one."""
    if is_line_across(part):
        return "rule", 0, False, ""
    if part.text is None or part.tag not in _TEXTS or part.text.marker:
        return None
    style = part.text.style
    return part.tag, round(style.size), style.weight >= 600, style.colour


def _is_aligned(first: Sequence[Part], entry: Sequence[Part]) -> bool:
    return all(abs(one.rect.x - other.rect.x) <= _SAME_EDGE for one, other in zip(first, entry, strict=True))


def _are_even(entries: Sequence[Sequence[Part]]) -> bool:
    """Whether entries are closer in themselves than to each other, and all alike in that."""
    inner = [[lower.rect.y - upper.rect.bottom for upper, lower in itertools.pairwise(entry)] for entry in entries]
    between = [lower[0].rect.y - upper[-1].rect.bottom for upper, lower in itertools.pairwise(entries)]
    columns = [*zip(*inner, strict=True), between]
    is_even = all(max(gaps) - min(gaps) <= _SAME_GAP for gaps in columns)
    return is_even and min(between) <= _WIDEST_GAP and max(map(max, inner)) < min(between) + _SAME_GAP
