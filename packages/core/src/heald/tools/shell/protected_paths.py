"""Prevents changes to the protected paths of a workspace while a command runs, even to those that do not exist.

Existing paths are mounted read-only. A mount point cannot be renamed or replaced from inside, so every parent folder is
mounted too. A missing path that would take effect immediately gets an empty read-only placeholder, which is removed
with the last command of any process that needs it. Other protected paths that a command creates are renamed when it has
ended. A link cannot be a mount point: it is restored afterwards, and its target is protected instead.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from posixpath import basename, dirname, join, normpath
from secrets import token_hex

import msgspec

from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.paths import ASKED_PATHS, PROTECTED_FILES, PROTECTED_FOLDERS
from heald.tools.workspace.placeholders import GIT_PATHS, LIVE_PATHS, Placeholder, hold_placeholder

PROTECTED: tuple[str, ...] = (*GIT_PATHS, *LIVE_PATHS)
"""Paths that are read-only even if absent. A trailing slash marks a folder."""

SET_ASIDE: tuple[str, ...] = (
    *(path for path in PROTECTED_FOLDERS if path not in (".git", ".heald")),
    *(path for path in (*PROTECTED_FILES, *ASKED_PATHS) if path not in LIVE_PATHS),
    ".git/commondir",  # redirects git to another folder's settings; a placeholder would break git
)
"""Paths that are read-only if present. One that a command creates is renamed. They get no placeholders."""

_WHERE_PRESENT = (".git/modules", ".git/worktrees")

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


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
        self._fds: dict[str, int] = {"": self._root}
        self._passable: set[str] = set()  # folders that stay writable, with protected paths inside
        self._held: list[Placeholder] = []
        self._links: list[tuple[str, str]] = []
        self._absent: list[str] = []
        try:
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
        return [held.path for held in self._held if held.is_removable and not held.is_folder]

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
            is_folder = not last or path.endswith("/")
            create = "" if where_present else "folder" if is_folder else "file"
            opened = hold_placeholder(here, self._fds[above], create=create)
            if opened is None:
                return
            fd, placeholder = opened
            self._fds[here] = fd
            if placeholder is not None:
                self._held.append(placeholder)
                last = last or placeholder.is_removable  # a placeholder folder covers everything below it
            kind = os.fstat(fd).st_mode
            if stat.S_ISLNK(kind):
                self._follow(here, os.readlink(name, dir_fd=self._fds[above]))
                return
            last = last or not stat.S_ISDIR(kind)
            self.mounts.append(Mount(fd, here, writable=not last))
            if last:
                return
            self._passable.add(here)

    def _follow(self, path: str, target: str) -> None:
        self._links.append((path, target))
        inside = normpath(join(dirname(path), target))
        if not inside.startswith(("/", "..")) and inside != ".":
            self._protect(inside, where_present=True)

    # --- after the command --------------------------------------------------------------------------------------------

    def close(self) -> list[str]:
        """Restore the workspace after the command has ended. Return a sentence about each correction."""
        notes: list[str] = []
        for path, target in self._links:
            with suppress(OSError):
                if self._restore_link(path, target):
                    notes.append(f"{path} is protected: the link was put back as it was.")
        notes += [
            f"{mount.path} was replaced from outside while the command ran, which ended its protection; check it."
            for mount in self.mounts
            if not mount.writable and self._is_replaced(mount)
        ]
        for path in self._absent:
            with suppress(OSError):
                aside = self._set_aside(path)
                if aside is not None:
                    notes.append(f"{path} is protected: what the command made there is now {aside}.")
        for placeholder in reversed(self._held):
            with suppress(OSError):
                placeholder.release(self._fds[dirname(placeholder.path)])
        self._held, self._links, self._absent, self.mounts = [], [], [], []
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}
        return notes

    def _is_replaced(self, mount: Mount) -> bool:
        """Return whether the name has another file now. The kernel ends a mount over a name that is replaced."""
        try:
            now = os.stat(basename(mount.path), dir_fd=self._fds[dirname(mount.path)], follow_symlinks=False)
        except OSError:
            return False
        before = os.fstat(mount.fd)
        return (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino)

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


def _refused(name: str) -> str:
    return f"{name}.refused-{token_hex(3)}"
