"""The matching lines of a text, found so that no pattern and no line takes long without a look at the clock."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft.tools.files.pattern import Expression
from weft.tools.files.walk import Deadline

_STEPS = 15_000_000  # of a pattern over one piece of text, at worst
_LEAST, _MOST = 4_096, 1_000_000
_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, or as much of it as is shown."""

    number: int
    text: str
    matches: bool = True


class Scan:
    """One text under a pattern. `cut` says that the time was over, `long` that a line was searched only in part."""

    def __init__(self, content: bytes, expression: Expression, deadline: Deadline) -> None:
        self.cut = False
        self.long = False
        self._content = content.replace(b"\r\n", b"\n")
        self._end = len(self._content) - self._content.endswith(b"\n")
        self._expression = expression
        self._deadline = deadline
        self._piece = min(max(_STEPS // max(expression.size, 1), _LEAST), _MOST)

    def lines(self, context: int = 0) -> Iterator[Line]:
        """The matching lines in their order, each among as many lines around it as asked for."""
        starts = _Starts(self._content, self._end)
        last = due = 0  # the line given last, and up to where lines after a match are to follow
        for number, place in self._matches():
            for around in sorted(
                {*range(last + 1, min(due, number - 1) + 1), *range(max(number - context, last + 1), number)}
            ):
                yield Line(around, starts.text(around), False)
            yield Line(number, starts.text(number, place))
            last, due = number, number + context
        for around in range(last + 1, due + 1):
            if starts.has(around):
                yield Line(around, starts.text(around), False)

    def _matches(self) -> Iterator[tuple[int, int]]:
        """Number of each matching line, and where its first match begins."""
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
        """Whole lines from here on: where to stop looking, and where to go on."""
        if at + self._piece >= self._end:
            return self._end, self._end + 1
        end = self._content.rfind(b"\n", at, at + self._piece)
        if end >= 0:
            return end, end + 1
        self.long = True
        end = self._content.find(b"\n", at)
        return at + self._piece, (self._end if end < 0 else end) + 1


class _Starts:
    """Where lines begin, found as far as they are asked for."""

    def __init__(self, content: bytes, end: int) -> None:
        self._content = content
        self._end = end
        self._starts = [0]

    def has(self, number: int) -> bool:
        while len(self._starts) < number:
            found = self._content.find(b"\n", self._starts[-1], self._end)
            if found < 0:
                return False
            self._starts.append(found + 1)
        return True

    def text(self, number: int, place: int | None = None) -> str:
        """A line, or the part of a long one around a place in it."""
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
