"""Scans a text for the lines that match a regular expression, in pieces, so that the time limit is checked often."""

from collections.abc import Iterator

import msgspec

from heald.tools.files.pattern import Expression
from heald.tools.files.walk import Deadline

_STEPS = 15_000_000  # maximum for a pattern on one piece of text
_LEAST, _MOST = 4_096, 1_000_000
_WIDTH = 300


class FoundLine(msgspec.Struct, frozen=True):
    """A line of a file, shortened for display. `matches` is False for a context line."""

    number: int
    text: str
    matches: bool = True


class Scan:
    """Searches one text. `cut` is set if the time ran out, `long` if a line was searched only in part."""

    def __init__(self, content: bytes, expression: Expression, deadline: Deadline) -> None:
        self.cut = False
        self.long = False
        self._content = content.replace(b"\r\n", b"\n")
        self._end = len(self._content) - self._content.endswith(b"\n")
        self._expression = expression
        self._deadline = deadline
        self._piece = min(max(_STEPS // max(expression.size, 1), _LEAST), _MOST)

    def lines(self, context: int = 0) -> Iterator[FoundLine]:
        """Yield the matching lines in order, each with `context` lines around it."""
        starts = _Starts(self._content, self._end)
        last = due = 0  # the last line that was yielded, and the last context line that is due
        for number, place in self._matches():
            for around in sorted(
                {*range(last + 1, min(due, number - 1) + 1), *range(max(number - context, last + 1), number)}
            ):
                yield FoundLine(around, starts.text(around), False)
            yield FoundLine(number, starts.text(number, place))
            last, due = number, number + context
        for around in range(last + 1, due + 1):
            if starts.has(around):
                yield FoundLine(around, starts.text(around), False)

    def _matches(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each matching line and the start of its first match."""
        content, at, number = self._content, 0, 1
        while at <= self._end and at < len(content):
            if self._deadline.passed:
                self.cut = True
                return
            end, after = self._piece_at(at)
            place = self._expression.find(content, at, end, cut=content[end : end + 1] not in (b"\n", b""))
            if place < 0:
                number += content.count(b"\n", at, after)
                at = after
                continue
            number += content.count(b"\n", at, place)
            yield number, place
            line_end = content.find(b"\n", place)
            if line_end < 0:
                return
            number += 1
            at = line_end + 1

    def _piece_at(self, at: int) -> tuple[int, int]:
        """Return the end of a piece of whole lines, and the start of the next piece."""
        if at + self._piece >= self._end:
            return self._end, self._end + 1
        end = self._content.rfind(b"\n", at, at + self._piece)
        if end >= 0:
            return end, end + 1
        self.long = True
        end = self._content.find(b"\n", at)
        return at + self._piece, (self._end if end < 0 else end) + 1


class _Starts:
    """The start positions of lines, computed on demand."""

    def __init__(self, content: bytes, end: int) -> None:
        self._content = content
        self._end = end
        self._starts = [0]

    def has(self, number: int) -> bool:
        while len(self._starts) < number:
            line_end = self._content.find(b"\n", self._starts[-1], self._end)
            if line_end < 0:
                return False
            self._starts.append(line_end + 1)
        return True

    def text(self, number: int, place: int | None = None) -> str:
        """Return a line, or the part of a long line around a position."""
        self.has(number)
        start = self._starts[number - 1]
        end = self._content.find(b"\n", start, self._end)
        end = self._end if end < 0 else end
        if end - start <= _WIDTH:
            return self._content[start:end].decode("utf-8", "replace")
        first = max(start, (start if place is None else place) - _WIDTH // 3)
        last = min(end, first + _WIDTH)
        text = self._content[first:last].decode("utf-8", "ignore")
        return f"{'…' * (first > start)}{text}{'…' * (last < end)}"
