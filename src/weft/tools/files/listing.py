"""`list_files`, `glob` and `find_file`, and the walk of a workspace that they share with the search.

A walk is in sorted order, does not follow links, and is bounded in time and number. It lists folders of installed or
generated files, and folders that `.gitignore` names, without entering them, and leaves ignored files out, unless it
starts in such a folder.
"""

import heapq
from collections.abc import Iterator
from time import monotonic
from typing import Annotated

import msgspec

from weft.tools.context import ToolContext
from weft.tools.files.access import MAX_SECONDS, MAX_VISITED, path_subject, reads_all
from weft.tools.files.ignore import FILE, IgnoredFiles
from weft.tools.files.pattern import Glob
from weft.tools.function_tools import tool
from weft.tools.result_cache import skip_cache
from weft.tools.results import ToolFault, ToolOutput
from weft.tools.workspace.base import PathFault, Workspace, WorkspaceEntry

_CONSECUTIVE = 8
_WORD_START = 10
_IN_NAME = 30
_WHOLE_NAME = 200
_BOUNDARIES = frozenset("/._- ")


def score(query: str, path: str) -> int | None:
    """Return a score, higher is better; None if the path lacks the query's characters in order. Ignores case."""
    wanted, folded = query.casefold(), path.casefold()
    if len(folded) != len(path):  # a character that folds into two
        path = folded
    name_start = folded.rfind("/") + 1
    found = _span(wanted, folded, name_start)
    bonus = _IN_NAME
    if found is None:
        found, bonus = _span(wanted, folded, 0), 0
    if found is None:
        return None
    name = folded[name_start:]
    if wanted in (name, name.partition(".")[0], folded):
        bonus += _WHOLE_NAME
    return bonus + _fit(wanted, path, folded, found) - len(path) // 8


def _span(wanted: str, text: str, start: int) -> tuple[int, int] | None:
    """Return the range with the characters in order that has the earliest end and then the latest start."""
    at = start - 1
    for char in wanted:
        at = text.find(char, at + 1)
        if at < 0:
            return None
    end = at + 1
    at = end
    for char in reversed(wanted):
        at = text.rfind(char, start, at)
    return at, end


def _fit(wanted: str, path: str, folded: str, found: tuple[int, int]) -> int:
    total, at, last = 0, found[0], -2
    for char in wanted:
        at = folded.find(char, at)
        if at == last + 1:
            total += _CONSECUTIVE
        if at == 0 or path[at - 1] in _BOUNDARIES or (path[at].isupper() and not path[at - 1].isupper()):
            total += _WORD_START
        total -= min(at - last - 1, 10) if last >= 0 else 0
        last, at = at, at + 1
    return total


SKIPPED = frozenset((
    ".cache", ".git", ".gradle", ".hg", ".mypy_cache", ".next", ".nox", ".nuxt", ".parcel-cache",
    ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".turbo", ".venv", "__pycache__", "bower_components",
    "node_modules", "venv",
))  # fmt: skip
"""Folders of installed or generated files."""


class Deadline:
    """The time limit of a walk or search."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - monotonic())

    @property
    def passed(self) -> bool:
        return monotonic() >= self._end


class Walk:
    """Iterates over the entries below a folder, or the one file at the path. `cut` is the reason for an early end."""

    def __init__(
        self,
        workspace: Workspace,
        path: str = "",
        *,
        deadline: Deadline,
        depth: int | None = None,
        most: int = MAX_VISITED,
    ) -> None:
        self.cut = ""
        self._workspace = workspace
        self.start = workspace.normal(path)
        self.is_file = False
        self._deadline = deadline
        self._depth = depth
        self._most = most
        self.ignored = IgnoredFiles(workspace)
        self.starts_ignored = bool(self.start) and self.ignored.is_inside_ignored(self.start, "")
        """Whether the walk starts in a folder that `.gitignore` names. Nothing is ignored then."""
        self.left_out = 0
        """How many ignored files and folders were not visited."""
        self._closed: set[str] = set()
        self._entries = self._first()

    @property
    def starts_skipped(self) -> bool:
        """Whether the walk starts in a folder that other walks skip."""
        return any(name in SKIPPED for name in self.start.split("/"))

    def __iter__(self) -> Iterator[WorkspaceEntry]:
        visited = 0
        waiting = [(entry, 1) for entry in reversed(self._entries)]
        while waiting:
            entry, level = waiting.pop()
            visited += 1
            if visited > self._most:
                self.cut = f"after {self._most} files and folders"
                return
            if self._deadline.passed:
                self.cut = f"after {self._deadline.seconds:g} s"
                skip_cache(self._workspace)
                return
            if self._is_omitted(entry):
                self.left_out += 1
                if entry.kind != "folder":
                    continue
                self._closed.add(entry.path)
            yield entry
            if entry.kind == "folder" and level != self._depth and not self.is_closed(entry.path):
                waiting += [(child, level + 1) for child in reversed(self._list(entry.path))]

    def is_closed(self, path: str) -> bool:
        """Return whether the walk does not enter this folder."""
        return is_skipped(path) or path in self._closed

    def _is_omitted(self, entry: WorkspaceEntry) -> bool:
        if self.is_file or self.starts_ignored:
            return False
        return self.ignored.is_ignored(entry.path, is_folder=entry.kind == "folder")

    def _first(self) -> list[WorkspaceEntry]:
        try:
            return self._listed(self.start)
        except PathFault as fault:
            if fault.kind != "not_a_folder":
                raise
            self.is_file = True
            return [WorkspaceEntry(self.start, "file")]

    def _list(self, path: str) -> list[WorkspaceEntry]:
        try:
            return self._listed(path)
        except PathFault:
            return []  # deleted in the meantime, or not readable

    def _listed(self, path: str) -> list[WorkspaceEntry]:
        listing = self._workspace.list(path, depth=1, sizes=False)
        if listing.cut:
            self.cut = "at a folder with too many files"
        here = path if path else self.start
        self.ignored.record_listing(here, has_rules=any(each.path.endswith(FILE) for each in listing))
        return listing


def is_skipped(path: str) -> bool:
    """Return whether walks do not enter this folder."""
    return path.rpartition("/")[2] in SKIPPED


def is_inside_skipped(path: str, start: str) -> bool:
    """Return whether a walk from `start` skips a folder that contains this file."""
    below = path[len(start) :].strip("/") if start else path
    return any(name in SKIPPED for name in below.split("/")[:-1])


def order(path: str) -> list[str]:
    """Return the sort key that gives the order of a walk."""
    return path.split("/")


MAX_LISTED = 1_000
MAX_FOUND = 20
IGNORED = "[{count} files and folders in .gitignore were not {done}.]"
_MAX_QUERY = 200


@tool(
    effect="read",
    access=reads_all,
    subjects=path_subject,
    summary=lambda arguments: f"List {arguments.get('path') or 'the workspace'}",
    pure=True,
    idempotent=True,
)
def list_files(ctx: ToolContext, path: str = "", depth: Annotated[int, msgspec.Meta(ge=1, le=20)] = 2) -> ToolOutput:
    """List the files and folders below a folder of the workspace. Folders end with a slash; links are marked.

    Folders such as node_modules or .git, and those in .gitignore, are named, but not what is in them, unless path is
    one of them. Files in .gitignore are left out.

    Args:
        path: The folder, relative to the workspace; empty for all of it.
        depth: How many levels of folders to show.
    """
    walk = Walk(ctx.workspace, path, deadline=Deadline(), depth=depth, most=MAX_LISTED)
    lines = [_listed(entry, is_closed=walk.is_closed(entry.path)) for entry in walk]
    if not lines:
        return ToolOutput(content="The folder is empty.", summary="empty")
    notes = [f"[Cut {walk.cut}; list a folder below, or use glob.]"] if walk.cut else []
    return ToolOutput(content="\n".join(lines + notes), summary=_count(len(lines)), truncated=bool(walk.cut))


def _listed(entry: WorkspaceEntry, *, is_closed: bool) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.path}/" + (" (not listed)" if is_closed else "")
        case "link":
            return f"{entry.path} (link)"
        case _:
            return entry.path


@tool(
    effect="read",
    access=reads_all,
    summary=lambda arguments: f"Glob {arguments['pattern']}",
    pure=True,
    idempotent=True,
)
def glob(pattern: str, ctx: ToolContext) -> ToolOutput:
    """Find files by a pattern of their path, in alphabetical order: src/**/*.ts, *.{css,scss}, test_?.py.

    * and ? match within one name, ** any number of folders, [abc] one of the characters, {a,b} either text. A pattern
    without a slash matches names anywhere. Folders such as node_modules and .git, and what .gitignore names, are not
    looked into.

    Args:
        pattern: The pattern, relative to the workspace.
    """
    matcher = Glob(pattern)
    walk = Walk(ctx.workspace, deadline=Deadline())
    found: list[str] = []
    more = 0
    for entry in walk:
        if entry.kind == "folder" or not matcher.matches(entry.path):
            continue
        if len(found) < MAX_LISTED:
            found.append(entry.path)
        else:
            more += 1
    notes = [f"[{more} more files match; use a narrower pattern.]"] if more else []
    notes += [f"[Cut {walk.cut}: there may be more.]"] if walk.cut else []
    if not found:
        notes += [IGNORED.format(count=walk.left_out, done="looked at")] if walk.left_out else []
        return ToolOutput(content="\n".join(["No file matches.", *notes]), summary="no files", truncated=bool(notes))
    return ToolOutput(content="\n".join(found + notes), summary=_count(len(found) + more), truncated=bool(notes))


@tool(
    effect="read",
    access=reads_all,
    summary=lambda arguments: f"Find {arguments['query']}",
    pure=True,
    idempotent=True,
)
def find_file(query: str, ctx: ToolContext) -> ToolOutput:
    """Find files whose path is like the query, best first. Its characters must come in the path in this order.

    Args:
        query: A part of the name or path, such as "userctrl" for src/user/controller.ts.
    """
    wanted = "".join(query.split())
    if not wanted or len(wanted) > _MAX_QUERY:
        raise ToolFault(f"The query must have 1 to {_MAX_QUERY} characters.", "invalid_query")
    walk = Walk(ctx.workspace, deadline=Deadline())
    scored = ((score(wanted, entry.path), entry.path) for entry in walk if entry.kind != "folder")
    best = heapq.nsmallest(MAX_FOUND, ((-found, path) for found, path in scored if found is not None))
    notes = [f"[Cut {walk.cut}: there may be better ones.]"] if walk.cut else []
    if not best:
        return ToolOutput(content="\n".join(["No file is like that.", *notes]), summary="no files")
    return ToolOutput(content="\n".join([path for _, path in best] + notes), summary=_count(len(best)))


def _count(files: int) -> str:
    return f"{files} entr{'y' if files == 1 else 'ies'}"
