"""Which state of a file wrote each of its lines."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeVar

T = TypeVar("T")


def blame_lines(states: Sequence[tuple[T, str]]) -> list[T]:
    """Return the writer of each line of the last state. `states` are the contents of a file in order, each with its
    writer. A line that stays as it is keeps its writer; one that moves is written anew."""
    lines: list[str] = []
    writers: list[T] = []
    for writer, text in states:
        after = text.splitlines()
        writers = _carry(lines, writers, after, writer)
        lines = after
    return writers


def _carry(before: list[str], writers: list[T], after: list[str], writer: T) -> list[T]:
    """Return the writers of the lines after a change. What is alike at both ends is not compared line by line."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    middle: list[T] = [writer] * (len(after) - head - tail)
    matcher = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail], autojunk=False)
    for block in matcher.get_matching_blocks():
        start = head + block.a
        middle[block.b : block.b + block.size] = writers[start : start + block.size]
    return [*writers[:head], *middle, *writers[len(writers) - tail :]]
