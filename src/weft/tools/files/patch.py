"""`apply_patch`: changes to several files in one call, all of them or none.

A hunk is applied where its old lines are: at the line number it names if they match there, otherwise at their only
occurrence. Lines are compared exactly. A patch with LF also applies to a file with CRLF line endings and keeps them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.definitions import Access
from weft.tools.files.access import MAX_TEXT, count_changes, file_accesses, path_subjects, publish_changes
from weft.tools.files.patch_format import BEGIN, MAX_PATCH, FilePatch, MarkedPatch, PatchFault, PatchHunk, UnifiedPatch
from weft.tools.function_tools import tool
from weft.tools.results import NO_CHANGE, ToolFault, ToolOutput
from weft.tools.workspace.base import FileEdit, Workspace, encode_content

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
        wanted = "\n" + "\n".join(old) + "\n"
        room = max(_NAMED + 1, min(_MAX_PLACES, _MAX_COMPARED // len(wanted)))
        places: list[int] = []
        at = self._text.find(wanted, self._starts[first])
        while 0 <= at <= self._starts[last] and len(places) < room:
            places.append(bisect_left(self._starts, at))
            at = self._text.find(wanted, at + 1)
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
        """Return a message with the expected lines and the most similar place."""
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


def read_patch(patch: str) -> list[FilePatch]:
    """Parse a patch of either format. Raises PatchFault if it is invalid."""
    if len(patch) > MAX_PATCH:
        raise PatchFault(
            f"The patch has {len(patch)} characters, {MAX_PATCH} are allowed; send it in parts.", "too_large"
        )
    lines = patch.split("\n")
    begin = next((index for index, line in enumerate(lines) if line.strip() == BEGIN), None)
    files = UnifiedPatch(lines).read() if begin is None else MarkedPatch(lines, begin + 1).read()
    if not files:
        raise PatchFault(
            "The patch names no file; write it between *** Begin Patch and *** End Patch, or as a unified diff with "
            "its --- and +++ lines."
        )
    return files


def _paths(arguments: JsonObject) -> list[str]:
    patch = arguments.get("patch")
    if not isinstance(patch, str):
        return []
    try:
        files = read_patch(patch)
    except ToolFault:
        return []
    return [path for file in files for path in (file.path, file.moves_to) if path is not None]


def _access(arguments: JsonObject) -> list[Access]:
    return file_accesses(_paths(arguments), changes=True)


def _summary(arguments: JsonObject) -> str:
    return f"Patch {', '.join(dict.fromkeys(_paths(arguments))) or 'files'}"


@tool(
    effect="write",
    access=_access,
    subjects=lambda arguments: path_subjects(_paths(arguments)),
    summary=_summary,
)
def apply_patch(patch: str, ctx: ToolContext) -> ToolOutput:
    """Change several files at once; if one change does not fit, none is made.

    Write the patch between *** Begin Patch and *** End Patch, with sections *** Add File: path (each line begins with
    +), *** Update File: path (optionally *** Move to: path; hunks begin with @@ and their lines with a space, - or +)
    and *** Delete File: path. A unified diff with --- and +++ lines is taken as well. Context and removed lines must be
    exactly as they are in the file, with about three lines of context around each change.

    Args:
        patch: The whole text of the patch.
    """
    files = read_patch(patch)
    plan = _Plan(ctx.workspace)
    for file in files:
        plan.add(file)
    changes = ctx.workspace.write_all(plan.edits(), on_change=publish_changes(ctx))
    if not changes:
        return ToolOutput(content="The patch leaves all files as they were; nothing was changed.", summary=NO_CHANGE)
    lines = [f"{_verb(change.hash, change.diff)} {change.path} ({count_changes(change.diff)})" for change in changes]
    total = count_changes("\n\n" + "\n".join(line for change in changes for line in change.diff.split("\n")[2:]))
    return ToolOutput(content="The patch was applied:\n" + "\n".join(lines), summary=total)


def _verb(hash_now: str | None, diff: str) -> str:
    if hash_now is None:
        return "Deleted"
    return "Added" if diff.startswith("--- /dev/null") else "Changed"


class _Plan:
    """Computes the new contents of all files before any file is written."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._there: set[str] = set()  # files that exist before the patch
        self._after: dict[str, str | None] = {}

    def add(self, file: FilePatch) -> None:
        path = self._workspace.normal(file.path)
        if file.added is not None:
            self._put_new(path, file.added)
            return
        if file.deletes and not file.hunks and path not in self._after:
            self._there.add(path)
            self._after[path] = None
            return
        text = apply_hunks(self._text(path), file.hunks, path)
        if file.deletes and file.hunks and text:
            raise PatchFault(f"The patch deletes {path} but does not remove all of its lines; read it again.")
        target = self._workspace.normal(file.moves_to) if file.moves_to else path
        if file.deletes:
            self._after[path] = None
        elif target == path:
            self._after[path] = text
        else:
            self._after[path] = None
            self._put_new(target, text)

    def edits(self) -> list[FileEdit]:
        """Return all edits, without files that the patch both creates and deletes."""
        return [
            FileEdit(path=path, content=None if text is None else encode_content(path, text))
            for path, text in self._after.items()
            if text is not None or path in self._there
        ]

    def _put_new(self, path: str, text: str) -> None:
        exists = self._after[path] is not None if path in self._after else self._workspace.exists(path)
        if exists:
            raise PatchFault(f"{path} exists already, so the patch cannot add it; update it instead.", "exists")
        self._after[path] = text

    def _text(self, path: str) -> str:
        if path not in self._after:
            self._there.add(path)
            return self._workspace.read_text(path, limit=MAX_TEXT, remember=False)
        text = self._after[path]
        if text is None:
            raise PatchFault(f"{path} is deleted earlier in the patch, so it cannot be changed.", "not_found")
        return text
