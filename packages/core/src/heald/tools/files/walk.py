"""Walks a workspace, for listings and for the search.

A walk is in sorted order, does not follow links, and is bounded in time and number. It lists folders of installed or
generated files, and folders that `.gitignore` names, without entering them, and leaves ignored files out, unless it
begins inside one of them.
"""

from collections.abc import Iterator
from time import monotonic

from heald.tools.files.access import MAX_SECONDS, MAX_VISITED
from heald.tools.files.ignore import FILE, IgnoredFiles
from heald.tools.skipped_folders import SKIPPED
from heald.tools.watched_workspace import skip_cache
from heald.tools.workspace.base import Workspace, WorkspaceEntry
from heald.tools.workspace.paths import PathFault


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
        self.ignored.record_listing(here, has_rules=any(entry.path.endswith(FILE) for entry in listing))
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
