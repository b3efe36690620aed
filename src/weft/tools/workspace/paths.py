"""A path from a model, checked before the system sees it, and the names that no tool may write."""

import re
import unicodedata

from weft.tools.workspace.base import PathFault

MAX_PATH_BYTES = 2048
MAX_NAME_BYTES = 255

PROTECTED_FOLDERS = (
    ".git",
    ".weft",
    ".agent",
    ".agents",
    ".claude",
    ".codex",
    ".config/weft",
    ".cursor",
    ".gemini",
    ".windsurf",
)
"""Folders that no tool may write into, at any depth and even where they do not exist yet."""

PROTECTED_FILES = (
    "weft.toml",
    ".mcp.json",
    ".envrc",
    ".gitconfig",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".github/copilot-instructions.md",
)
"""Files that no tool may write: what they hold runs, or instructs an agent."""

_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
_DRIVE = re.compile(r"[A-Za-z]:")
# Default_Ignorable_Code_Point of Unicode, as far as it is not of category Cf.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def normal(path: str) -> str:
    """The path in its one spelling: `./a//b` is `a/b`, and the workspace itself is the empty path.

    Raises PathFault for what can never name something in a workspace. It looks at the words alone, never at a disk.
    """
    if not (path.isascii() and path.isprintable()) and any(unicodedata.category(char) in _BREAKING for char in path):
        raise PathFault(
            f"The path {shown(path)} holds a control character or broken text; use a plain path.", "invalid_path"
        )
    if "\\" in path:
        raise PathFault(f"The path {shown(path)} holds a backslash; separate folders by '/'.", "invalid_path")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise PathFault(f"The path {shown(path)} is longer than {MAX_PATH_BYTES} bytes; shorten it.", "invalid_path")
    names = path.split("/")
    if path.startswith("/") or names[0] == "~" or _DRIVE.fullmatch(names[0]):
        raise PathFault(
            "An absolute path cannot be used here; use a path relative to the workspace.", "path_outside_workspace"
        )
    if ".." in names:
        raise PathFault(
            f"The path {shown(path)} holds '..'; use a path relative to the workspace, without '..'.",
            "path_outside_workspace",
        )
    names = [name for name in names if name not in ("", ".")]
    if any(len(name.encode()) > MAX_NAME_BYTES for name in names):
        raise PathFault(f"A name in {shown(path)} is longer than {MAX_NAME_BYTES} bytes; shorten it.", "invalid_path")
    return "/".join(names)


def usable(path: str) -> bool:
    """Whether a name found on a disk can be named by a model at all."""
    try:
        return normal(path) == path
    except PathFault:
        return False


def shown(path: str) -> str:
    """A path for an error message: quoted, escaped and not too long."""
    return repr(path if len(path) <= 200 else path[:200] + "…")


def protected(path: str) -> bool:
    """Whether the path is, or could be taken by some file system for, one that no tool may write."""
    return _PROTECTED.search(_folded(path)) is not None


def _folded(path: str) -> str:
    """The path as the laxest of file systems would read it."""
    text = _visible(unicodedata.normalize("NFKC", _visible(path)).casefold())
    text = unicodedata.normalize("NFKC", text).replace("\\", "/")
    return "/".join(name.split(":", 1)[0].lstrip(" ").rstrip(" .") for name in text.split("/"))


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return _IGNORABLE.sub("", "".join(char for char in text if unicodedata.category(char) != "Cf"))


def _spellings(name: str) -> str:
    """A pattern for a folded name and its short (8.3) forms: `git~1`, or `gi1a2b~1` where many names collide."""
    stem, _, suffix = name.lstrip(".").rpartition(".")
    if not stem:
        stem, suffix = suffix, ""
    stem = stem.replace(".", "")
    ending = re.escape("." + suffix[:3]) if suffix else ""
    return rf"(?:{re.escape(name)}|(?:{re.escape(stem[:6])}|{re.escape(stem[:2])}[0-9a-f]{{4}})~[0-9]+{ending})"


_PROTECTED = re.compile(
    "(?:^|/)(?:"
    + "|".join(
        "/".join(_spellings(name) for name in _folded(path).split("/"))
        for path in (*PROTECTED_FOLDERS, *PROTECTED_FILES)
    )
    + ")(?:/|$)"
)
