"""The rules of paths that every workspace shares."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from heald.core.lazy import lazy_pattern
from heald.tools.tool_fault import ToolFault


class PathFault(ToolFault):
    """A path cannot be used. `kind` is one of:

    `path_outside_workspace`, `invalid_path`, `protected_path`, `not_found`, `not_a_regular_file`, `is_a_folder`,
    `not_a_folder`, `too_large`, `not_text`, `stale_read`, `exists`, `not_permitted`, `io_error`.
    """


MAX_PATH_BYTES = 2048
MAX_NAME_BYTES = 255
PROTECTED_FOLDERS = (
    ".git", ".heald", ".agent", ".agents", ".claude", ".codex", ".config/heald", ".cursor", ".gemini", ".windsurf"
)  # fmt: skip
"""Folders that no tool may write to, at any depth, even if they do not exist yet."""
PROTECTED_FILES = (
    "heald.toml", ".mcp.json", ".envrc", ".gitconfig", ".vscode/tasks.json", ".vscode/settings.json",
    ".vscode/launch.json", ".vscode/mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
    ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", "AGENTS.md", "CLAUDE.md",
    "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md"
)  # fmt: skip
"""Files that no tool may write, because they are executed or instruct agents."""
ASKED_PATHS = (
    # other agents
    ".aider.conf.yml", ".aiderrules", ".amazonq", ".augment", ".augment-guidelines", ".clinerules", ".continue",
    ".crush.json", ".goosehints", ".junie", ".kilocode", ".kilocodemodes", ".kiro", ".opencode", ".qwen", ".roo",
    ".roomodes", ".roorules", ".rules", ".trae", ".windsurfrules.md", "AGENT.md", "AGENTS.override.md", "CRUSH.md",
    "QWEN.md", "WARP.md", "opencode.json", "opencode.jsonc", ".github/agents", ".github/chatmodes",
    ".github/instructions", ".github/prompts",
    # editors
    ".devcontainer", ".devcontainer.json", ".dir-locals.el", ".dir-locals-2.el", ".exrc", ".fleet", ".gvimrc",
    ".idea", ".lvimrc", ".nvim.lua", ".nvimrc", ".vimrc", ".vscode/extensions.json", ".zed",
    # hooks of git
    ".gitmodules", ".husky", ".huskyrc", ".lefthook.yaml", ".lefthook.yml", ".overcommit.yml",
    ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook-local.yml", "lefthook.toml", "lefthook.yaml",
    "lefthook.yml",
    # package and tool managers
    ".asdfrc", ".bazelrc", ".cargo/config", ".cargo/config.toml", ".config/mise", ".condarc", ".mise", ".mise.toml",
    ".npmrc", ".pip", ".pnpmfile.cjs", ".pypirc", ".tool-versions", ".yarnrc", ".yarnrc.yml", "bunfig.toml",
    "mise.local.toml", "mise.toml", "pip.conf",
    # CI systems
    ".azure-pipelines", ".buildkite", ".circleci", ".drone.yml", ".github/actions", ".github/workflows",
    ".gitlab-ci.yml", ".travis.yml", ".woodpecker", ".woodpecker.yml", "Jenkinsfile", "azure-pipelines.yml",
    "bitbucket-pipelines.yml"
)  # fmt: skip
"""Files and folders that other programs obey. A tool may write them after a person has approved it."""
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


def is_asked(path: str) -> bool:
    """Return whether some file system could resolve the path to one that a person must approve."""
    return _asked_names().search(_folded(path)) is not None


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
    return _names_pattern((*PROTECTED_FOLDERS, *PROTECTED_FILES))


@cache
def _asked_names() -> re.Pattern[str]:
    return _names_pattern(ASKED_PATHS)


def _names_pattern(paths: Sequence[str]) -> re.Pattern[str]:
    spellings = ("/".join(_spellings(name) for name in _folded(path).split("/")) for path in paths)
    return re.compile(f"(?:^|/)(?:{'|'.join(spellings)})(?:/|$)")
