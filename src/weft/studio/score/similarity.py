"""How alike two texts are: twice the characters they have in common, in order, over all their characters.

In common is what Ratcliff and Obershelp call so: the longest common run, then the same to its left and right. Most
pairs are told apart by cheaper bounds (lengths, letters, longest common subsequence) before that is worked out.
"""

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache

LIKENESS = 0.5
"""Texts below this have nothing to do with each other."""

_MAX_LENGTH = 2_000
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """The text as it is compared: compatibility forms folded, spaces collapsed."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()[:_MAX_LENGTH]


@lru_cache(maxsize=200_000)
def similarity(one: str, other: str) -> float:
    """From 0 to 1, exactly 1 for equal texts, 0 for any pair below LIKENESS. The order of the two does not matter."""
    if one == other:
        return 1.0
    total = len(one) + len(other)
    least = LIKENESS * total / 2
    if min(len(one), len(other)) < least or _letters_in_common(one, other) < least:
        return 0.0
    if _subsequence(one, other) < least:
        return 0.0
    first, second = sorted((one, other))
    found = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return found if found >= LIKENESS else 0.0


@lru_cache(maxsize=10_000)
def _letters(text: str) -> Counter[str]:
    return Counter(text)


def _letters_in_common(one: str, other: str) -> int:
    mine, yours = _letters(one), _letters(other)
    return sum(min(count, yours.get(letter, 0)) for letter, count in mine.items())


def _subsequence(one: str, other: str) -> int:
    """Length of the longest common subsequence, all columns of the table at once in the bits of a number."""
    places: dict[str, int] = {}
    for index, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << index
    every = (1 << len(one)) - 1
    row = every
    for letter in other:
        hits = row & places.get(letter, 0)
        row = ((row + hits) | (row - hits)) & every
    return len(one) - row.bit_count()
