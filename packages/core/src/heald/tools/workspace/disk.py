"""`DiskWorkspace`: a folder on disk, whose files are replaced in groups.

Reads follow links that stay inside the folder. A write through such a link changes its target and keeps the link. A
link that leads out of the folder is rejected, even if its target does not exist. A file with several hard links is
replaced under the name that was used; the other names keep the old content.

Each new content is first written to a temporary file in the same folder and synced, then renamed into place. If a
rename fails, the files that were already renamed are restored from a second link. Only a crash of the machine between
the renames can leave a group partly applied; each file is complete even then.
"""

import errno
import itertools
import os
import stat
import time
import weakref
from collections.abc import Sequence

from heald.core.errors import ConfigurationError
from heald.tools.workspace.base import MAX_ENTRIES, Identity, Listing, WorkspaceEntry, is_not_entered, is_temporary
from heald.tools.workspace.file_replacement import FileReplacement
from heald.tools.workspace.path_errors import as_path_faults, not_regular
from heald.tools.workspace.paths import PathFault, is_usable_path, normalize_path, quote_path
from heald.tools.workspace.placeholders import remove_abandoned
from heald.tools.workspace.resolver import FOLDER, LOOK, READ, Resolver
from heald.tools.workspace.revisions import MAX_FILE_BYTES, RevisionedWorkspace, Step, check_writable

_TRIES = 16
_CLOCK_STEP_NS = 3_000_000_000
"""Two changes within this time may have the same time stamps: file systems count in steps of up to two seconds."""


class DiskWorkspace(RevisionedWorkspace):
    """The files below a folder. `openat2=False` resolves paths name by name instead of in the kernel."""

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
        remove_abandoned(fd)
        self._umask = _umask()
        self._finish = weakref.finalize(self, os.close, fd)

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists. The target of a link out of the workspace does not."""
        path = normalize_path(path)
        with self._lock:
            try:
                os.close(self._resolver.open_following_links(path, LOOK))
            except OSError:
                return False
            return True

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True, sizes: bool = True) -> Listing:
        """List a folder. Invalid names are left out; `.git` is listed without its entries."""
        path = normalize_path(path)
        with self._lock, as_path_faults(path):
            base = self._resolver.resolve_target(path) if path else ""
            waiting = [(entry, 1) for entry in self._scan(path, base, hidden, sizes)] if depth != 0 else []
            cut = len(waiting) > MAX_ENTRIES
            waiting.reverse()
            entries: list[WorkspaceEntry] = []
            while waiting and len(entries) < MAX_ENTRIES:
                entry, level = waiting.pop()
                entries.append(entry)
                if entry.kind != "folder" or level == depth or is_not_entered(entry.path.rpartition("/")[2]):
                    continue
                try:
                    real = _join(base, entry.path[len(path) :].lstrip("/"))
                    below = self._scan(entry.path, real, hidden, sizes)
                except OSError:
                    continue
                waiting += [(child, level + 1) for child in reversed(below)]
            return Listing(entries, cut=cut or bool(waiting))

    def identity(self, path: str) -> Identity | None:
        """Return the identity of a file or folder; None if it changed so recently that its times may not show more."""
        path = normalize_path(path)
        with self._lock, as_path_faults(path):
            fd = self._resolver.open_following_links(path, LOOK)
            try:
                status = os.fstat(fd)
            finally:
                os.close(fd)
        changed = max(status.st_mtime_ns, status.st_ctime_ns)
        if time.time_ns() - changed < _CLOCK_STEP_NS:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def close(self) -> None:
        with self._lock:
            self._finish()
            self._resolver.root = -1

    def _scan(self, path: str, real: str, hidden: bool, sizes: bool) -> Sequence[WorkspaceEntry]:
        """List one folder, sorted by name. `real` is its resolved path, `path` the prefix of the entries."""
        folder = self._resolver.open_without_links(real, FOLDER)
        try:
            with os.scandir(folder) as items:
                entries = [_entry(path, item, sizes) for item in itertools.islice(items, 2 * MAX_ENTRIES)]
        finally:
            os.close(folder)
        named = (entry for entry in entries if entry is not None)
        if not hidden:
            named = (entry for entry in named if not entry.path.rpartition("/")[2].startswith("."))
        return sorted(named, key=lambda entry: entry.path)

    def _read(self, path: str, limit: int) -> bytes:
        with as_path_faults(path):
            return _content(path, self._resolver.open_following_links(path, READ), limit)

    def _current(self, path: str) -> bytes | None:
        with as_path_faults(path):
            for _ in range(_TRIES):
                real = self._real(path)
                try:
                    return _content(path, self._resolver.open_without_links(real, READ), MAX_FILE_BYTES)
                except FileNotFoundError:
                    return None
                except OSError as error:
                    if error.errno != errno.ELOOP:
                        raise
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _commit(self, steps: Sequence[Step]) -> None:
        resolved: list[tuple[Step, str]] = []
        for step in steps:
            with as_path_faults(step.path):
                resolved.append((step, self._real(step.path)))
        if len({real for _, real in resolved}) < len(resolved):
            raise PathFault(
                "Two paths in one group of changes lead to the same file; give each file one change.", "invalid_path"
            )
        FileReplacement(self._resolver, self._umask).run(resolved)

    def _real(self, path: str) -> str:
        real = self._resolver.resolve_target(path)
        check_writable(path, real)
        return real


def _content(path: str, fd: int, limit: int) -> bytes:
    """Read an open file to its end and close it."""
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise not_regular(path)
        size, chunks, chunk_size = 0, list[bytes](), status.st_size + 1
        while size <= limit and status.st_size <= limit:
            chunk = os.read(fd, min(chunk_size, limit - size + 1))
            chunks.append(chunk)
            size += len(chunk)
            if len(chunk) < chunk_size and size <= limit:
                return b"".join(chunks)
            chunk_size = 1 << 20
        size = max(size, os.fstat(fd).st_size)
        raise PathFault(
            f"{quote_path(path)} has {size} bytes, more than the {limit} that may be read at once.", "too_large"
        )
    finally:
        os.close(fd)


def _entry(folder: str, item: os.DirEntry[str], sizes: bool) -> WorkspaceEntry | None:
    path = _join(folder, item.name)
    if is_temporary(item.name) or not is_usable_path(path):
        return None
    if item.is_symlink():
        return WorkspaceEntry(path, "link")
    if item.is_dir(follow_symlinks=False):
        return WorkspaceEntry(path, "folder")
    if not item.is_file(follow_symlinks=False):
        return WorkspaceEntry(path, "other")
    if not sizes:
        return WorkspaceEntry(path, "file")
    try:
        return WorkspaceEntry(path, "file", item.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:
        return None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _umask() -> int:
    """Return the umask. It is read from /proc if possible, because setting it briefly affects all threads."""
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
