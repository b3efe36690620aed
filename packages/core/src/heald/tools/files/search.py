"""`search_files`: finds the lines that match a regular expression, in bounded time.

A text is searched in pieces, so that the time limit is checked often, whatever the pattern and the line length.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

from heald.core.json import JsonObject
from heald.tools.context import ToolContext
from heald.tools.files.access import MAX_TEXT, path_subject, reads_all
from heald.tools.files.pattern import Expression, Glob
from heald.tools.files.ripgrep import Ripgrep
from heald.tools.files.scan import FoundLine, Scan
from heald.tools.files.walk import Deadline, Walk, is_inside_skipped, order
from heald.tools.function_tools import tool
from heald.tools.secrets import is_secret_file
from heald.tools.tool_output import ToolOutput
from heald.tools.watched_workspace import MAX_ACCESSES, WatchedWorkspace, skip_cache
from heald.tools.workspace.base import Workspace, is_temporary
from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.paths import PathFault, is_usable_path

MAX_SHOWN = 60_000
_MAX_BYTES = 512 << 20


def _summary(arguments: JsonObject) -> str:
    where = arguments.get("path") or arguments.get("glob")
    return f"Search {arguments['pattern']}" + (f" in {where}" if where else "")


@tool(
    effect="read",
    access=reads_all,
    subjects=path_subject,
    summary=_summary,
    max_output=MAX_SHOWN + 10_000,
    pure=True,
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

    Binary files, very large files, folders such as node_modules and .git, and what .gitignore names are not searched,
    unless path names the folder or file.

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
        _record_tree(ctx.workspace, walk.start)
        narrowed = Ripgrep(ctx.workspace.root)
        names = narrowed.candidates(pattern, walk.start, ignore_case=ignore_case, deadline=deadline)
    files = _walked(walk) if names is None else _named(names, walk)
    search = _Search(ctx.workspace, expression, deadline, context, max_results)
    for file in files:
        if matcher is not None and not matcher.matches(file):
            continue
        if is_secret_file(file) and not walk.is_file:
            search.skip_secret()
            continue
        if not search.look_into(file):
            break
    if walk.cut:
        search.notes.append(f"[Stopped {walk.cut}; name a path or glob to search less.]")
    return search.output()


def can_narrow(workspace: Workspace, walk: Walk) -> bool:
    """Return whether ripgrep may preselect files: on disk only, and not inside a skipped folder."""
    return not workspace.is_project and bool(workspace.root) and not walk.is_file and not walk.starts_skipped


def _record_tree(workspace: Workspace, start: str) -> None:
    """For the cache, record every file that ripgrep reads, since it does not read through the workspace."""
    if not isinstance(workspace, WatchedWorkspace):
        return
    walk = Walk(workspace, start, deadline=Deadline(), most=MAX_ACCESSES)
    for entry in walk:
        if entry.kind == "file":
            workspace.record_file(entry.path, MAX_TEXT)
    if walk.cut:
        skip_cache(workspace)


def _walked(walk: Walk) -> Iterator[str]:
    return (entry.path for entry in walk if entry.kind == "file")


def _named(names: Iterable[str], walk: Walk) -> list[str]:
    """Return the files found by ripgrep that a walk would visit, in the order of a walk."""
    usable = (name for name in names if is_usable_path(name) and not is_temporary(name.rpartition("/")[2]))
    visited = (name for name in usable if not is_inside_skipped(name, walk.start))
    if not walk.starts_ignored:
        visited = (name for name in visited if not walk.ignored.is_inside_ignored(name, walk.start))
    return sorted(visited, key=order)


class _Search:
    """Collects the matching lines of files until a limit is reached."""

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
        self._secret = 0
        self._long = False

    def look_into(self, path: str) -> bool:
        """Search a file. Return False if the search is to end."""
        if self._deadline.passed:
            self._stop_for_time()
            return False
        try:
            content = self._workspace.read(path, limit=MAX_TEXT, remember=False)
        except PathFault as fault:
            self._too_large += fault.kind == "too_large"
            return True
        if decode_text(content) is None:
            return True
        self._bytes -= len(content)
        if self._bytes < 0:
            self.notes.append(f"[Stopped after {_MAX_BYTES >> 20} MB; name a path or glob to search less.]")
            return False
        scan = Scan(content, self._expression, self._deadline)
        enough = not self._collect(path, scan.lines(self._context))
        self._long = self._long or scan.long
        if scan.cut and not enough:
            self._stop_for_time()
        return not enough and not scan.cut

    def skip_secret(self) -> None:
        self._secret += 1

    def output(self) -> ToolOutput:
        notes = self.notes
        if self._secret:
            notes.append(
                f"[{self._secret} files that hold secrets, such as .env, were not searched; name one as path.]"
            )
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

    def _collect(self, path: str, lines: Iterable[FoundLine]) -> bool:
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
        skip_cache(self._workspace)
        self.notes.append(f"[Stopped after {self._deadline.seconds:g} s; name a path or glob to search less.]")
