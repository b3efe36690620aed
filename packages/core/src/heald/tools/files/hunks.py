"""Applies the hunks of a patch to a text.

A hunk is applied where its old lines are: at the line number it names if they match there, otherwise at their only
occurrence. Lines are compared exactly. A patch with LF also applies to a file with CRLF line endings and keeps them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from heald.tools.files.patch_format import PatchFault, PatchHunk

_NAMED = 8
_SHOWN = 6
_MAX_COMPARED = 20_000_000  # characters compared for one hunk with many occurrences
_MAX_PLACES = 100_000
_MAX_LINES_COMPARED = 1_000_000  # for the message about a mismatch


def apply_hunks(text: str, hunks: Sequence[PatchHunk], path: str) -> str:
    """Apply all hunks to the text. Raises PatchFault with the expected and actual lines if a hunk does not fit."""
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    exact, loose = _Lines(lines), _Lines([line.removesuffix("\r") for line in lines])
    out: list[str] = []
    at = shift = 0
    for number, hunk in enumerate(hunks, 1):
        place = _Place(exact, loose, hunk, at, shift, f"Hunk {number} of {len(hunks)} for {path}")
        start = place.find()
        end = start + len(hunk.old)
        out += lines[at:start]
        out += _new_lines(lines, start, hunk, place.exactly)
        if hunk.line is not None:
            shift = start - (hunk.line - 1)
        if end == len(lines) and (hunk.old_open or hunk.new_open or not lines):
            ended = not hunk.new_open
        at = end
    out += lines[at:]
    return "\n".join(out) + ("\n" if ended else "") if out else ""


def _new_lines(lines: Sequence[str], start: int, hunk: PatchHunk, exactly: bool) -> list[str]:
    crlf = not exactly and any(line.endswith("\r") for line in lines[start : start + len(hunk.old)])
    out: list[str] = []
    for line, context in hunk.new:
        if context is not None:
            out.append(lines[start + context])
        elif exactly:
            out.append(line)
        else:
            out.append(line.removesuffix("\r") + ("\r" if crlf else ""))
    return out


class _Lines:
    """The lines of a file, searched as one text in linear time."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    @cached_property
    def _text(self) -> str:
        return "\n" + "\n".join(self.lines) + "\n"

    @cached_property
    def _starts(self) -> list[int]:
        """The position of the line break before each line."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def places(self, old: Sequence[str], first: int, last: int) -> list[int]:
        """Return where these lines occur, starting between lines `first` and `last`. The number is bounded."""
        if last < first:
            return []
        block = "\n" + "\n".join(old) + "\n"
        room = max(_NAMED + 1, min(_MAX_PLACES, _MAX_COMPARED // len(block)))
        places: list[int] = []
        at = self._text.find(block, self._starts[first])
        while 0 <= at <= self._starts[last] and len(places) < room:
            places.append(bisect_left(self._starts, at))
            at = self._text.find(block, at + 1)
        return places


class _Place:
    """Finds the place of a hunk."""

    def __init__(self, exact: _Lines, loose: _Lines, hunk: PatchHunk, at: int, shift: int, name: str) -> None:
        self.exactly = True
        self._variants = (exact, loose)
        self._lines = exact.lines
        self._hunk = hunk
        self._at = at
        self._shift = shift
        self._name = name

    def find(self) -> int:
        if not self._hunk.old:
            return self._of_insertion()
        last = len(self._lines) - len(self._hunk.old)
        first = max(self._at, last) if self._hunk.at_end or self._hunk.old_open else self._at
        for variant in self._variants:
            self.exactly = variant is self._variants[0]
            old = self._hunk.old if self.exactly else [line.removesuffix("\r") for line in self._hunk.old]
            for line in self._named_lines():
                if first <= line <= last and variant.lines[line : line + len(old)] == old:
                    return line
            places = variant.places(old, first, last)
            if len(places) > 1:
                places = self._after_headings(places)
            if len(places) == 1:
                return places[0]
            if places:
                raise self._ambiguous(places)
        raise PatchFault(self._mismatch(), "no_match")

    def _named_lines(self) -> tuple[int, ...]:
        """Return the line number of the hunk, first shifted by the offset of the previous hunk."""
        if self._hunk.line is None:
            return ()
        return self._hunk.line - 1 + self._shift, self._hunk.line - 1

    def _after_headings(self, places: list[int]) -> list[int]:
        """Return the first place after each occurrence of the last heading; all places if there are no headings."""
        starts = [self._at]
        for heading in self._hunk.headings:
            heading_text = heading.strip()
            line_numbers = [
                index + 1 for index in range(starts[0], len(self._lines)) if self._lines[index].strip() == heading_text
            ]
            starts = line_numbers or starts
        if starts == [self._at]:
            return places
        nexts = {bisect_left(places, start) for start in starts} - {len(places)}
        return [places[index] for index in sorted(nexts)]

    def _of_insertion(self) -> int:
        if self._hunk.at_end or not self._lines:
            return len(self._lines)
        if self._hunk.line is not None:
            return min(max(self._hunk.line - 1 + self._shift, self._at), len(self._lines))
        places = self._after_headings(list(range(self._at, len(self._lines) + 1)))
        if self._hunk.headings and len(places) == 1:
            return places[0]
        raise PatchFault(
            f"{self._name} only adds lines and names no place; give it a line of context.", "ambiguous_match"
        )

    def _ambiguous(self, places: list[int]) -> PatchFault:
        numbers = ", ".join(str(place + 1) for place in places[:_NAMED]) + " and more" * (len(places) > _NAMED)
        return PatchFault(
            f"{self._name} is ambiguous: its old lines stand at lines {numbers}; add context until there is one place.",
            "ambiguous_match",
        )

    def _mismatch(self) -> str:
        """Return a message with the expected lines and the most similar place."""
        lines, old = self._lines, list(self._hunk.old)
        best, best_same = min(self._at, max(len(lines) - 1, 0)), 0
        for start in range(self._at, min(len(lines), self._at + _MAX_LINES_COMPARED // len(old))):
            same = sum(a == b for a, b in zip(lines[start : start + len(old)], old, strict=False))
            if same > best_same:
                best, best_same = start, same
        wrong = next((index for index, line in enumerate(old) if lines[best + index : best + index + 1] != [line]), 0)
        expected = "\n".join(old[wrong : wrong + _SHOWN])[:600]
        actual = "\n".join(lines[best + wrong : best + wrong + _SHOWN])[:600] or "(the end of the file)"
        after = f" after line {self._at}" if self._at else ""
        return (
            f"{self._name} does not match: its old lines are not in the file{after}. Nothing was changed; read the "
            f"file again and send the whole patch with the lines as they are.\n--- expected\n{expected}\n"
            f"--- found at line {best + wrong + 1}\n{actual}"
        )
