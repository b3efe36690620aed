"""Replaces files on disk in groups."""

import errno
import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress

from heald.tools.workspace.path_errors import as_path_faults, not_regular
from heald.tools.workspace.resolver import FOLDER, Resolver, sync
from heald.tools.workspace.revisions import Step

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
        status = file.status()
        if step.after is not None:
            file.temporary = self._write(file.folder, step.after, status)
        if backed and status is not None:
            file.backup = self._back_up(file, status)
        return file

    def _write(self, folder: int, content: bytes, status: os.stat_result | None) -> str:
        name = f".heald-{secrets.token_hex(8)}.tmp"
        fd = os.open(name, _CREATE, 0o600, dir_fd=folder)
        self._litter.append((folder, name))
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if status is not None and (status.st_uid, status.st_gid) != (os.geteuid(), os.fstat(fd).st_gid):
                with suppress(PermissionError):
                    os.fchown(fd, status.st_uid, status.st_gid)
            os.fchmod(fd, self._mode if status is None else stat.S_IMODE(status.st_mode) & 0o777)
            os.fsync(fd)
        finally:
            os.close(fd)
        return name

    def _back_up(self, file: "_File", status: os.stat_result) -> str:
        """Create a hard link to the file, or a copy if the file system does not support links. Return its name."""
        name = f".heald-{secrets.token_hex(8)}.tmp"
        try:
            os.link(file.name, name, src_dir_fd=file.folder, dst_dir_fd=file.folder, follow_symlinks=False)
        except OSError:
            return self._write(file.folder, file.step.before or b"", status)
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

    def status(self) -> os.stat_result | None:
        """Return the status of the existing file, or None. Raises a fault unless it is a writable regular file."""
        try:
            status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not stat.S_ISREG(status.st_mode):
            raise not_regular(self.step.path)
        if not status.st_mode & 0o222:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return status

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
