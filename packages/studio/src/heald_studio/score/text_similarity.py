"""The similarity of two texts."""

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache

LIKENESS = 0.5
"""Texts with a lower similarity count as unrelated."""

_MAX_LENGTH = 2_000
_SPACE = re.compile(r"\s+")


def normalise_text(text: str) -> str:
    """Normalise a text for comparison: fold compatibility forms, collapse spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()[:_MAX_LENGTH]


@lru_cache(maxsize=200_000)
def text_similarity(text: str, other: str) -> float:
    """Return the Ratcliff-Obershelp similarity, from 0 to 1; 0 for any pair below LIKENESS. The order does not matter.

    Cheaper bounds (lengths, characters, longest common subsequence) reject most pairs first.
    """
    if text == other:
        return 1.0
    total = len(text) + len(other)
    least = LIKENESS * total / 2
    if min(len(text), len(other)) < least or _common_char_count(text, other) < least:
        return 0.0
    if _common_subsequence(text, other) < least:
        return 0.0
    first, second = sorted((text, other))
    ratio = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return ratio if ratio >= LIKENESS else 0.0


@lru_cache(maxsize=10_000)
def _char_counts(text: str) -> Counter[str]:
    return Counter(text)


def _common_char_count(text: str, other: str) -> int:
    mine, yours = _char_counts(text), _char_counts(other)
    return sum(min(count, yours.get(char, 0)) for char, count in mine.items())


def _common_subsequence(text: str, other: str) -> int:
    """Return the length of the longest common subsequence, with a row of the table in the bits of a number."""
    places: dict[str, int] = {}
    for index, char in enumerate(text):
        places[char] = places.get(char, 0) | 1 << index
    every = (1 << len(text)) - 1
    row = every
    for char in other:
        hits = row & places.get(char, 0)
        row = ((row + hits) | (row - hits)) & every
    return len(text) - row.bit_count()
