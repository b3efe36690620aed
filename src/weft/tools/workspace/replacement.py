"""Files on a disk replaced as a group: each one whole and at once, and all of them or none.

Every new content is first written beside its file, under a random name that did not exist, and synced; then each is
renamed into place. If that fails half-way, what was renamed already is put back from a second name given to it before.
Only a crash of the machine in the middle of the renames can leave some of a group done, each of them whole.
"""

import errno
import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress

from weft.tools.workspace.faults import faults, not_regular
from weft.tools.workspace.resolver import FOLDER, Resolver, sync
from weft.tools.workspace.revised import Step

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Replacement:
    """One group of changes. `real` paths have no link in them; faults name the path that the caller used."""

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
                with faults(step.path):
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
        """A second name for the file as it is, or a copy where the disk knows no second names."""
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
                with faults(file.step.path):
                    file.replace()
                    done.append(file)
            for folder in self._folders.values():
                with faults(files[0].step.path):
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
                folder = self._resolver.plain(parent, FOLDER)
                try:
                    os.rmdir(name, dir_fd=folder)
                finally:
                    os.close(folder)


class _File:
    """One file of the group, by its name in an open folder."""

    def __init__(self, step: Step, folder: int, name: str) -> None:
        self.step = step
        self.folder = folder
        self.name = name
        self.temporary: str | None = None
        self.backup: str | None = None

    def found(self) -> os.stat_result | None:
        """What is there now. Only a regular file that its owner may write is ours to replace."""
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
        """Into place, unless somebody made such a file meanwhile."""
        try:
            os.link(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            self._rename(temporary)

    def _rename(self, name: str) -> None:
        os.rename(name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
