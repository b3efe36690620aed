"""Finds the lines at the end of a text that another text lacks."""

from collections.abc import Sequence
from difflib import SequenceMatcher

_SIMILAR = 0.3
_MAX_COMPARED = 1_000_000
_MAX_LINE = 300


def find_lost_end(old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    """The lines at the end of a file that nothing replaces."""
    if not new or (old and old[-1] == new[-1]):
        return old if not new else ()
    if len(old) * len(new) > _MAX_COMPARED:
        return old[-1:] if old[-1] not in new else ()
    tag, first, last, begin, end = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()[-1]
    if tag == "delete":
        return old[first:last]
    if tag != "replace" or last - first <= end - begin:
        return ()
    similarity = _similarity(old[-1], new[-1])
    nearer = any(_similarity(line, new[-1]) > similarity for line in old[first : last - 1])
    return old[first:last] if nearer or similarity < _SIMILAR else ()


def _similarity(line: str, other: str) -> float:
    return SequenceMatcher(None, line[:_MAX_LINE], other[:_MAX_LINE], autojunk=False).ratio()


def solid_lines(text: str) -> list[str]:
    """The lines of a text that are not blank, without indentation."""
    return [line.strip() for line in text.split("\n") if line.strip()]
