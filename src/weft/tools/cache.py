"""Results of pure tools, kept for as long as the files they read are what they were."""

from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from weft.core.json import JsonObject
from weft.tools.approvals import digest_of
from weft.tools.workspace.base import Entry, PathFault, Workspace

Seen = dict[tuple[str, ...], str]
"""What was looked at, with a digest of what was seen."""


class ResultCache:
    """Keyed by tool and arguments, checked against the files that were read. The oldest goes when it is full."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._kept: OrderedDict[str, tuple[Seen, Any]] = OrderedDict()

    def find(self, name: str, arguments: JsonObject, workspace: Workspace) -> tuple[bool, Any]:
        """Whether a result is known that still holds, and the result."""
        key = digest_of(name, arguments, workspace.root)
        kept = self._kept.get(key)
        if kept is None:
            return False, None
        seen, value = kept
        watched = WatchedWorkspace(workspace)
        if any(watched.look(what) != digest for what, digest in seen.items()):
            del self._kept[key]
            return False, None
        self._kept.move_to_end(key)
        return True, value

    def keep(self, name: str, arguments: JsonObject, workspace: "WatchedWorkspace", value: Any) -> None:
        self._kept[digest_of(name, arguments, workspace.root)] = (workspace.seen, value)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)


class WatchedWorkspace:
    """A workspace that remembers what was looked at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.seen: Seen = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    @property
    def root(self) -> str:
        return self._workspace.root

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        self._see("read", path)
        return self._workspace.read(path, limit=limit, remember=remember)

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        self._see("read", path)
        return self._workspace.read_text(path, limit=limit, remember=remember)

    def exists(self, path: str) -> bool:
        self._see("exists", path)
        return self._workspace.exists(path)

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True) -> Iterable[Entry]:
        self._see("list", path, str(depth), str(hidden))
        return self._workspace.list(path, depth=depth, hidden=hidden)

    def _see(self, *what: str) -> None:
        self.seen[what] = self.look(what)

    def look(self, what: tuple[str, ...]) -> str:
        """A digest of what is there now."""
        try:
            match what:
                case ("read", path):
                    return sha256(self._workspace.read(path, remember=False)).hexdigest()
                case ("exists", path):
                    return str(self._workspace.exists(path))
                case (_, path, depth, hidden):
                    deep = None if depth == "None" else int(depth)
                    entries = self._workspace.list(path, depth=deep, hidden=hidden == "True")
                    return sha256(repr(list(entries)).encode()).hexdigest()
                case _:
                    return ""
        except PathFault as fault:
            return fault.kind
