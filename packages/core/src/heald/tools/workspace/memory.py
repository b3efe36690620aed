"""`MemoryWorkspace`: the files of a session that has no folder."""

from collections.abc import Mapping, Sequence

from heald.tools.workspace.base import MAX_ENTRIES, Listing, WorkspaceEntry, is_not_entered
from heald.tools.workspace.contents import encode_content
from heald.tools.workspace.paths import PathFault, normalize_path, quote_path
from heald.tools.workspace.revisions import RevisionedWorkspace, Step


class MemoryWorkspace(RevisionedWorkspace):
    """Files in memory. A folder exists while it contains a file."""

    root = ""
    is_project = True

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        super().__init__()
        self._files: dict[str, bytes] = {}
        for path, content in (files or {}).items():
            self.put(path, content)

    def put(self, path: str, content: str | bytes | None) -> None:
        """Write a file without a revision, as an edit from outside the session; None deletes it."""
        path = normalize_path(path)
        with self._lock:
            if content is None:
                self._files.pop(path, None)
                return
            self._check_place(path)
            self._files[path] = encode_content(path, content)

    @property
    def is_empty(self) -> bool:
        """Whether it holds no file."""
        return not self._files

    @property
    def paths(self) -> Sequence[str]:
        """The paths of all files."""
        with self._lock:
            return list(self._files)

    def exists(self, path: str) -> bool:
        path = normalize_path(path)
        with self._lock:
            return not path or path in self._files or self._is_folder(path)

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True, sizes: bool = True) -> Listing:
        path = normalize_path(path)
        start = f"{path}/" if path else ""
        with self._lock:
            if path in self._files:
                raise PathFault(f"{quote_path(path)} is a file, not a folder; read it instead.", "not_a_folder")
            if path and not self._is_folder(path):
                raise PathFault(f"{quote_path(path)} does not exist; list the folder above it.", "not_found")
            entries_by_path: dict[str, WorkspaceEntry] = {}
            for file, content in self._files.items():
                if not file.startswith(start):
                    continue
                names = file[len(start) :].split("/")
                for level, name in enumerate(names, 1):
                    if (depth is not None and level > depth) or (not hidden and name.startswith(".")):
                        break
                    at = start + "/".join(names[:level])
                    entries_by_path[at] = (
                        WorkspaceEntry(at, "folder")
                        if level < len(names)
                        else WorkspaceEntry(at, "file", len(content) if sizes else 0)
                    )
                    if is_not_entered(name):
                        break
        entries = sorted(entries_by_path.values(), key=lambda entry: entry.path.split("/"))
        return Listing(entries[:MAX_ENTRIES], cut=len(entries) > MAX_ENTRIES)

    def close(self) -> None:
        """Do nothing. The files stay readable."""

    def _read(self, path: str, limit: int) -> bytes:
        content = self._current(path)
        if content is None:
            raise PathFault(f"{quote_path(path)} does not exist; list its folder to see what does.", "not_found")
        if len(content) > limit:
            raise PathFault(
                f"{quote_path(path)} has {len(content)} bytes, more than the {limit} that may be read at once.",
                "too_large",
            )
        return content

    def _current(self, path: str) -> bytes | None:
        if path in self._files:
            return self._files[path]
        self._check_place(path)
        return None

    def _commit(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if step.after is None:
                self._files.pop(step.path, None)
            else:
                self._files[step.path] = step.after

    def _written(self) -> Sequence[str]:
        return tuple(self._files)

    def _is_folder(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self._files)

    def _check_place(self, path: str) -> None:
        if not path or self._is_folder(path):
            raise PathFault(f"{quote_path(path)} is a folder; name a file in it.", "is_a_folder")
        for end in (index for index, char in enumerate(path) if char == "/"):
            if path[:end] in self._files:
                raise PathFault(
                    f"{quote_path(path[:end])} is a file, so it has no {quote_path(path[end + 1 :])}.", "not_a_folder"
                )
