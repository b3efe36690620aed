"""Empty files and folders at protected names of a workspace, which commands mount read-only while they run.

A sandbox can only mount over a name that exists. Removing the name on the disk ends every mount over it, also those in
other processes, so a placeholder stays until nobody relies on it. Each command holds a shared lock (flock) on its
placeholders. The kernel releases it however the process ends. Who gets the exclusive lock removes the placeholder.

A placeholder has the sticky bit from the moment it is created, so that any process recognizes one that a killed process
left. File systems without modes have no such mark: a placeholder there is removed by the command that created it.
"""

import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from posixpath import basename, dirname

from heald.core.placeholder_mark import PLACEHOLDER_MARK, has_placeholder_mark
from heald.tools.workspace.paths import PROTECTED_FILES

_VSCODE = tuple(path for path in PROTECTED_FILES if path.startswith(".vscode/"))
LIVE_PATHS: tuple[str, ...] = (".heald/", "heald.toml", ".mcp.json", ".envrc", *_VSCODE)
"""Files that Heald, an editor or an open shell reads as soon as they appear. A trailing slash marks a folder."""
GIT_PATHS: tuple[str, ...] = (".git/hooks/", ".git/config", ".git/config.worktree")

_LOOK = os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_TRIES = 200
"""Attempts, a millisecond apart, to lock a placeholder that another process is removing."""


class Placeholder:
    """An empty file or folder that a command relies on. No command removes it before `release`."""

    def __init__(self, path: str, lock: int, *, is_removable: bool) -> None:
        self.path = path
        self.is_removable = is_removable
        """Whether a command created it. An empty file of the user is locked too, and stays."""
        self.is_folder = stat.S_ISDIR(os.fstat(lock).st_mode)
        self._lock = lock

    def release(self, parent: int) -> None:
        """Stop relying on it, and remove it from the folder `parent` if nobody else relies on it."""
        try:
            if self.is_removable:
                _remove(self._lock, basename(self.path), parent)
        finally:
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)  # a child that is about to start may still share it
            os.close(self._lock)


def hold_placeholder(path: str, parent: int, *, create: str = "") -> tuple[int, Placeholder | None] | None:
    """Open the name at the end of `path` in the folder `parent` without following links, and lock it if it is empty.

    `create` is "file" or "folder" if a missing one is to be created; otherwise None is returned for it.
    """
    name = basename(path)
    created = False
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(0.001)
        try:
            fd = os.open(name, _LOOK, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                return None
            with suppress(FileExistsError):
                _create(name, parent, is_folder=create == "folder")
                created = True
            continue
        if not _is_empty(fd):
            return fd, None
        try:
            lock = _lock(fd)
        except PermissionError:
            return fd, None  # an empty file of another user
        if lock is not None and _is_still(name, parent, fd):
            return fd, Placeholder(path, lock, is_removable=created or (bool(create) and _is_marked(fd)))
        if lock is not None:
            os.close(lock)
        os.close(fd)
    raise OSError(0, f"{name} is locked by another program")


def remove_abandoned(root: int, paths: Sequence[str] = (*LIVE_PATHS, *GIT_PATHS)) -> list[str]:
    """Remove the placeholders that killed processes left in a workspace. Return their paths."""
    removed: list[str] = []
    for path, parent in _marked(root, paths):
        with suppress(OSError):
            lock = os.open(basename(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
            try:
                if _is_marked(lock) and _remove(lock, basename(path), parent):
                    removed.append(path)
            finally:
                os.close(lock)
    return removed


def list_placeholders(folder: str, paths: Sequence[str] = (*LIVE_PATHS, *GIT_PATHS)) -> frozenset[str]:
    """Return the placeholders in a workspace, those of other processes too. They are not the user's."""
    try:
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return frozenset()
    try:
        return frozenset(path for path, _ in _marked(root, paths))
    finally:
        os.close(root)


def _marked(root: int, paths: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each placeholder with its open parent folder. No path has more than two names."""
    for above in dict.fromkeys(["", *(dirname(path.strip("/")) for path in paths)]):
        try:
            parent = os.open(above or ".", _LOOK | os.O_DIRECTORY, dir_fd=root)
        except OSError:
            continue
        try:
            for name in dict.fromkeys(name for path in paths if (name := _child(path.strip("/"), above))):
                with suppress(OSError):
                    if has_placeholder_mark(os.stat(name, dir_fd=parent, follow_symlinks=False)):
                        yield f"{above}/{name}" if above else name, parent
        finally:
            os.close(parent)


def _child(path: str, above: str) -> str:
    """Return the name that leads from a folder towards a path, or nothing if the path is not below it."""
    if above and not path.startswith(f"{above}/"):
        return ""
    return path[len(above) :].lstrip("/").partition("/")[0]


def _create(name: str, parent: int, *, is_folder: bool) -> None:
    if is_folder:
        os.mkdir(name, 0o755 | PLACEHOLDER_MARK, dir_fd=parent)
        return
    os.close(
        os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644 | PLACEHOLDER_MARK, dir_fd=parent)
    )


def _is_marked(fd: int) -> bool:
    return has_placeholder_mark(os.fstat(fd))


def _is_empty(fd: int) -> bool:
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode):
        return status.st_size == 0
    return stat.S_ISDIR(status.st_mode) and not os.listdir(_reopened(fd))


def _reopened(fd: int) -> str:
    """Return a path that opens what a descriptor of O_PATH refers to."""
    return f"/proc/self/fd/{fd}"


def _lock(fd: int) -> int | None:
    """Return a descriptor with a shared lock, or None if another process is removing the file."""
    flags = os.O_NONBLOCK | os.O_CLOEXEC
    try:
        lock = os.open(_reopened(fd), os.O_RDWR | flags)  # NFS grants exclusive locks to writers only
    except OSError:
        lock = os.open(_reopened(fd), os.O_RDONLY | flags)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except BaseException:
        os.close(lock)
        raise
    return lock


def _is_still(name: str, parent: int, fd: int) -> bool:
    """Return whether a name still refers to what was opened."""
    try:
        now = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    opened = os.fstat(fd)
    return (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino)


def _remove(lock: int, name: str, parent: int) -> bool:
    """Remove a placeholder that nobody else has locked. One that the user has filled loses its mark and stays."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # the last of the others removes it
    if not _is_still(name, parent, lock):
        return False
    mode = os.fstat(lock).st_mode
    try:
        if stat.S_ISDIR(mode):
            os.rmdir(name, dir_fd=parent)
            return True
        if os.fstat(lock).st_size == 0:
            os.unlink(name, dir_fd=parent)
            return True
    except OSError:
        pass  # the folder is not empty any more
    with suppress(OSError):
        os.fchmod(lock, stat.S_IMODE(mode) & ~PLACEHOLDER_MARK)
    return False
