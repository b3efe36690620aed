"""A patch as data: files, and the hunks that change them. Lines are without their ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.tools.outcome import ToolFault

MAX_PATCH = 2_000_000


class PatchFault(ToolFault):
    """A patch that is none, or does not fit."""

    def __init__(self, message: str, kind: str = "invalid_patch") -> None:
        super().__init__(message, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """`new` takes the place of `old`."""

    old: Sequence[str]
    new: Sequence[tuple[str, int | None]]
    """Each line, with its index in `old` where it is context."""
    line: int | None = None
    """Where the old lines begin, counted from 1, if the patch says so."""
    headings: Sequence[str] = ()
    """Lines that come somewhere before it."""
    at_end: bool = False
    """It reaches the end of the file."""
    old_open: bool = False
    """The last old line has no line break."""
    new_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file: adds it, deletes it, or changes and perhaps moves it."""

    path: str
    hunks: Sequence[Hunk] = ()
    added: str | None = None
    deletes: bool = False
    moves_to: str | None = None


@dataclass(slots=True)
class OpenHunk:
    """A hunk while its lines are read."""

    line: int | None = None
    headings: list[str] = field(default_factory=list[str])
    at_end: bool = False
    old: list[str] = field(default_factory=list[str])
    new: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    old_open: bool = False
    new_open: bool = False
    _last: str = ""
    _bare: int = 0

    def take(self, line: str) -> bool:
        """Add a line of the hunk; False if it is none. An empty line is an empty line of context."""
        mark, body = line[:1] or " ", line[1:]
        match mark:
            case " ":
                self.new.append((body, len(self.old)))
                self.old.append(body)
            case "-":
                self.old.append(body)
            case "+":
                self.new.append((body, None))
            case "\\":
                self.old_open = self.old_open or self._last in ("-", " ")
                self.new_open = self.new_open or self._last in ("+", " ")
                return True
            case _:
                return False
        self._last = mark
        self._bare = 0 if line.strip("\r") else self._bare + 1
        return True

    def closed(self) -> Hunk:
        return Hunk(
            old=self.old,
            new=self.new,
            line=self.line,
            headings=self.headings,
            at_end=self.at_end,
            old_open=self.old_open,
            new_open=self.new_open,
        )

    def closed_before_space(self) -> Hunk:
        """Without the empty lines at its end, which stand between this hunk and what follows."""
        if self._bare:
            del self.old[-self._bare :], self.new[-self._bare :]
        return self.closed()

    @property
    def is_empty(self) -> bool:
        return not self.old and not self.new
