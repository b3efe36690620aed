"""The `Workspace` protocol, its entries and changes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from heald.core.lazy import lazy_pattern


class WorkspaceEntry(msgspec.Struct, frozen=True):
    """A file or folder in a listing. A link is named, never followed."""

    path: str
    kind: str
    """`file`, `folder`, `link`, or `other`, such as a pipe."""
    size: int = 0


class Listing(list[WorkspaceEntry]):
    """The entries of a folder. `cut` is set if the listing is incomplete."""

    def __init__(self, entries: Iterable[WorkspaceEntry] = (), *, cut: bool = False) -> None:
        super().__init__(entries)
        self.cut = cut


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A revision of a file. `hash` is the SHA-256 of its content, None if the file was deleted."""

    path: str
    revision: int
    hash: str | None
    prev_hash: str | None
    """The hash of the previous revision; None for the first."""
    size: int
    diff: str
    """A unified diff of limited size."""
    found: str | None = None
    """For the first revision: the hash of the original content; None if the file did not exist."""


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """The new content of a file, or None to delete it."""

    path: str
    content: bytes | None


OnChange = Callable[[Change], object]
Identity = tuple[int, ...]
"""Numbers of a file or folder on disk that change with its content or its names: device, inode, size, times."""


class Workspace(Protocol):
    """The files that tools may access."""

    root: str
    """The path of the folder; empty for a workspace in memory."""

    @property
    def is_project(self) -> bool:
        """Whether the files are in memory only."""
        ...

    def normal(self, path: str) -> str:
        """Return the normalized path, as used in events and locks. Raises PathFault if it is invalid."""
        ...

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        """Return the content of a file of at most `limit` bytes.

        With `remember`, a later write detects changes made by others since this read. Pass False if the content is not
        shown to the model.
        """
        ...

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str: ...

    def exists(self, path: str) -> bool: ...

    def is_seen(self, path: str) -> bool:
        """Whether the session has read or written the file."""
        ...

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True, sizes: bool = True) -> Listing:
        """List a folder, sorted by path, each folder before its entries. `depth=None` is unlimited.

        Without `sizes` the size of every entry is 0, which is faster on disk.
        """
        ...

    def identity(self, path: str) -> Identity | None:
        """Return the identity of a file or folder; None if a change could go unnoticed by it, or in memory."""
        ...

    def remember(self, path: str, digest: str) -> None:
        """Mark a content as seen, as `read` does. `digest` is its SHA-256."""
        ...

    def write(self, path: str, content: str | bytes, *, on_change: OnChange, new: bool = False) -> Change | None:
        """Write a file atomically and create its folders. Return None if the content is unchanged.

        `new` raises PathFault if the file exists. Raises `stale_read` if others changed the file since it was read.
        """
        ...

    def write_all(self, edits: Sequence[FileEdit], *, on_change: OnChange) -> Sequence[Change]:
        """Write or delete several files, all or none of them."""
        ...

    def delete(self, path: str, *, on_change: OnChange) -> Change: ...

    def undo(self, path: str, revision: int | None = None, *, on_change: OnChange) -> Change:
        """Restore the content before the last revision, or before the given one, as a new revision."""
        ...

    def revisions(self, path: str) -> Sequence[Change]: ...

    def content_at(self, path: str, revision: int) -> bytes | None:
        """Return the content at a revision; None if the file did not exist. Revision 0 is the original content."""
        ...

    def files(self) -> dict[str, str]:
        """Return the current text files that this session wrote; for a workspace in memory, all text files."""
        ...

    def close(self) -> None: ...


MAX_ENTRIES = 50_000
_TEMPORARY = lazy_pattern(r"\.heald-[0-9a-f]{16}\.tmp")


def is_not_entered(name: str) -> bool:
    """Return whether a recursive listing names this folder without listing its entries."""
    return name == ".git"


def is_temporary(name: str) -> bool:
    """Return whether this is the name of a temporary file of an unfinished write."""
    return _TEMPORARY.fullmatch(name) is not None
