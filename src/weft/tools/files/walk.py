"""A look through the files of a workspace: in order, without following links, and bounded in time and number.

Folders of installed or generated things are named but not entered, unless the look begins in one.
"""

from collections.abc import Iterator
from time import monotonic

from weft.tools.files.sizes import MAX_SECONDS, MAX_VISITED
from weft.tools.workspace.base import Entry, PathFault, Workspace

SKIPPED = frozenset(
    (
        ".cache",
        ".git",
        ".gradle",
        ".hg",
        ".mypy_cache",
        ".next",
        ".nox",
        ".nuxt",
        ".parcel-cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".turbo",
        ".venv",
        "__pycache__",
        "bower_components",
        "node_modules",
        "venv",
    )
)


class Deadline:
    """When a look has to end."""

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
    """The entries below a folder, or the one file that the path names. `cut` says why it ended early, if it did."""

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
        self._entries = self._first()

    @property
    def starts_skipped(self) -> bool:
        """It begins in a folder that other walks leave out."""
        return any(name in SKIPPED for name in self.start.split("/"))

    def __iter__(self) -> Iterator[Entry]:
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
                return
            yield entry
            if entry.kind == "folder" and level != self._depth and not is_skipped(entry.path):
                waiting += [(child, level + 1) for child in reversed(self._list(entry.path))]

    def _first(self) -> list[Entry]:
        try:
            return self._listed(self.start)
        except PathFault as fault:
            if fault.kind != "not_a_folder":
                raise
            self.is_file = True
            return [Entry(self.start, "file")]

    def _list(self, path: str) -> list[Entry]:
        try:
            return self._listed(path)
        except PathFault:
            return []  # it was there a moment ago, or may not be read

    def _listed(self, path: str) -> list[Entry]:
        listing = self._workspace.list(path, depth=1)
        if listing.cut:
            self.cut = "at a folder with too many files"
        return listing


def is_skipped(path: str) -> bool:
    """Whether a folder is left out, by its name."""
    return path.rpartition("/")[2] in SKIPPED


def is_inside_skipped(path: str, start: str) -> bool:
    """Whether a walk from a folder would not come to this file, because of a folder on the way."""
    below = path[len(start) :].strip("/") if start else path
    return any(name in SKIPPED for name in below.split("/")[:-1])


def order(path: str) -> list[str]:
    """Sorts paths as a walk comes to them."""
    return path.split("/")
