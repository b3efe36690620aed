"""The `Workspace` protocol and the rules that every workspace shares: paths, text, listings."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Protocol

import msgspec

from weft.core.lazy import lazy_pattern
from weft.tools.results import ToolFault


class PathFault(ToolFault):
    """A path cannot be used. `kind` is one of:

    `path_outside_workspace`, `invalid_path`, `protected_path`, `not_found`, `not_a_regular_file`, `is_a_folder`,
    `not_a_folder`, `too_large`, `not_text`, `stale_read`, `exists`, `not_permitted`, `io_error`.
    """


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

_TEMPORARY = lazy_pattern(r"\.weft-[0-9a-f]{16}\.tmp")


def is_not_entered(name: str) -> bool:
    """Return whether a recursive listing names this folder without listing its entries."""
    return name == ".git"


def is_temporary(name: str) -> bool:
    """Return whether this is the name of a temporary file of an unfinished write."""
    return _TEMPORARY.fullmatch(name) is not None


MAX_PATH_BYTES = 2048
MAX_NAME_BYTES = 255

PROTECTED_FOLDERS = (
    ".git", ".weft", ".agent", ".agents", ".claude", ".codex", ".config/weft", ".cursor", ".gemini", ".windsurf"
)  # fmt: skip
"""Folders that no tool may write to, at any depth, even if they do not exist yet."""

PROTECTED_FILES = (
    "weft.toml", ".mcp.json", ".envrc", ".gitconfig", ".vscode/tasks.json", ".vscode/settings.json",
    ".vscode/launch.json", ".vscode/mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
    ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", "AGENTS.md", "CLAUDE.md",
    "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md"
)  # fmt: skip
"""Files that no tool may write, because they are executed or instruct agents."""

_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
_DRIVE = lazy_pattern(r"[A-Za-z]:")
# Unicode Default_Ignorable_Code_Point without category Cf.
_IGNORABLE = lazy_pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def normalize_path(path: str) -> str:
    """Normalize a path: `./a//b` becomes `a/b`; the workspace itself is the empty path.

    Raises PathFault for a path that is never valid in a workspace. Does not access the disk.
    """
    if not (path.isascii() and path.isprintable()) and any(unicodedata.category(char) in _BREAKING for char in path):
        raise PathFault(
            f"The path {quote_path(path)} holds a control character or broken text; use a plain path.", "invalid_path"
        )
    if "\\" in path:
        raise PathFault(f"The path {quote_path(path)} holds a backslash; separate folders by '/'.", "invalid_path")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise PathFault(
            f"The path {quote_path(path)} is longer than {MAX_PATH_BYTES} bytes; shorten it.", "invalid_path"
        )
    names = path.split("/")
    if path.startswith("/") or names[0] == "~" or _DRIVE.fullmatch(names[0]):
        raise PathFault(
            "An absolute path cannot be used here; use a path relative to the workspace.", "path_outside_workspace"
        )
    if ".." in names:
        raise PathFault(
            f"The path {quote_path(path)} holds '..'; use a path relative to the workspace, without '..'.",
            "path_outside_workspace",
        )
    names = [name for name in names if name not in ("", ".")]
    if any(len(name.encode()) > MAX_NAME_BYTES for name in names):
        raise PathFault(
            f"A name in {quote_path(path)} is longer than {MAX_NAME_BYTES} bytes; shorten it.", "invalid_path"
        )
    return "/".join(names)


def is_usable_path(path: str) -> bool:
    """Return whether a path found on disk is a valid normalized path."""
    try:
        return normalize_path(path) == path
    except PathFault:
        return False


def quote_path(path: str) -> str:
    """Return a path for an error message: quoted, escaped and shortened."""
    return repr(path if len(path) <= 200 else path[:200] + "…")


def is_protected(path: str) -> bool:
    """Return whether some file system could resolve the path to one that no tool may write."""
    return _protected_names().search(_folded(path)) is not None


def _folded(path: str) -> str:
    """Fold all spellings that some file system treats as equal."""
    text = _visible(unicodedata.normalize("NFKC", _visible(path)).casefold())
    text = unicodedata.normalize("NFKC", text).replace("\\", "/")
    return "/".join(name.split(":", 1)[0].lstrip(" ").rstrip(" .") for name in text.split("/"))


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return _IGNORABLE.sub("", "".join(char for char in text if unicodedata.category(char) != "Cf"))


def _spellings(name: str) -> str:
    """Return a pattern for a folded name and its short (8.3) forms: `git~1`, or `gi1a2b~1` after collisions."""
    stem, _, suffix = name.lstrip(".").rpartition(".")
    if not stem:
        stem, suffix = suffix, ""
    stem = stem.replace(".", "")
    ending = re.escape("." + suffix[:3]) if suffix else ""
    return rf"(?:{re.escape(name)}|(?:{re.escape(stem[:6])}|{re.escape(stem[:2])}[0-9a-f]{{4}})~[0-9]+{ending})"


@cache
def _protected_names() -> re.Pattern[str]:
    paths = (
        "/".join(_spellings(name) for name in _folded(path).split("/"))
        for path in (*PROTECTED_FOLDERS, *PROTECTED_FILES)
    )
    return re.compile(f"(?:^|/)(?:{'|'.join(paths)})(?:/|$)")


_LOOK = 8192


def decode_text(content: bytes) -> str | None:
    """Decode UTF-8 text; None if the content is not text."""
    if b"\0" in content[:_LOOK]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def require_text(path: str, content: bytes) -> str:
    text = decode_text(content)
    if text is None:
        raise PathFault(f"{quote_path(path)} is not a text file (it is not UTF-8, or holds NUL bytes).", "not_text")
    return text


def encode_content(path: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise PathFault(
            f"The content for {quote_path(path)} holds half a character (a lone surrogate); write whole characters.",
            "not_text",
        ) from None
