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
import secrets
import stat
import time
import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from weft.core.errors import ConfigurationError
from weft.tools.workspace.base import (
    MAX_ENTRIES,
    Identity,
    Listing,
    PathFault,
    WorkspaceEntry,
    is_not_entered,
    is_temporary,
    is_usable_path,
    normalize_path,
    quote_path,
)
from weft.tools.workspace.resolver import FOLDER, LOOK, READ, Resolver, sync
from weft.tools.workspace.revisions import MAX_FILE_BYTES, RevisionedWorkspace, Step, check_writable

ADVICE_TO_MODEL = " Try again, or tell the user."
"""The end of a fault that the model cannot mend; a person is not told so."""


@contextmanager
def as_path_faults(path: str) -> Generator[None]:
    """Convert an OSError to a PathFault of this path."""
    try:
        yield
    except OSError as error:
        raise to_path_fault(path, error) from None


def to_path_fault(path: str, error: OSError) -> PathFault:
    name = quote_path(path)
    match error.errno:
        case errno.ENOENT:
            return PathFault(f"{name} does not exist; list its folder to see what does.", "not_found")
        case errno.ENOTDIR:
            return PathFault(f"{name} needs a folder where there is a file; check the path.", "not_a_folder")
        case errno.EISDIR:
            return PathFault(f"{name} is a folder; name a file in it.", "is_a_folder")
        case errno.EXDEV:
            return PathFault(
                f"{name} leads out of the workspace through a link; such links are not followed.",
                "path_outside_workspace",
            )
        case errno.ELOOP:
            return PathFault(
                f"{name} is, or goes through, a link that cannot be followed; use the path it stands for.",
                "path_outside_workspace",
            )
        case errno.ENXIO | errno.ENODEV:
            return not_regular(path)
        case errno.ENAMETOOLONG:
            return PathFault(f"{name} is too long for this disk; shorten it.", "invalid_path")
        case errno.EEXIST:
            return PathFault(f"{name} exists already; read it, then edit it or choose another name.", "exists")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return PathFault(f"The system does not permit this on {name}; ask the user to allow it.", "not_permitted")
        case number:
            return PathFault(
                f"{name} could not be used: {os.strerror(number or errno.EIO)}.{ADVICE_TO_MODEL}",
                "io_error",
            )


def not_regular(path: str) -> PathFault:
    return PathFault(
        f"{quote_path(path)} is not a regular file but a pipe, socket or device; it is neither read nor written.",
        "not_a_regular_file",
    )


_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FileReplacement:
    """Applies one group of changes. `real` paths have no links; faults name the path that the caller used."""

    def __init__(self, resolver: Resolver, umask: int) -> None:
        self._resolver = resolver
        self._mode = 0o666 & ~umask
        self._folders: dict[str, int] = {}
        self._made: list[str] = []
        self._litter: list[tuple[int, str]] = []

    def run(self, steps: Sequence[tuple[Step, str]]) -> None:
        files: list[_File] = []
        try:
            for step, real in steps:
                with as_path_faults(step.path):
                    files.append(self._prepare(step, real, backed=len(steps) > 1))
            self._commit(files)
        except BaseException:
            self._clean()
            self._remove_made()
            raise
        else:
            self._clean()
        finally:
            for folder in self._folders.values():
                os.close(folder)

    def _prepare(self, step: Step, real: str, *, backed: bool) -> "_File":
        parent, _, name = real.rpartition("/")
        if parent not in self._folders:
            self._folders[parent] = self._resolver.make_folder(parent, self._made)
        file = _File(step, self._folders[parent], name)
        found = file.found()
        if step.after is not None:
            file.temporary = self._write(file.folder, step.after, found)
        if backed and found is not None:
            file.backup = self._back_up(file, found)
        return file

    def _write(self, folder: int, content: bytes, found: os.stat_result | None) -> str:
        name = f".weft-{secrets.token_hex(8)}.tmp"
        fd = os.open(name, _CREATE, 0o600, dir_fd=folder)
        self._litter.append((folder, name))
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if found is not None and (found.st_uid, found.st_gid) != (os.geteuid(), os.fstat(fd).st_gid):
                with suppress(PermissionError):
                    os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, self._mode if found is None else stat.S_IMODE(found.st_mode) & 0o777)
            os.fsync(fd)
        finally:
            os.close(fd)
        return name

    def _back_up(self, file: "_File", found: os.stat_result) -> str:
        """Create a hard link to the file, or a copy if the file system does not support links. Return its name."""
        name = f".weft-{secrets.token_hex(8)}.tmp"
        try:
            os.link(file.name, name, src_dir_fd=file.folder, dst_dir_fd=file.folder, follow_symlinks=False)
        except OSError:
            return self._write(file.folder, file.step.before or b"", found)
        self._litter.append((file.folder, name))
        return name

    def _commit(self, files: Sequence["_File"]) -> None:
        done: list[_File] = []
        try:
            for file in files:
                with as_path_faults(file.step.path):
                    file.replace()
                    done.append(file)
            for folder in self._folders.values():
                with as_path_faults(files[0].step.path):
                    sync(folder)
        except BaseException:
            for file in reversed(done):
                with suppress(OSError):
                    file.restore()
            raise

    def _clean(self) -> None:
        for folder, name in self._litter:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)

    def _remove_made(self) -> None:
        for path in reversed(self._made):
            parent, _, name = path.rpartition("/")
            with suppress(OSError):
                folder = self._resolver.open_without_links(parent, FOLDER)
                try:
                    os.rmdir(name, dir_fd=folder)
                finally:
                    os.close(folder)


class _File:
    """One file of the group: its name in an open folder."""

    def __init__(self, step: Step, folder: int, name: str) -> None:
        self.step = step
        self.folder = folder
        self.name = name
        self.temporary: str | None = None
        self.backup: str | None = None

    def found(self) -> os.stat_result | None:
        """Return the status of the existing file, or None. Raises a fault unless it is a writable regular file."""
        try:
            found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not stat.S_ISREG(found.st_mode):
            raise not_regular(self.step.path)
        if not found.st_mode & 0o222:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return found

    def replace(self) -> None:
        if self.temporary is None:
            os.unlink(self.name, dir_fd=self.folder)
        elif self.step.before is None:
            self._appear(self.temporary)
        else:
            self._rename(self.temporary)

    def restore(self) -> None:
        if self.backup is not None:
            self._rename(self.backup)
        elif self.step.before is None:
            os.unlink(self.name, dir_fd=self.folder)

    def _appear(self, temporary: str) -> None:
        """Link into place, unless the target was created in the meantime."""
        try:
            os.link(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            self._rename(temporary)

    def _rename(self, name: str) -> None:
        os.rename(name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)


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
                found = os.fstat(fd)
            finally:
                os.close(fd)
        changed = max(found.st_mtime_ns, found.st_ctime_ns)
        if time.time_ns() - changed < _CLOCK_STEP_NS:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def close(self) -> None:
        with self._lock:
            self._finish()
            self._resolver.root = -1

    def _scan(self, path: str, real: str, hidden: bool, sizes: bool) -> Sequence[WorkspaceEntry]:
        """List one folder, sorted by name. `real` is its resolved path, `path` the prefix of the entries."""
        folder = self._resolver.open_without_links(real, FOLDER)
        try:
            with os.scandir(folder) as found:
                entries = [_entry(path, item, sizes) for item in itertools.islice(found, 2 * MAX_ENTRIES)]
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
