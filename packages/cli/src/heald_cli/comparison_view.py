"""Prints two sessions side by side: what both have as a line, and then the two futures as columns."""

from collections.abc import Sequence
from itertools import zip_longest

from heald.commands.terminal import BOLD, DIM, Colours
from heald.commands.text_columns import pad, text_width, truncate
from heald.core.envelope import Event
from heald.sessions.session_comparison import SessionComparison, SessionFuture
from heald.tools.sanitize import sanitize_text
from heald_cli.transcript import Transcript

_GAP = " │ "
_MIN_WIDTH = 24


class ComparisonView:
    """Formats a comparison as lines. `columns` is the width of the terminal."""

    def __init__(self, comparison: SessionComparison, paint: Colours, columns: int) -> None:
        self._comparison = comparison
        self._paint = paint
        self._width = max((columns - len(_GAP)) // 2, _MIN_WIDTH)

    def lines(self, left: Sequence[Event], right: Sequence[Event]) -> list[str]:
        """Return the lines. `left` and `right` are the events of each log after the shared ones."""
        comparison, plain = self._comparison, Colours(on=False)
        shared = f"{comparison.shared:,} events are equal" if comparison.shared else "No event is equal"
        heads = [_head(future) for future in (comparison.left, comparison.right)]
        texts = [self._wrapped(Transcript(plain), events) for events in (left, right)]
        return [
            self._paint(f"{shared}; then:", DIM),
            *(self._paint(line, BOLD) for line in self._columns(heads[0][:1], heads[1][:1])),
            *self._columns(heads[0][1:], heads[1][1:]),
            self._paint(f"{'─' * self._width}─┼─{'─' * self._width}", DIM),
            *self._columns(*texts),
        ]

    def _columns(self, left: Sequence[str], right: Sequence[str]) -> list[str]:
        rows = zip_longest(left, right, fillvalue="")
        return [
            f"{pad(truncate(a, self._width), self._width)}{_GAP}{truncate(b, self._width)}".rstrip() for a, b in rows
        ]

    def _wrapped(self, transcript: Transcript, events: Sequence[Event]) -> list[str]:
        lines = [line for event in events for line in transcript.lines(event)]
        return [row for line in lines for row in _wrap(line, self._width)]


def _head(future: SessionFuture) -> list[str]:
    """Return the title of a session and the facts of its future."""
    changed = f"another {' and '.join(future.fork.changed)}" if future.fork is not None and future.fork.changed else ""
    cost = "unknown cost" if future.cost_usd is None else f"${future.cost_usd:.4f}"
    calls = f"{future.calls:,} calls" + (f", {future.failed_calls:,} failed" if future.failed_calls else "")
    lines = [
        f"{future.id}  {sanitize_text(future.title)}".rstrip(),
        sanitize_text(", ".join(future.models)) or "no model was asked",
        f"{future.status}, {future.turns:,} turns, {calls}, {cost}",
    ]
    files = [f"changed {sanitize_text(', '.join(future.files))}"] if future.files else []
    return [*lines, *([f"forked with {changed}"] if changed else []), *files]


def _wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, and a longer word anywhere."""
    rows = [""]
    for word in line.split(" "):
        joined = f"{rows[-1]} {word}" if rows[-1] else word
        if text_width(joined) <= width:
            rows[-1] = joined
            continue
        if rows[-1]:
            rows.append("")
        while text_width(word) > width:
            head = truncate(word, width + 1).removesuffix("…")[:width]
            rows[-1] = head
            rows.append("")
            word = word[len(head) :]
        rows[-1] = word
    return rows
