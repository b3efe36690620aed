"""Opens paths beneath one open folder and nothing outside it.

On Linux the kernel enforces this (openat2(2) with RESOLVE_BENEATH), so there is no race between check and use. If that
call is missing or forbidden, the path is opened name by name with O_NOFOLLOW. Both follow links whose target is inside
the folder. Failures raise OSError: EXDEV for a path that leaves the folder.
"""

import ctypes
import errno
import os
import stat
import sys
from collections import deque

CLOEXEC = os.O_CLOEXEC
FOLDER = os.O_RDONLY | os.O_DIRECTORY | CLOEXEC
LOOK: int = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | CLOEXEC
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | CLOEXEC
"""For files. The open does not block, whatever the type of the file."""

_OPENAT2 = 437  # the same number on all architectures
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_MAX_LINKS = 40
_TRIES = 64


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


class Resolver:
    """Opens paths beneath the folder with the descriptor `root`. `openat2=False` disables the system call."""

    def __init__(self, root: int, *, openat2: bool = True) -> None:
        self.root = root
        self._kernel = openat2 and _kernel_resolves(root)

    def open_following_links(self, path: str, flags: int) -> int:
        """Open a path and follow links that stay inside."""
        if self._kernel:
            return _openat2(self.root, path, flags, _BENEATH | _NO_MAGICLINKS)
        for _ in range(_TRIES):
            real = self.resolve_links(path)
            try:
                return self.open_without_links(real, flags)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def open_without_links(self, path: str, flags: int) -> int:
        """Open a path without links. Raises ELOOP if it contains one."""
        if self._kernel:
            return _openat2(self.root, path, flags, _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS)
        folder, names = self.root, path.split("/") if path else ["."]
        try:
            for name in names[:-1]:
                below = _open_name(folder, name, LOOK | os.O_DIRECTORY)
                self._close(folder)
                folder = below
            return _open_name(folder, names[-1], flags)
        finally:
            self._close(folder)

    def resolve_target(self, path: str) -> str:
        """Return the path that a write to this path changes, with links resolved. The last names need not exist."""
        parent, _, name = path.rpartition("/")
        try:
            folder = self.open_without_links(parent, LOOK | os.O_DIRECTORY)
        except FileNotFoundError:
            return path
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            return self.resolve_links(path)
        try:
            return self.resolve_links(path) if _is_link(folder, name) else path
        finally:
            os.close(folder)

    def resolve_links(self, path: str) -> str:
        """Return the path with all links resolved."""
        todo, done, links = deque(path.split("/")), list[str](), 0
        while todo:
            name = todo.popleft()
            if name in ("", "."):
                continue
            if name == "..":
                if not done:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                done.pop()
                continue
            target = self._link("/".join(done), name)
            if target is None:
                done.append(name)
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.startswith("/"):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            todo.extendleft(reversed(target.split("/")))
        return "/".join(done)

    def make_folder(self, path: str, made: list[str]) -> int:
        """Open a folder by a path without links and create missing folders. New ones are appended to `made`."""
        folder, at = os.open(".", FOLDER, dir_fd=self.root), ""
        try:
            for name in path.split("/") if path else ():
                at = f"{at}/{name}" if at else name
                try:
                    below = _open_name(folder, name, FOLDER)
                except FileNotFoundError:
                    os.mkdir(name, dir_fd=folder)
                    made.append(at)
                    sync(folder)
                    below = _open_name(folder, name, FOLDER)
                os.close(folder)
                folder = below
        except BaseException:
            os.close(folder)
            raise
        return folder

    def _link(self, parent: str, name: str) -> str | None:
        try:
            folder = self.open_without_links(parent, LOOK | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return os.readlink(name, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise
        finally:
            os.close(folder)

    def _close(self, folder: int) -> None:
        if folder != self.root:
            os.close(folder)


def sync(folder: int) -> None:
    """Sync a folder to disk. File systems that do not support it are ignored."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def _open_name(folder: int, name: str, flags: int) -> int:
    """Open one name in a folder. Raises ELOOP for a link, where the system may raise ENOTDIR."""
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if _is_link(folder, name):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise
    if stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return fd


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _openat2(root: int, path: str, flags: int, resolve: int) -> int:
    how = _OpenHow(flags, 0, resolve)
    name, number = os.fsencode(path or "."), 0
    for _ in range(_TRIES):
        fd = _syscall(_OPENAT2, root, name, ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):  # EAGAIN: concurrent rename
            break
    raise OSError(number, os.strerror(number))


def _kernel_resolves(root: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.close(_openat2(root, ".", LOOK | os.O_DIRECTORY, _BENEATH))
    except OSError:
        return False
    return True


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
