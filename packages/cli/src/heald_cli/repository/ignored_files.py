"""The ignored files of a working tree, and which of them a copy of it gets.

A copy gets the ignored files that it needs: dependencies as links, those in `.worktreeinclude` as copies. A folder of
dependencies becomes a folder with a link to each of its entries: that costs nothing, sandboxed commands may only read
behind the links, and git ignores the folder by the same rule. Other ignored files, such as results of a build, are
missing: they would be those of another state.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from heald.tools.git.program import GitFailed, split_paths
from heald.tools.git.repository import GitRepository

INCLUDE_FILE = ".worktreeinclude"
"""Names ignored files to copy, in the form of a `.gitignore`."""
DEPENDENCIES = ("node_modules", ".venv", "venv", "vendor")
_REGENERATED = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", ".hypothesis", ".coverage")
_MAX_COPIED_BYTES = 500_000_000


class IgnoredPaths(msgspec.Struct, frozen=True):
    """The ignored files of a working tree, as paths below its top."""

    linked: tuple[str, ...] = ()
    """Folders of dependencies."""
    copied: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Files and folders (with a slash at the end) that a worktree does not get, without caches."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The folders below dependencies that may hold programs."""
        inner = ("bin", ".bin")
        return tuple(f"{path}/{name}" for path in self.linked for name in inner)


def find_ignored(repository: GitRepository, data: str) -> IgnoredPaths:
    """Find the ignored files of a working tree. `data`, Heald's own folder, is none of them. Raises GitFailed."""
    words = ("ls-files", "-z", "--others", "--ignored")
    ignored = split_paths(repository.run(*words, "--exclude-standard", "--directory"))
    data_path = os.path.relpath(data, repository.top)
    ignored = [path for path in ignored if not _is_below(path, data_path)]
    linked = tuple(path.rstrip("/") for path in ignored if path.endswith("/") and _name(path) in DEPENDENCIES)
    copied: list[str] = []
    if os.path.isfile(os.path.join(repository.top, INCLUDE_FILE)):
        with suppress(GitFailed):
            named = split_paths(repository.run(*words, f"--exclude-from={INCLUDE_FILE}"))
            copied = [path for path in named if not any(_is_below(path, folder) for folder in (*linked, data_path))]
    missing = [path for path in ignored if not _is_part(path, (*linked, *copied)) and _name(path) not in _REGENERATED]
    outermost = [path for path in missing if not any(other != path and other.startswith(path) for other in ignored)]
    return IgnoredPaths(linked, tuple(copied), tuple(outermost))


def provide_ignored(ignored: IgnoredPaths, source: str, target: str) -> None:
    """Link and copy the ignored files of the working tree at `source` into the one at `target`."""
    for path in ignored.linked:
        place = os.path.join(target, path)
        os.makedirs(place, exist_ok=True)
        for name in os.listdir(os.path.join(source, path)):
            with suppress(FileExistsError):
                os.symlink(os.path.join(source, path, name), os.path.join(place, name))
    copy_files(ignored.copied, source, target)


def copy_files(paths: Sequence[str], source: str, target: str) -> None:
    """Copy files that the target lacks. Those beyond 500 MB in all, and those that vanish, are not copied."""
    room = _MAX_COPIED_BYTES
    for path in paths:
        place = os.path.join(target, path)
        with suppress(OSError):
            room -= os.lstat(os.path.join(source, path)).st_size
            if room < 0 or os.path.lexists(place):
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy2(os.path.join(source, path), place, follow_symlinks=False)


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_below(path: str, folder: str) -> bool:
    return path.rstrip("/") == folder or path.startswith(f"{folder}/")


def _is_part(path: str, provided: Sequence[str]) -> bool:
    """Whether a path is provided itself, or is a folder with a part that is."""
    return any(part == path.rstrip("/") or (path.endswith("/") and part.startswith(path)) for part in provided)
