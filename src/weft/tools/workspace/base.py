"""What every workspace offers. Paths are relative, with forward slashes; all of it may be called from any thread."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from weft.tools.outcome import ToolFault


class PathFault(ToolFault):
    """A path that may not be used. `kind` says why.

    `path_outside_workspace`, `invalid_path`, `protected_path`, `not_found`, `not_a_regular_file`, `is_a_folder`,
    `not_a_folder`, `too_large`, `not_text`, `stale_read`, `exists`, `not_permitted`, `io_error`.
    """


class Entry(msgspec.Struct, frozen=True):
    """A file or folder in a listing. A link is named, never followed."""

    path: str
    kind: str
    """`file`, `folder` or `link`; `other` for what is none of them, such as a pipe."""
    size: int = 0


class Listing(list[Entry]):
    """What is in a folder. `cut` says that there was more than a listing holds."""

    def __init__(self, entries: Iterable[Entry] = (), *, cut: bool = False) -> None:
        super().__init__(entries)
        self.cut = cut


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One new revision of a file. `hash` is the SHA-256 of its content, None if it was deleted."""

    path: str
    revision: int
    hash: str | None
    prev_hash: str | None
    """The hash of the revision before; None at the first."""
    size: int
    diff: str
    """Unified, capped."""
    found: str | None = None
    """At the first revision: the hash of what was there before; None if nothing was."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a group of changes: its new content, or None to delete it."""

    path: str
    content: bytes | None


OnChange = Callable[[Change], object]


class Workspace(Protocol):
    """The files that tools may touch."""

    root: str
    """The folder as a person knows it; empty for a project in memory."""

    @property
    def is_project(self) -> bool:
        """Kept in memory, with no folder behind it."""
        ...

    def normal(self, path: str) -> str:
        """The path as it is named in events and locks. Raises PathFault if it can never be one of ours."""
        ...

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        """A file's content. What was read is remembered: a later write notices changes by others.

        A look that shows the model nothing of the whole file is not to be remembered. `limit` in bytes.
        """
        ...

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str: ...

    def exists(self, path: str) -> bool: ...

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True) -> Listing:
        """What is in a folder, sorted by path, folders before what is in them. `depth=None` is all the way down."""
        ...

    def write(self, path: str, content: str | bytes, *, on_change: OnChange, new: bool = False) -> Change | None:
        """Write a file, whole and at once, making its folders. None if the content is what is there already.

        `new` refuses to replace a file. A file that others changed since it was read here is a `stale_read`.
        """
        ...

    def write_all(self, edits: Sequence[Edit], *, on_change: OnChange) -> Sequence[Change]:
        """Several files, all or none of them."""
        ...

    def delete(self, path: str, *, on_change: OnChange) -> Change: ...

    def undo(self, path: str, revision: int | None = None, *, on_change: OnChange) -> Change:
        """Give a file the content it had before its last revision, or before the given one: as a new revision."""
        ...

    def revisions(self, path: str) -> Sequence[Change]: ...

    def content_at(self, path: str, revision: int) -> bytes | None:
        """A file's content at a revision; revision 0 is how it was found. None where it did not exist."""
        ...

    def files(self) -> dict[str, str]:
        """The text files that this session wrote, as they are now (all files of a project)."""
        ...

    def close(self) -> None: ...
