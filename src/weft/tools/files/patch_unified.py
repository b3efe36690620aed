"""Unified diffs, as `diff -u` and `git diff` write them. Of git's own lines those count that add, delete or rename."""

import re
from collections.abc import Sequence

from weft.tools.files.patch_shapes import FilePatch, Hunk, OpenHunk, PatchFault

_RANGE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT = "diff --git "
_NOWHERE = "/dev/null"


class UnifiedPatch:
    """Reads the lines of a diff of one or more files."""

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
        """What git's own lines say of a file that has no hunks."""
        self._at += 1
        said: dict[str, str] = {}
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip("\r")
            if line.startswith((_GIT, "GIT binary patch", "Binary files ", "@@ ")):
                break
            if self._is_header(self._at):
                return None
            for word in ("new file", "deleted file", "rename from", "rename to"):
                if line.startswith(f"{word} "):
                    said[word] = line.removeprefix(f"{word} ")
            self._at += 1
        both = first.removeprefix(_GIT)
        name = both[2 : (len(both) - 1) // 2]
        if "rename from" in said and "rename to" in said:
            return FilePatch(path=said["rename from"], moves_to=said["rename to"])
        if "new file" in said:
            return FilePatch(path=name, added="")
        return FilePatch(path=name, deletes=True) if "deleted file" in said else None

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
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and (found := _RANGE.match(self._lines[self._at])):
            self._at += 1
            hunks.append(self._hunk(found))
        if old == _NOWHERE:
            return FilePatch(path=new, added=_added(hunks))
        if new == _NOWHERE:
            return FilePatch(path=old, hunks=hunks, deletes=True)
        if not hunks and old == new:
            raise PatchFault(f"The patch has no hunk for {new}; a hunk begins with a line such as @@ -1,3 +1,4 @@.")
        return FilePatch(path=old, hunks=hunks, moves_to=new if new != old else None)

    def _hunk(self, found: re.Match[str]) -> Hunk:
        """By the counts in its heading where they hold, otherwise up to the next line that cannot belong to it."""
        counts = int(found[2] or 1), int(found[4] or 1)
        line = int(found[1]) + (counts[0] == 0)  # a range without lines names the one before it
        start = self._at
        counted = self._counted(line, counts)
        if counted is not None:
            return counted
        self._at = start
        opened = OpenHunk(line=line)
        while self._at < len(self._lines) and not self._ends_hunk(self._at) and opened.take(self._lines[self._at]):
            self._at += 1
        return opened.closed_before_space()

    def _counted(self, line: int, counts: tuple[int, int]) -> Hunk | None:
        opened = OpenHunk(line=line)
        while (len(opened.old), len(opened.new)) != counts:
            if len(opened.old) > counts[0] or len(opened.new) > counts[1]:
                return None
            if self._at == len(self._lines):
                missing = counts[0] - len(opened.old)  # empty lines of context, if they ended the text
                is_blank = missing <= self._blank and missing == counts[1] - len(opened.new)
                return opened.closed() if is_blank else None
            if not opened.take(self._lines[self._at]):
                return None
            self._at += 1
        while self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
            opened.take(self._lines[self._at])
            self._at += 1
        if (
            self._at < len(self._lines)
            and not self._ends_hunk(self._at)
            and self._lines[self._at][:1] in ("+", "-", " ")
        ):
            return None
        return opened.closed()

    def _ends_hunk(self, at: int) -> bool:
        return self._is_header(at) or self._lines[at].startswith(("@@", _GIT))


def _name(line: str) -> str:
    name = line[4:].split("\t", 1)[0].strip()
    if name.startswith('"'):
        raise PatchFault(f"The file name {name[:80]} is quoted; write it plainly.")
    return name


def _added(hunks: Sequence[Hunk]) -> str:
    if any(hunk.old for hunk in hunks):
        raise PatchFault("The patch adds a new file and yet has old lines for it; begin each of its lines with +.")
    text = "".join(f"{line}\n" for hunk in hunks for line, _ in hunk.new)
    return text.removesuffix("\n") if hunks and hunks[-1].new_open else text
