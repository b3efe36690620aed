"""A workspace that records what is read in it, and whether that has changed since."""

from typing import Any

import msgspec

from heald.core.digest import sha256
from heald.tools.workspace.base import Identity, Listing, Workspace
from heald.tools.workspace.contents import require_text
from heald.tools.workspace.paths import PathFault

MAX_ACCESSES = 20_000
"""Maximum files and folders that one cached result may depend on."""
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
        is_there = self._workspace.exists(path)
        self._record(("exists", path), Observed(str(is_there)))
        return is_there

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True, sizes: bool = True) -> Listing:
        what = ("list", path, str(depth), str(hidden), str(sizes))
        identity = _identity(self._workspace, path) if depth == 1 and not sizes else None
        try:
            listing = self._workspace.list(path, depth=depth, hidden=hidden, sizes=sizes)
        except PathFault as fault:
            self._record(what, Observed(fault.kind))
            raise
        self._record(what, Observed(_listing_digest(listing), identity))
        return listing

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
                listing = workspace.list(path, depth=deep, hidden=hidden == "True", sizes=sizes == "True")
                return _listing_digest(listing)
            case _:
                return ""
    except PathFault as fault:
        return fault.kind


def _listing_digest(listing: Listing) -> str:
    return sha256(repr((list(listing), listing.cut)).encode("utf-8", "surrogatepass")).hexdigest()


def _identity(workspace: Workspace, path: str) -> Identity | None:
    try:
        return workspace.identity(path)
    except PathFault:
        return None
