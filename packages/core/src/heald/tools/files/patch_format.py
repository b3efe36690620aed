"""Parses patches, unified or between `*** Begin Patch` and `*** End Patch`. Lines have no line breaks."""

import re
from collections.abc import Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.tool_fault import ToolFault

MAX_PATCH = 2_000_000


class PatchFault(ToolFault):
    """A patch is invalid or does not fit."""

    def __init__(self, message: str, kind: str = "invalid_patch") -> None:
        super().__init__(message, kind)


class PatchHunk(msgspec.Struct):
    """A hunk, line by line as it is read: `new` replaces `old`."""

    line: int | None = None
    """The line number of the first old line, from 1, if the patch has one."""
    headings: list[str] = []
    """Lines that occur before the hunk, from its `@@` lines."""
    at_end: bool = False
    """Whether the hunk reaches the end of the file."""
    old: list[str] = []
    new: list[tuple[str, int | None]] = []
    """Each line, with its index in `old` if it is context."""
    old_open: bool = False
    """Whether the last old line has no line break."""
    new_open: bool = False
    _last: str = ""
    _bare: int = 0

    def add_line(self, line: str) -> bool:
        """Add a line. Return False if it is not a line of a hunk. An empty line is an empty line of context."""
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

    def drop_empty_end(self) -> None:
        """Drop the empty lines at the end, which separate the hunk from the next section."""
        if self._bare:
            del self.old[-self._bare :], self.new[-self._bare :]

    @property
    def is_empty(self) -> bool:
        return not self.old and not self.new


class FilePatch(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to one file: it is added, deleted, or changed and possibly moved."""

    path: str
    hunks: Sequence[PatchHunk] = ()
    added: str | None = None
    deletes: bool = False
    moves_to: str | None = None


_RANGE = lazy_pattern(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT = "diff --git "
_NOWHERE = "/dev/null"


class UnifiedPatch:
    """Reads a unified diff of one or more files."""

    def __init__(self, lines: list[str]) -> None:
        end = len(lines)
        while end and not lines[end - 1]:
            end -= 1
        self._lines = lines[:end]
        self._blank = len(lines) - end
        self._at = 0

    def read(self) -> list[FilePatch]:
        files: list[FilePatch] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(_GIT):
                moved = self._git_lines(line.rstrip("\r"))
                if moved is not None:
                    files.append(moved)
            elif self._is_header(self._at):
                files.append(self._file())
            elif _RANGE.match(line):
                raise PatchFault(f"The hunk at line {self._at + 1} has no --- and +++ lines before it; name its file.")
            elif line.startswith("GIT binary patch") or (line.startswith("Binary files ") and "differ" in line):
                raise PatchFault("The patch holds a binary file, which cannot be patched; write the file instead.")
            else:
                self._at += 1
        return files

    def _git_lines(self, first: str) -> FilePatch | None:
        """Read git's extended header. Return the change of a file without hunks, or None."""
        self._at += 1
        headers: dict[str, str] = {}
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip("\r")
            if line.startswith((_GIT, "GIT binary patch", "Binary files ", "@@ ")):
                break
            if self._is_header(self._at):
                return None
            for word in ("new file", "deleted file", "rename from", "rename to"):
                if line.startswith(f"{word} "):
                    headers[word] = line.removeprefix(f"{word} ")
            self._at += 1
        both = first.removeprefix(_GIT)
        name = both[2 : (len(both) - 1) // 2]
        if "rename from" in headers and "rename to" in headers:
            return FilePatch(path=headers["rename from"], moves_to=headers["rename to"])
        if "new file" in headers:
            return FilePatch(path=name, added="")
        return FilePatch(path=name, deletes=True) if "deleted file" in headers else None

    def _is_header(self, at: int) -> bool:
        return (
            self._lines[at].startswith("--- ") and at + 1 < len(self._lines) and self._lines[at + 1].startswith("+++ ")
        )

    def _file(self) -> FilePatch:
        old, new = _name(self._lines[self._at]), _name(self._lines[self._at + 1])
        self._at += 2
        if old.startswith("a/") and (new.startswith("b/") or new == _NOWHERE):
            old, new = old.removeprefix("a/"), new.removeprefix("b/")
        elif old == _NOWHERE:
            new = new.removeprefix("b/")
        hunks: list[PatchHunk] = []
        while self._at < len(self._lines) and (header := _RANGE.match(self._lines[self._at])):
            self._at += 1
            hunks.append(self._hunk(header))
        if old == _NOWHERE:
            return FilePatch(path=new, added=_added(hunks))
        if new == _NOWHERE:
            return FilePatch(path=old, hunks=hunks, deletes=True)
        if not hunks and old == new:
            raise PatchFault(f"The patch has no hunk for {new}; a hunk begins with a line such as @@ -1,3 +1,4 @@.")
        return FilePatch(path=old, hunks=hunks, moves_to=new if new != old else None)

    def _hunk(self, header: re.Match[str]) -> PatchHunk:
        """Read a hunk by the counts in its header if they are right, else up to the first line of something else."""
        counts = int(header[2] or 1), int(header[4] or 1)
        line = int(header[1]) + (counts[0] == 0)  # an empty range names the line before it
        start = self._at
        counted = self._counted(line, counts)
        if counted is not None:
            return counted
        self._at = start
        hunk = PatchHunk(line)
        while self._at < len(self._lines) and not self._ends_hunk(self._at) and hunk.add_line(self._lines[self._at]):
            self._at += 1
        hunk.drop_empty_end()
        return hunk

    def _counted(self, line: int, counts: tuple[int, int]) -> PatchHunk | None:
        hunk = PatchHunk(line)
        while (len(hunk.old), len(hunk.new)) != counts:
            if len(hunk.old) > counts[0] or len(hunk.new) > counts[1]:
                return None
            if self._at == len(self._lines):
                missing = counts[0] - len(hunk.old)  # trailing empty context lines that were stripped
                is_blank = missing <= self._blank and missing == counts[1] - len(hunk.new)
                return hunk if is_blank else None
            if not hunk.add_line(self._lines[self._at]):
                return None
            self._at += 1
        while self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
            hunk.add_line(self._lines[self._at])
            self._at += 1
        if (
            self._at < len(self._lines)
            and not self._ends_hunk(self._at)
            and self._lines[self._at][:1] in ("+", "-", " ")
        ):
            return None
        return hunk

    def _ends_hunk(self, at: int) -> bool:
        return self._is_header(at) or self._lines[at].startswith(("@@", _GIT))


def _name(line: str) -> str:
    name = line[4:].split("\t", 1)[0].strip()
    if name.startswith('"'):
        raise PatchFault(f"The file name {name[:80]} is quoted; write it plainly.")
    return name


def _added(hunks: Sequence[PatchHunk]) -> str:
    if any(hunk.old for hunk in hunks):
        raise PatchFault("The patch adds a new file and yet has old lines for it; begin each of its lines with +.")
    text = "".join(f"{line}\n" for hunk in hunks for line, _ in hunk.new)
    return text.removesuffix("\n") if hunks and hunks[-1].new_open else text


BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"
_MARKED_RANGE = lazy_pattern(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


class MarkedPatch:
    """Reads the lines after `*** Begin Patch`."""

    def __init__(self, lines: list[str], at: int) -> None:
        self._lines = lines
        self._at = at

    def read(self) -> list[FilePatch]:
        files: list[FilePatch] = []
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            self._at += 1
            if line == _END:
                return files
            if line.startswith(_ADD):
                files.append(FilePatch(path=line.removeprefix(_ADD).strip(), added=self._added()))
            elif line.startswith(_DELETE):
                files.append(FilePatch(path=line.removeprefix(_DELETE).strip(), deletes=True))
            elif line.startswith(_UPDATE):
                files.append(self._updated(line.removeprefix(_UPDATE).strip()))
            elif line:
                raise PatchFault(
                    f"Line {self._at} of the patch is {line[:80]!r}, where *** Add File:, *** Update File:, "
                    "*** Delete File: or *** End Patch belongs."
                )
        raise PatchFault("The patch has no *** End Patch line; send it whole.")

    def _added(self) -> str:
        body: list[str] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("+"):
            body.append(self._lines[self._at][1:])
            self._at += 1
        return "".join(f"{line}\n" for line in body)

    def _updated(self, path: str) -> FilePatch:
        moves_to = None
        if self._at < len(self._lines) and self._lines[self._at].startswith(_MOVE):
            moves_to = self._lines[self._at].removeprefix(_MOVE).strip()
            self._at += 1
        hunks: list[PatchHunk] = []
        hunk = PatchHunk()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("*** ") and line.rstrip() != _END_OF_FILE:
                break
            self._at += 1
            if line.startswith("@@"):
                if not hunk.is_empty:
                    hunks.append(hunk)
                    hunk = PatchHunk()
                heading = line[2:].strip()
                if heading and not _MARKED_RANGE.match(line):
                    hunk.headings.append(heading)
            elif line.rstrip() == _END_OF_FILE:
                hunk.at_end = True
            elif not hunk.add_line(line):
                raise PatchFault(
                    f"Line {self._at} of the patch, in {path}, begins with {line[:1]!r}; a line of a hunk begins "
                    "with a space, + or -."
                )
        if not hunk.is_empty:
            hunk.drop_empty_end()
            hunks.append(hunk)
        if not hunks and moves_to is None:
            raise PatchFault(f"The patch changes nothing in {path}; give it at least one hunk.")
        return FilePatch(path=path, hunks=hunks, moves_to=moves_to)
