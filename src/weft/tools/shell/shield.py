"""Keeps the protected paths of a workspace as they are while a command runs, even those that do not exist.

What exists is mounted read-only. A mount point cannot be renamed or replaced from inside, so every folder on the way
to it is one too. What does not exist yet but would be obeyed at once gets an empty read-only placeholder, which goes
with the last command that needed it; what else appears under a protected name is set aside when the command has ended.
A link cannot be mounted over: it is put back afterwards, and what it points to is protected instead.
"""

import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath
from secrets import token_hex

from weft.tools.outcome import ToolFault
from weft.tools.workspace.paths import PROTECTED_FILES, PROTECTED_FOLDERS

_VSCODE = tuple(path for path in PROTECTED_FILES if path.startswith(".vscode/"))
_LIVE = (".weft/", "weft.toml", ".mcp.json", ".envrc", *_VSCODE)
"""Obeyed as soon as they appear, by us, by an editor or by a shell that is open on the folder."""

PROTECTED: tuple[str, ...] = (".git/hooks/", ".git/config", ".git/config.worktree", *_LIVE)
"""Read-only even where absent. A slash at the end says that it is a folder."""

SET_ASIDE: tuple[str, ...] = (
    *(path for path in PROTECTED_FOLDERS if path not in (".git", ".weft")),
    *(path for path in PROTECTED_FILES if path not in _LIVE),
    ".git/commondir",  # names another folder whose settings git would obey; a placeholder would break git
)
"""Read-only where present, set aside where a command made it. Placeholders for all of them would be in the way."""

_WHERE_PRESENT = (".git/modules", ".git/worktrees")

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)

_placeholders: dict[tuple[int, int, str], int] = {}  # how many running commands need each
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Mount:
    """Something of the workspace, open, that is mounted over itself."""

    fd: int
    path: str
    writable: bool


class Shield:
    """The mounts for one command. `close` takes back what had to be put into the workspace for them."""

    def __init__(self, root: int, protected: Sequence[str] = PROTECTED, set_aside: Sequence[str] = SET_ASIDE) -> None:
        self.mounts: list[Mount] = []
        self._root = os.dup(root)
        found = os.fstat(root)
        self._workspace = (found.st_dev, found.st_ino)
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
        """Files that are there for the shield alone."""
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
                fd = self._place(name, above, is_folder=not last or path.endswith("/"))
                last = True  # a folder that is missing stays so as a whole: there is no repository, and none appears
            kind = os.fstat(fd).st_mode
            self._fds[here] = fd
            self._claim(here, stat.S_ISDIR(kind))
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

    def _place(self, name: str, above: str, *, is_folder: bool) -> int:
        parent = self._fds[above]
        if is_folder:
            os.mkdir(name, 0o755, dir_fd=parent)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644, dir_fd=parent))
        _placeholders[(*self._workspace, join(above, name))] = 0
        return os.open(name, _FLAGS, dir_fd=parent)

    def _claim(self, here: str, is_folder: bool) -> None:
        key = (*self._workspace, here)
        if key in _placeholders:
            _placeholders[key] += 1
            self._made.append((here, is_folder))

    def _follow(self, path: str, target: str) -> None:
        self._links.append((path, target))
        inside = normpath(join(dirname(path), target))
        if not inside.startswith(("/", "..")) and inside != ".":
            self._protect(inside, where_present=True)

    # --- after it -----------------------------------------------------------------------------------------------------

    def close(self) -> list[str]:
        """Call it when nothing of the command runs any more. Returns what had to be put right, in sentences."""
        notes: list[str] = []
        with _lock:
            for path, target in self._links:
                with suppress(OSError):
                    if self._put_back(path, target):
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

    def _put_back(self, path: str, target: str) -> bool:
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
        """Walk to a path without following a link; what is found, left open only to keep it."""
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
