"""`search_files`: the lines of all files that match a regular expression, in bounded time."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.files.claims import path_subject, reads_all
from weft.tools.files.pattern import Expression, Glob
from weft.tools.files.ripgrep import Ripgrep
from weft.tools.files.scan import Line, Scan
from weft.tools.files.sizes import MAX_TEXT
from weft.tools.files.walk import Deadline, Walk, is_inside_skipped, order
from weft.tools.function import tool
from weft.tools.outcome import ToolOutput
from weft.tools.workspace.base import PathFault, Workspace
from weft.tools.workspace.listing import is_temporary
from weft.tools.workspace.paths import usable
from weft.tools.workspace.text import decoded

MAX_SHOWN = 60_000
_MAX_BYTES = 512 << 20


def _summary(arguments: JsonObject) -> str:
    where = arguments.get("path") or arguments.get("glob")
    return f"Search {arguments['pattern']}" + (f" in {where}" if where else "")


@tool(
    name="search_files",
    effect="read",
    access=reads_all,
    subjects=path_subject,
    summary=_summary,
    max_output=MAX_SHOWN + 10_000,
    idempotent=True,
)
def search_files(
    pattern: str,
    ctx: ToolContext,
    path: str = "",
    glob: str | None = None,
    ignore_case: bool = False,
    context: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0,
    max_results: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100,
) -> ToolOutput:
    """Search the text of files with a regular expression (RE2 syntax), line by line: path:line: text.

    Binary files, very large files and folders such as node_modules and .git are not searched, unless path names the
    folder.

    Args:
        pattern: The regular expression. It matches within one line; special characters need a backslash.
        path: A folder or file to search in, relative to the workspace; empty for all.
        glob: Only files whose path matches, such as *.py or src/**/*.ts.
        ignore_case: Whether upper and lower case are the same.
        context: How many lines around each match to show.
        max_results: How many matching lines to show.
    """
    deadline = Deadline()
    expression = Expression(pattern, ignore_case=ignore_case)
    matcher = Glob(glob) if glob else None
    walk = Walk(ctx.workspace, path, deadline=deadline)
    names = None
    if can_narrow(ctx.workspace, walk):
        narrowed = Ripgrep(ctx.workspace.root)
        names = narrowed.candidates(pattern, walk.start, ignore_case=ignore_case, deadline=deadline)
    files = _walked(walk) if names is None else _named(names, walk.start)
    search = _Search(ctx.workspace, expression, deadline, context, max_results)
    for file in files:
        if matcher is not None and not matcher.matches(file):
            continue
        if not search.look_into(file):
            break
    if walk.cut:
        search.notes.append(f"[Stopped {walk.cut}; name a path or glob to search less.]")
    return search.output()


def can_narrow(workspace: Workspace, walk: Walk) -> bool:
    """Whether ripgrep may be asked first: on a real folder, and where it skips what a walk skips."""
    return not workspace.is_project and bool(workspace.root) and not walk.is_file and not walk.starts_skipped


def _walked(walk: Walk) -> Iterator[str]:
    return (entry.path for entry in walk if entry.kind == "file")


def _named(names: Iterable[str], start: str) -> list[str]:
    """What ripgrep found, as far as a walk would have come to it, in the order of a walk."""
    found = (name for name in names if usable(name) and not is_temporary(name.rpartition("/")[2]))
    return sorted((name for name in found if not is_inside_skipped(name, start)), key=order)


class _Search:
    """Collects the matching lines of one file after another, until there is enough or the time is over."""

    def __init__(
        self, workspace: Workspace, expression: Expression, deadline: Deadline, context: int, max_results: int
    ) -> None:
        self.notes: list[str] = []
        self._workspace = workspace
        self._expression = expression
        self._deadline = deadline
        self._context = context
        self._most = max_results
        self._lines: list[str] = []
        self._room = MAX_SHOWN
        self._bytes = _MAX_BYTES
        self._found = 0
        self._files = 0
        self._too_large = 0
        self._long = False

    def look_into(self, path: str) -> bool:
        """Search a file; False if that was enough."""
        if self._deadline.passed:
            self._stop_for_time()
            return False
        try:
            content = self._workspace.read(path, limit=MAX_TEXT, remember=False)
        except PathFault as fault:
            self._too_large += fault.kind == "too_large"
            return True
        if decoded(content) is None:
            return True
        self._bytes -= len(content)
        if self._bytes < 0:
            self.notes.append(f"[Stopped after {_MAX_BYTES >> 20} MB; name a path or glob to search less.]")
            return False
        scan = Scan(content, self._expression, self._deadline)
        enough = not self._take(path, scan.lines(self._context))
        self._long = self._long or scan.long
        if scan.cut and not enough:
            self._stop_for_time()
        return not enough and not scan.cut

    def output(self) -> ToolOutput:
        notes = self.notes
        if self._too_large:
            notes.append(f"[{self._too_large} files of more than {MAX_TEXT >> 20} MB were not searched.]")
        if self._long:
            notes.append("[Very long lines were searched only at their beginning.]")
        if not self._found:
            return ToolOutput(
                content="\n".join(["No line matches.", *notes]), summary="no lines", truncated=bool(notes)
            )
        summary = f"{self._found} line{'s' * (self._found != 1)} in {self._files} file{'s' * (self._files != 1)}"
        return ToolOutput(content="\n".join(self._lines + notes), summary=summary, truncated=bool(notes))

    def _take(self, path: str, lines: Iterable[Line]) -> bool:
        last = 0
        for line in lines:
            if line.matches and self._found == self._most:
                self.notes.append(f"[Stopped at {self._most} matching lines; narrow the search, or raise max_results.]")
                return False
            if self._context and self._lines and line.number != last + 1:
                self._lines.append("--")
            mark = ":" if line.matches else "-"
            text = f"{path}{mark}{line.number}{mark} {line.text}"
            self._room -= len(text) + 1
            if self._room < 0:
                self.notes.append("[Stopped: the result is full; narrow the search.]")
                return False
            self._lines.append(text)
            self._files += not last
            self._found += line.matches
            last = line.number
        return True

    def _stop_for_time(self) -> None:
        self.notes.append(f"[Stopped after {self._deadline.seconds:g} s; name a path or glob to search less.]")
