"""Prevents changes to the protected paths of a workspace while a command runs, even to those that do not exist.

Existing paths are mounted read-only. A mount point cannot be renamed or replaced from inside, so every parent folder is
mounted too. A missing path that would take effect immediately gets an empty read-only placeholder, which is removed
with the last command that needs it. Other protected paths that a command creates are renamed when it has ended. A link
cannot be a mount point: it is restored afterwards, and its target is protected instead.
"""

import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from posixpath import basename, dirname, join, normpath
from secrets import token_hex

import msgspec

from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.paths import PROTECTED_FILES, PROTECTED_FOLDERS

_VSCODE = tuple(path for path in PROTECTED_FILES if path.startswith(".vscode/"))
_LIVE = (".heald/", "heald.toml", ".mcp.json", ".envrc", *_VSCODE)
"""Files that Heald, an editor or an open shell reads as soon as they appear."""

PROTECTED: tuple[str, ...] = (".git/hooks/", ".git/config", ".git/config.worktree", *_LIVE)
"""Paths that are read-only even if absent. A trailing slash marks a folder."""

SET_ASIDE: tuple[str, ...] = (
    *(path for path in PROTECTED_FOLDERS if path not in (".git", ".heald")),
    *(path for path in PROTECTED_FILES if path not in _LIVE),
    ".git/commondir",  # redirects git to another folder's settings; a placeholder would break git
)
"""Paths that are read-only if present. One that a command creates is renamed. They get no placeholders."""

_WHERE_PRESENT = (".git/modules", ".git/worktrees")

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)

_placeholders: dict[tuple[int, int, str], int] = {}  # number of running commands that use each
_lock = threading.Lock()


def list_placeholders(folder: str) -> frozenset[str]:
    """Return the placeholders that running commands of this process need in a workspace. They are not the user's."""
    try:
        status = os.stat(folder)
    except OSError:
        return frozenset()
    with _lock:
        return frozenset(
            path for device, inode, path in _placeholders if (device, inode) == (status.st_dev, status.st_ino)
        )


class Mount(msgspec.Struct, frozen=True):
    """An open file or folder of the workspace that is mounted over itself."""

    fd: int
    path: str
    writable: bool


class ProtectedPaths:
    """The mounts for one command. `close` removes the placeholders from the workspace."""

    def __init__(self, root: int, protected: Sequence[str] = PROTECTED, set_aside: Sequence[str] = SET_ASIDE) -> None:
        self.mounts: list[Mount] = []
        self._root = os.dup(root)
        status = os.fstat(root)
        self._workspace = (status.st_dev, status.st_ino)
        self._fds: dict[str, int] = {"": self._root}
        self._passable: set[str] = set()  # folders that stay writable, with protected paths inside
        self._made: list[tuple[str, bool]] = []
        self._links: list[tuple[str, str]] = []
        self._absent: list[str] = []
        try:
            with _lock:
                for path in protected:
                    self._protect(path)
                for path in (*set_aside, *_WHERE_PRESENT):
                    self._protect(path, where_present=True)
                self._absent = [path for path in set_aside if self._find(path) is None]
        except OSError as error:
            self.close()
            raise ToolFault(
                f"The protected paths of the workspace could not be shielded ({error.strerror}), so nothing was run; "
                "the server must be able to write to the workspace.",
                "sandbox_failed",
            ) from None

    @property
    def placeholders(self) -> list[str]:
        """The placeholder files."""
        return [path for path, is_folder in self._made if not is_folder]

    # --- before the command -------------------------------------------------------------------------------------------

    def _protect(self, path: str, *, where_present: bool = False) -> None:
        names = path.strip("/").split("/")
        for depth, name in enumerate(names):
            last = depth == len(names) - 1
            here, above = "/".join(names[: depth + 1]), "/".join(names[:depth])
            if here in self._passable:
                continue
            if here in self._fds:
                return
            fd = self._open(name, above)
            if fd is None:
                if where_present:
                    return
                fd = self._create_placeholder(name, above, is_folder=not last or path.endswith("/"))
                last = True  # a placeholder folder covers everything below it
            kind = os.fstat(fd).st_mode
            self._fds[here] = fd
            self._count_use(here, stat.S_ISDIR(kind))
            if stat.S_ISLNK(kind):
                self._follow(here, os.readlink(name, dir_fd=self._fds[above]))
                return
            last = last or not stat.S_ISDIR(kind)
            self.mounts.append(Mount(fd, here, writable=not last))
            if last:
                return
            self._passable.add(here)

    def _open(self, name: str, above: str) -> int | None:
        with suppress(FileNotFoundError):
            return os.open(name, _FLAGS, dir_fd=self._fds[above])
        return None

    def _create_placeholder(self, name: str, above: str, *, is_folder: bool) -> int:
        parent = self._fds[above]
        if is_folder:
            os.mkdir(name, 0o755, dir_fd=parent)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644, dir_fd=parent))
        _placeholders[(*self._workspace, join(above, name))] = 0
        return os.open(name, _FLAGS, dir_fd=parent)

    def _count_use(self, here: str, is_folder: bool) -> None:
        key = (*self._workspace, here)
        if key in _placeholders:
            _placeholders[key] += 1
            self._made.append((here, is_folder))

    def _follow(self, path: str, target: str) -> None:
        self._links.append((path, target))
        inside = normpath(join(dirname(path), target))
        if not inside.startswith(("/", "..")) and inside != ".":
            self._protect(inside, where_present=True)

    # --- after the command --------------------------------------------------------------------------------------------

    def close(self) -> list[str]:
        """Restore the workspace after the command has ended. Return a sentence about each correction."""
        notes: list[str] = []
        with _lock:
            for path, target in self._links:
                with suppress(OSError):
                    if self._restore_link(path, target):
                        notes.append(f"{path} is protected: the link was put back as it was.")
            for path in self._absent:
                with suppress(OSError):
                    aside = self._set_aside(path)
                    if aside is not None:
                        notes.append(f"{path} is protected: what the command made there is now {aside}.")
            for path, is_folder in reversed(self._made):
                with suppress(OSError):
                    self._remove(path, is_folder)
        self._made, self._links, self._absent = [], [], []
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}
        return notes

    def _restore_link(self, path: str, target: str) -> bool:
        parent, name = self._fds[dirname(path)], basename(path)
        with suppress(OSError):
            if os.readlink(name, dir_fd=parent) == target:
                return False
        with suppress(FileNotFoundError):
            os.rename(name, _refused(name), src_dir_fd=parent, dst_dir_fd=parent)
        os.symlink(target, name, dir_fd=parent)
        return True

    def _set_aside(self, path: str) -> str | None:
        parent = self._find(dirname(path), keep=True) if "/" in path else os.dup(self._root)
        if parent is None:
            return None
        try:
            aside = _refused(basename(path))
            os.rename(basename(path), aside, src_dir_fd=parent, dst_dir_fd=parent)
        except FileNotFoundError:
            return None
        finally:
            os.close(parent)
        return join(dirname(path), aside)

    def _find(self, path: str, *, keep: bool = False) -> int | None:
        """Open a path without following links. The descriptor is closed unless `keep` is set."""
        fd = os.dup(self._root)
        for name in path.split("/"):
            above = fd
            try:
                fd = os.open(name, _FLAGS, dir_fd=above)
            except (FileNotFoundError, NotADirectoryError):
                return None
            finally:
                os.close(above)
        if not keep:
            os.close(fd)
        return fd

    def _remove(self, path: str, is_folder: bool) -> None:
        key = (*self._workspace, path)
        _placeholders[key] -= 1
        if _placeholders[key] > 0:
            return
        del _placeholders[key]
        parent, name = self._fds[dirname(path)], basename(path)
        if is_folder:
            os.rmdir(name, dir_fd=parent)
        elif os.stat(name, dir_fd=parent, follow_symlinks=False).st_size == 0:
            os.unlink(name, dir_fd=parent)


def _refused(name: str) -> str:
    return f"{name}.refused-{token_hex(3)}"
