"""Caches the results of pure tools, for as long as the files that they read stay as they were.

A cached result is checked against the workspace before each use, so that a write by a tool, by a command or by anyone
else invalidates it. A file on disk whose identity (device, inode, size, times) is unchanged is not read for the check.
"""

import asyncio
from collections import OrderedDict
from typing import Any, cast

import msgspec

from weft.core.digest import sha256
from weft.core.json import JsonObject
from weft.tools.approvals import digest_of
from weft.tools.results import Parts, ToolOutput
from weft.tools.workspace.base import Identity, Listing, PathFault, Workspace, require_text

MAX_ACCESSES = 20_000
"""Maximum files and folders that one cached result may depend on."""
_MAX_CHARACTERS = 32_000_000
_MAX_ALL_ACCESSES = 200_000
_DIGEST_LENGTH = 64

WorkspaceAccess = tuple[str, ...]
"""A kind of access, the path and the options."""


class Observed(msgspec.Struct):
    """The outcome of an access: its digest, or an identity that stands for it."""

    digest: str = ""
    """Empty if the content was not read."""
    identity: Identity | None = None


class WatchedWorkspace:
    """A workspace that records every read. The first record of an access counts: a later change makes it invalid."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.seen: dict[WorkspaceAccess, Observed] = {}
        self.is_complete = True
        """Whether everything that the call read is recorded."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    @property
    def root(self) -> str:
        return self._workspace.root

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        what = ("read", path, str(limit), str(remember))
        identity = _identity(self._workspace, path)
        try:
            content = self._workspace.read(path, limit=limit, remember=remember)
        except PathFault as fault:
            self._record(what, Observed(fault.kind))
            raise
        if what not in self.seen:
            self._record(what, Observed(sha256(content).hexdigest(), identity))
        return content

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        return require_text(path, self.read(path, limit=limit, remember=remember))

    def exists(self, path: str) -> bool:
        found = self._workspace.exists(path)
        self._record(("exists", path), Observed(str(found)))
        return found

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True, sizes: bool = True) -> Listing:
        what = ("list", path, str(depth), str(hidden), str(sizes))
        identity = _identity(self._workspace, path) if depth == 1 and not sizes else None
        try:
            found = self._workspace.list(path, depth=depth, hidden=hidden, sizes=sizes)
        except PathFault as fault:
            self._record(what, Observed(fault.kind))
            raise
        self._record(what, Observed(_listing_digest(found), identity))
        return found

    def record_file(self, path: str, limit: int) -> None:
        """Record a file that something else reads, such as a program."""
        what = ("read", path, str(limit), "False")
        if what not in self.seen:
            identity = _identity(self._workspace, path)
            self._record(what, Observed("" if identity is not None else _digest(self._workspace, what), identity))

    def _record(self, what: WorkspaceAccess, observed: Observed) -> None:
        self.seen.setdefault(what, observed)
        if len(self.seen) > MAX_ACCESSES:
            self.is_complete = False


def skip_cache(workspace: Workspace) -> None:
    """Do not cache the result of this call, for example because its time limit cut it."""
    if isinstance(workspace, WatchedWorkspace):
        workspace.is_complete = False


def is_unchanged(workspace: Workspace, seen: dict[WorkspaceAccess, Observed]) -> bool:
    """Check all recorded accesses against the workspace as it is now. Blocks: run it in a thread."""
    return all(_is_equal(workspace, what, observed) for what, observed in seen.items())


def _is_equal(workspace: Workspace, what: WorkspaceAccess, observed: Observed) -> bool:
    has_identity = what[0] == "read" or what[2:] == ("1", what[-2], "False")
    identity = _identity(workspace, what[1]) if has_identity else None
    if identity is not None and identity == observed.identity:
        return True
    if not observed.digest or _digest(workspace, what) != observed.digest:
        return False
    observed.identity = identity  # it was read before the digest
    return True


def _digest(workspace: Workspace, what: WorkspaceAccess) -> str:
    """Return a digest of the current outcome of an access."""
    try:
        match what:
            case ("read", path, limit, _):
                most = None if limit == "None" else int(limit)
                return sha256(workspace.read(path, limit=most, remember=False)).hexdigest()
            case ("exists", path):
                return str(workspace.exists(path))
            case (_, path, depth, hidden, sizes):
                deep = None if depth == "None" else int(depth)
                found = workspace.list(path, depth=deep, hidden=hidden == "True", sizes=sizes == "True")
                return _listing_digest(found)
            case _:
                return ""
    except PathFault as fault:
        return fault.kind


def _listing_digest(found: Listing) -> str:
    return sha256(repr((list(found), found.cut)).encode("utf-8", "surrogatepass")).hexdigest()


def _identity(workspace: Workspace, path: str) -> Identity | None:
    try:
        return workspace.identity(path)
    except PathFault:
        return None


class _Cached(msgspec.Struct, frozen=True):
    seen: dict[WorkspaceAccess, Observed]
    value: Any
    size: int


class ResultCache:
    """An LRU cache of results, keyed by tool and arguments. Its memory is bounded."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._kept: OrderedDict[str, _Cached] = OrderedDict()
        self._running: dict[str, asyncio.Future[None]] = {}

    async def find(self, name: str, arguments: JsonObject, workspace: Workspace) -> tuple[bool, Any]:
        """Return whether a valid result is cached, and the result. A call that runs with equal arguments is awaited."""
        key = digest_of(name, arguments, workspace.root)
        while (running := self._running.get(key)) is not None:
            await asyncio.shield(running)
        self._running[key] = asyncio.get_running_loop().create_future()
        cached = self._kept.get(key)
        if cached is None:
            return False, None
        try:
            valid = await asyncio.to_thread(is_unchanged, workspace, cached.seen)
        except BaseException:
            self.finish(name, arguments, workspace)
            raise
        if not valid:
            self._kept.pop(key, None)
            return False, None
        if key in self._kept:
            self._kept.move_to_end(key)
        _remember_reads(workspace, cached.seen)
        self.finish(name, arguments, workspace)
        return True, cached.value

    def store(self, name: str, arguments: JsonObject, workspace: WatchedWorkspace, value: Any) -> None:
        if not workspace.is_complete:
            return
        key = digest_of(name, arguments, workspace.root)
        self._kept[key] = _Cached(workspace.seen, value, _size(value))
        self._kept.move_to_end(key)
        while self._kept and self._is_full():
            self._kept.popitem(last=False)

    def finish(self, name: str, arguments: JsonObject, workspace: Workspace) -> None:
        """Let equal calls that wait go on. Every `find` is followed by it."""
        running = self._running.pop(digest_of(name, arguments, workspace.root), None)
        if running is not None and not running.done():
            running.set_result(None)

    def _is_full(self) -> bool:
        return (
            len(self._kept) > self._size
            or sum(cached.size for cached in self._kept.values()) > _MAX_CHARACTERS
            or sum(len(cached.seen) for cached in self._kept.values()) > _MAX_ALL_ACCESSES
        )


def _remember_reads(workspace: Workspace, seen: dict[WorkspaceAccess, Observed]) -> None:
    """Mark the contents as seen, which a later write is compared with: the model is shown them now."""
    for what, observed in seen.items():
        if what[0] == "read" and what[3] == "True" and len(observed.digest) == _DIGEST_LENGTH:
            workspace.remember(what[1], observed.digest)


def _size(value: Any) -> int:
    content: Parts | Any = value.content if isinstance(value, ToolOutput) else value
    if isinstance(content, str | bytes):
        return len(content)
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        return sum(len(getattr(part, "text", None) or getattr(part, "data", None) or "") for part in parts)
    return len(repr(content))
