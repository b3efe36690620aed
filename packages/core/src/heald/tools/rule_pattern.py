"""Patterns of permission rules, matched against texts of which a part is known only when the call runs.

A text is a sequence of pieces: a string, or None for a part that may become anything. `may_match` says whether some
outcome matches, which is what a rule that forbids needs; `must_match` whether every outcome does, which is what a rule
that allows needs. For a text without unknown parts both are `fnmatch`.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase, translate
from functools import lru_cache

Pieces = Sequence[str | None]

_PLACEHOLDER = "\uf8ff"
"""A character of the private use area: rules do not name it."""


def may_match(pattern: str, pieces: Pieces) -> bool:
    """Whether the text matches for at least one value of its unknown parts."""
    if None not in pieces:
        return fnmatchcase("".join(piece for piece in pieces if piece is not None), pattern)
    return _automaton(pattern).accepts(pieces)


def must_match(pattern: str, pieces: Pieces) -> bool:
    """Whether the text matches for all values of its unknown parts: only a `*` of the pattern covers them."""
    unknown = _PLACEHOLDER * (len(pattern) + 1)
    return fnmatchcase("".join(unknown if piece is None else piece for piece in pieces), pattern)


class _Automaton:
    """A pattern as a set of positions, one bit for each: linear in the text, however many `*` the pattern has."""

    def __init__(self, pattern: str) -> None:
        tokens = _tokens(pattern)
        self._stars = sum(1 << index for index, token in enumerate(tokens) if token == "*")
        self._single = [(1 << index, _matcher(token)) for index, token in enumerate(tokens) if token != "*"]
        self._end = 1 << len(tokens)
        self._masks: dict[str, int] = {}

    def accepts(self, pieces: Pieces) -> bool:
        positions = self._skip_stars(1)
        for piece in pieces:
            if piece is None:
                lowest = positions & -positions
                positions |= (self._end << 1) - lowest
                continue
            for char in piece:
                positions = self._skip_stars(((positions & self._mask(char)) << 1) | (positions & self._stars))
                if not positions:
                    return False
        return bool(positions & self._end)

    def _skip_stars(self, positions: int) -> int:
        return positions | ((positions & self._stars) << 1)

    def _mask(self, char: str) -> int:
        mask = self._masks.get(char)
        if mask is None:
            mask = self._masks[char] = sum(bit for bit, matcher in self._single if matcher.match(char))
        return mask


_automaton = lru_cache(256)(_Automaton)


def _matcher(token: str) -> "re.Pattern[str]":
    return re.compile(translate(token))


def _tokens(pattern: str) -> list[str]:
    """Split a pattern into `*`, `?`, bracket expressions and characters, as `fnmatch` reads them."""
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        end = at + 1
        if char == "*" and tokens and tokens[-1] == "*":
            at = end
            continue
        if char == "[":
            first = at + 2 if pattern[at + 1 : at + 2] == "!" else at + 1
            close = pattern.find("]", first + 1)
            end = close + 1 if close >= 0 else end
        tokens.append(pattern[at:end])
        at = end
    return tokens
