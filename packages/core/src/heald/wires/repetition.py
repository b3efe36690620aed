"""Notices that a model repeats itself without an end, as small ones do."""

from collections import Counter

from heald.core.lazy import lazy_pattern
from heald.wires.fence import read_fence

_TIMES = 3
"""A line counts as repeated if it stood in the answer so often before."""
_MOST_CHARACTERS = 3_000
"""Of lines that are repeated, one behind the other. A file that is written twice or thrice has none."""
_NUMBER = lazy_pattern(r"\d+")


class Repetition:
    """Follows an answer as it arrives. In words, lines that differ in numbers only are the same; in code they are not,
    since a table may have many of them."""

    def __init__(self) -> None:
        self.length = 0
        """Its characters so far."""
        self._line: list[str] = []
        self._counts: Counter[str] = Counter()
        self._repeated = 0
        self._is_in_block = False

    def follow(self, text: str) -> bool:
        """Add a piece of the answer. Returns whether its end repeats itself."""
        self.length += len(text)
        while True:
            end, separator, text = text.partition("\n")
            self._line.append(end)
            if not separator:
                return False
            line, self._line = "".join(self._line), []
            if self._repeats(line):
                return True

    def _repeats(self, line: str) -> bool:
        if read_fence(line) is not None:
            self._is_in_block = not self._is_in_block
        words = line.strip()
        if not words:
            return False
        key = words if self._is_in_block else _NUMBER.sub("0", words)
        self._repeated = self._repeated + len(line) if self._counts[key] >= _TIMES else 0
        self._counts[key] += 1
        return self._repeated >= _MOST_CHARACTERS
