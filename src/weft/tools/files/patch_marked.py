"""Patches between `*** Begin Patch` and `*** End Patch`, where a file's hunks are found by their lines alone."""

import re

from weft.tools.files.patch_shapes import FilePatch, Hunk, OpenHunk, PatchFault

BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"
_RANGE = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


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
        hunks: list[Hunk] = []
        opened = OpenHunk()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("*** ") and line.rstrip() != _END_OF_FILE:
                break
            self._at += 1
            if line.startswith("@@"):
                if not opened.is_empty:
                    hunks.append(opened.closed())
                    opened = OpenHunk()
                heading = line[2:].strip()
                if heading and not _RANGE.match(line):
                    opened.headings.append(heading)
            elif line.rstrip() == _END_OF_FILE:
                opened.at_end = True
            elif not opened.take(line):
                raise PatchFault(
                    f"Line {self._at} of the patch, in {path}, begins with {line[:1]!r}; a line of a hunk begins "
                    "with a space, + or -."
                )
        if not opened.is_empty:
            hunks.append(opened.closed_before_space())
        if not hunks and moves_to is None:
            raise PatchFault(f"The patch changes nothing in {path}; give it at least one hunk.")
        return FilePatch(path=path, hunks=hunks, moves_to=moves_to)
