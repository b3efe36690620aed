"""A project kept in memory: the files of a session that has no folder."""

from collections.abc import Mapping, Sequence

from weft.tools.workspace.base import Entry, Listing, PathFault
from weft.tools.workspace.listing import MAX_ENTRIES, ends_walk
from weft.tools.workspace.paths import normal, shown
from weft.tools.workspace.revised import RevisedFiles, Step
from weft.tools.workspace.text import bytes_of


class MemoryWorkspace(RevisedFiles):
    """Files in memory. A folder is there for as long as a file is in it."""

    root = ""
    is_project = True

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        super().__init__()
        self._files: dict[str, bytes] = {}
        for path, content in (files or {}).items():
            self.put(path, content)

    def put(self, path: str, content: str | bytes | None) -> None:
        """Change a file from outside, as a person would who edits it beside the agent: no revision, None deletes it."""
        path = normal(path)
        with self._lock:
            if content is None:
                self._files.pop(path, None)
                return
            self._check_place(path)
            self._files[path] = bytes_of(path, content)

    def exists(self, path: str) -> bool:
        path = normal(path)
        with self._lock:
            return not path or path in self._files or self._is_folder(path)

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True) -> Listing:
        path = normal(path)
        start = f"{path}/" if path else ""
        with self._lock:
            if path in self._files:
                raise PathFault(f"{shown(path)} is a file, not a folder; read it instead.", "not_a_folder")
            if path and not self._is_folder(path):
                raise PathFault(f"{shown(path)} does not exist; list the folder above it.", "not_found")
            found: dict[str, Entry] = {}
            for file, content in self._files.items():
                if not file.startswith(start):
                    continue
                names = file[len(start) :].split("/")
                for level, name in enumerate(names, 1):
                    if (depth is not None and level > depth) or (not hidden and name.startswith(".")):
                        break
                    at = start + "/".join(names[:level])
                    found[at] = Entry(at, "folder") if level < len(names) else Entry(at, "file", len(content))
                    if ends_walk(name):
                        break
        entries = sorted(found.values(), key=lambda entry: entry.path.split("/"))
        return Listing(entries[:MAX_ENTRIES], cut=len(entries) > MAX_ENTRIES)

    def close(self) -> None:
        """Nothing is held: the files stay readable."""

    def _read(self, path: str, limit: int) -> bytes:
        content = self._current(path)
        if content is None:
            raise PathFault(f"{shown(path)} does not exist; list its folder to see what does.", "not_found")
        if len(content) > limit:
            raise PathFault(
                f"{shown(path)} has {len(content)} bytes, more than the {limit} that may be read at once.", "too_large"
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
            raise PathFault(f"{shown(path)} is a folder; name a file in it.", "is_a_folder")
        for end in (index for index, char in enumerate(path) if char == "/"):
            if path[:end] in self._files:
                raise PathFault(
                    f"{shown(path[:end])} is a file, so it has no {shown(path[end + 1 :])}.", "not_a_folder"
                )
