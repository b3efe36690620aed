"""A folder on disk as a workspace.

Reading follows links that stay inside. Writing through such a link changes the file it stands for and leaves the link;
a link that leaves the folder is refused either way, even if nothing is there yet. A file with several hard links is
replaced under the name that was used; the other names keep the old content. Files are never opened for writing.
"""

import errno
import itertools
import os
import stat
import weakref
from collections.abc import Sequence

from weft.core.errors import ConfigurationError
from weft.tools.workspace.base import Entry, Listing, PathFault
from weft.tools.workspace.faults import faults, not_regular
from weft.tools.workspace.listing import MAX_ENTRIES, ends_walk, is_temporary
from weft.tools.workspace.paths import normal, shown, usable
from weft.tools.workspace.replacement import Replacement
from weft.tools.workspace.resolver import FOLDER, LOOK, READ, Resolver
from weft.tools.workspace.revised import MAX_FILE_BYTES, RevisedFiles, Step, check_writable

_TRIES = 16


class DiskWorkspace(RevisedFiles):
    """The files below a folder. `openat2=False` resolves paths without the kernel's help, name by name."""

    is_project = False

    def __init__(self, root: str | os.PathLike[str], *, openat2: bool = True) -> None:
        super().__init__()
        self.root = os.path.abspath(root)
        try:
            fd = os.open(self.root, FOLDER)
        except OSError as error:
            raise ConfigurationError(
                f"The workspace {self.root} cannot be opened ({error.strerror}); name a folder that exists."
            ) from None
        self._resolver = Resolver(fd, openat2=openat2)
        self._umask = _umask()
        self._finish = weakref.finalize(self, os.close, fd)

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there. What a link out of the workspace names is not."""
        path = normal(path)
        with self._lock:
            try:
                os.close(self._resolver.follow(path, LOOK))
            except OSError:
                return False
            return True

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True) -> Listing:
        """What is in a folder. Names that no path may hold are left out; `.git` is listed, but not what is in it."""
        path = normal(path)
        with self._lock, faults(path):
            base = self._resolver.settle(path) if path else ""
            waiting = [(entry, 1) for entry in self._scan(path, base, hidden)] if depth != 0 else []
            cut = len(waiting) > MAX_ENTRIES
            waiting.reverse()
            entries: list[Entry] = []
            while waiting and len(entries) < MAX_ENTRIES:
                entry, level = waiting.pop()
                entries.append(entry)
                if entry.kind != "folder" or level == depth or ends_walk(entry.path.rpartition("/")[2]):
                    continue
                try:
                    below = self._scan(entry.path, _join(base, entry.path[len(path) :].lstrip("/")), hidden)
                except OSError:
                    continue
                waiting += [(child, level + 1) for child in reversed(below)]
            return Listing(entries, cut=cut or bool(waiting))

    def close(self) -> None:
        with self._lock:
            self._finish()
            self._resolver.root = -1

    def _scan(self, path: str, real: str, hidden: bool) -> Sequence[Entry]:
        """One folder, sorted by name; `real` is where it is, `path` what it is called."""
        folder = self._resolver.plain(real, FOLDER)
        try:
            with os.scandir(folder) as found:
                entries = [_entry(path, item) for item in itertools.islice(found, 2 * MAX_ENTRIES)]
        finally:
            os.close(folder)
        named = (entry for entry in entries if entry is not None)
        if not hidden:
            named = (entry for entry in named if not entry.path.rpartition("/")[2].startswith("."))
        return sorted(named, key=lambda entry: entry.path)

    def _read(self, path: str, limit: int) -> bytes:
        with faults(path):
            return _content(path, self._resolver.follow(path, READ), limit)

    def _current(self, path: str) -> bytes | None:
        with faults(path):
            for _ in range(_TRIES):
                real = self._real(path)
                try:
                    return _content(path, self._resolver.plain(real, READ), MAX_FILE_BYTES)
                except FileNotFoundError:
                    return None
                except OSError as error:
                    if error.errno != errno.ELOOP:
                        raise
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _commit(self, steps: Sequence[Step]) -> None:
        settled: list[tuple[Step, str]] = []
        for step in steps:
            with faults(step.path):
                settled.append((step, self._real(step.path)))
        if len({real for _, real in settled}) < len(settled):
            raise PathFault(
                "Two paths in one group of changes lead to the same file; give each file one change.", "invalid_path"
            )
        Replacement(self._resolver, self._umask).run(settled)

    def _real(self, path: str) -> str:
        real = self._resolver.settle(path)
        check_writable(path, real)
        return real


def _content(path: str, fd: int, limit: int) -> bytes:
    """Read an open file to its end, and close it."""
    try:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(found.st_mode):
            raise not_regular(path)
        size, chunks, wanted = 0, list[bytes](), found.st_size + 1
        while size <= limit and found.st_size <= limit:
            chunk = os.read(fd, min(wanted, limit - size + 1))
            chunks.append(chunk)
            size += len(chunk)
            if len(chunk) < wanted and size <= limit:
                return b"".join(chunks)
            wanted = 1 << 20
        size = max(size, os.fstat(fd).st_size)
        raise PathFault(f"{shown(path)} has {size} bytes, more than the {limit} that may be read at once.", "too_large")
    finally:
        os.close(fd)


def _entry(folder: str, item: os.DirEntry[str]) -> Entry | None:
    path = _join(folder, item.name)
    if is_temporary(item.name) or not usable(path):
        return None
    if item.is_symlink():
        return Entry(path, "link")
    if item.is_dir(follow_symlinks=False):
        return Entry(path, "folder")
    if not item.is_file(follow_symlinks=False):
        return Entry(path, "other")
    try:
        return Entry(path, "file", item.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:
        return None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _umask() -> int:
    """Read where it can be read. Setting it to learn it would show for a moment in every thread."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"Umask:"):
                    return int(line.split()[1], 8)
    except (OSError, ValueError, IndexError):
        pass
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
