"""How hunks are put into a file.

A hunk goes where its old lines stand: at the line it names if they are there, otherwise where they stand only once.
Lines are compared exactly; a file with CRLF line endings takes a patch written with LF, and keeps its endings.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from weft.tools.files.patch_shapes import Hunk, PatchFault

_NAMED = 8
_SHOWN = 6
_MAX_COMPARED = 20_000_000  # characters, for one hunk that stands in many places
_MAX_PLACES = 100_000
_MAX_LINES_COMPARED = 1_000_000  # to say what was found instead


def apply_hunks(text: str, hunks: Sequence[Hunk], path: str) -> str:
    """The text with all hunks in it. A PatchFault names the hunk that does not fit, what it expects and what is."""
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


def _new_lines(lines: Sequence[str], start: int, hunk: Hunk, exactly: bool) -> list[str]:
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
    """The lines of a file, searched as one text: linear, however often they repeat."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    @cached_property
    def _text(self) -> str:
        return "\n" + "\n".join(self.lines) + "\n"

    @cached_property
    def _starts(self) -> list[int]:
        """Where the break before each line stands."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def places(self, old: Sequence[str], first: int, last: int) -> list[int]:
        """Where these lines stand, beginning at lines from `first` to `last`; not all, if they are very many."""
        if last < first:
            return []
        wanted = "\n" + "\n".join(old) + "\n"
        room = max(_NAMED + 1, min(_MAX_PLACES, _MAX_COMPARED // len(wanted)))
        places: list[int] = []
        at = self._text.find(wanted, self._starts[first])
        while 0 <= at <= self._starts[last] and len(places) < room:
            places.append(bisect_left(self._starts, at))
            at = self._text.find(wanted, at + 1)
        return places


class _Place:
    """The search for the one place of a hunk."""

    def __init__(self, exact: _Lines, loose: _Lines, hunk: Hunk, at: int, shift: int, name: str) -> None:
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
        """Where the hunk is if it is off by as much as the one before it, and where it says it is."""
        if self._hunk.line is None:
            return ()
        return self._hunk.line - 1 + self._shift, self._hunk.line - 1

    def _after_headings(self, places: list[int]) -> list[int]:
        """The places that come next after the headings, if there are any."""
        starts = [self._at]
        for heading in self._hunk.headings:
            wanted = heading.strip()
            found = [index + 1 for index in range(starts[0], len(self._lines)) if self._lines[index].strip() == wanted]
            starts = found or starts
        if starts == [self._at]:
            return places
        nexts = {bisect_left(places, start) for start in starts} - {len(places)}
        return [places[index] for index in sorted(nexts)]

    def _of_insertion(self) -> int:
        if self._hunk.at_end or not self._lines:
            return len(self._lines)
        if self._hunk.line is not None:
            return min(max(self._hunk.line - 1 + self._shift, self._at), len(self._lines))
        found = self._after_headings(list(range(self._at, len(self._lines) + 1)))
        if self._hunk.headings and len(found) == 1:
            return found[0]
        raise PatchFault(
            f"{self._name} only adds lines and does not say where; give it a line of context.", "ambiguous_match"
        )

    def _ambiguous(self, places: list[int]) -> PatchFault:
        numbers = ", ".join(str(place + 1) for place in places[:_NAMED]) + " and more" * (len(places) > _NAMED)
        return PatchFault(
            f"{self._name} is ambiguous: its old lines stand at lines {numbers}; add context until there is one place.",
            "ambiguous_match",
        )

    def _mismatch(self) -> str:
        """What was expected, and the place where most of it is found."""
        lines, old = self._lines, list(self._hunk.old)
        best, best_same = min(self._at, max(len(lines) - 1, 0)), 0
        for start in range(self._at, min(len(lines), self._at + _MAX_LINES_COMPARED // len(old))):
            same = sum(a == b for a, b in zip(lines[start : start + len(old)], old, strict=False))
            if same > best_same:
                best, best_same = start, same
        wrong = next((index for index, line in enumerate(old) if lines[best + index : best + index + 1] != [line]), 0)
        expected = "\n".join(old[wrong : wrong + _SHOWN])[:600]
        found = "\n".join(lines[best + wrong : best + wrong + _SHOWN])[:600] or "(the end of the file)"
        after = f" after line {self._at}" if self._at else ""
        return (
            f"{self._name} does not match: its old lines are not in the file{after}. Nothing was changed; read the "
            f"file again and send the whole patch with the lines as they are.\n--- expected\n{expected}\n"
            f"--- found at line {best + wrong + 1}\n{found}"
        )
