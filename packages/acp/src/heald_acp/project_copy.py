"""A copy of a project in a private temporary folder, for an agent that works on files on disk.

The project is in memory, and the agent has tools of its own. It changes the copy; `publish` takes a change into the
project. What a project cannot hold stays in the folder, with a sentence that says why: a link, a file that is not
regular, too large or protected, and folders of installed packages. The folder is deleted with the conversation.
"""

import os
import shutil
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Collection, Sequence
from contextlib import suppress

import msgspec

from heald.core.digest import sha256
from heald.tools.skipped_folders import SKIPPED
from heald.tools.workspace.base import Change, OnChange, Workspace, is_temporary
from heald.tools.workspace.contents import encode_content
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault, is_asked, is_protected, is_usable_path, quote_path
from heald.tools.workspace.revisions import check_writable
from heald_acp.acp_call import AcpCall
from heald_acp.hosted_kinds import relative_path

MAX_FILES = 2_000
MAX_FILE = 16_000_000
MAX_TOTAL = 64_000_000
_MAX_VISITED = 20_000
_CLOCK_STEP_NS = 100_000_000
"""Two changes within this time may have the same time stamp."""
_EDITS = ("edit", "delete", "move")
_MAY_WRITE = (*_EDITS, "execute", "other")

Stamp = tuple[int, ...]
"""Numbers of a file that change with its content: inode, size, times."""


class _CopiedFile(msgspec.Struct, frozen=True):
    """A file as the project and the folder last had it in common."""

    digest: str
    size: int
    stamp: Stamp | None
    """None if a further change could have the same stamp."""


class _Scan(msgspec.Struct):
    """What is in the folder now."""

    stamps: dict[str, Stamp] = {}
    refusals: dict[str, str] = {}
    """By path: why the project cannot hold it."""
    is_cut: bool = False


class ProjectCopy:
    """The folder of an agent that works on a project in memory. Its methods block, and may be called in any thread."""

    def __init__(self, project: Workspace) -> None:
        self._project = project
        private = tempfile.mkdtemp(prefix="heald-agent-")
        self._remove = weakref.finalize(self, shutil.rmtree, private, ignore_errors=True)
        self.root = os.path.join(os.path.realpath(private), "project")
        os.mkdir(self.root, 0o700)
        self.files: Workspace = DiskWorkspace(self.root)
        self._lock = threading.Lock()
        self._copied: dict[str, _CopiedFile] = {}
        self._total = 0
        self._last_stamps: dict[str, Stamp] = {}
        self._declined: dict[str, Stamp | None] = {}
        self._reported: set[str] = set()
        self._unreported: dict[str, str] = {}

    def refresh(self) -> None:
        """Copy the files of the project that differ from the folder's, and delete those that it has no longer."""
        with self._lock:
            present: set[str] = set()
            for entry in self._project.list(depth=None, sizes=False):
                if entry.kind != "file" or _is_left_out(entry.path) or is_protected(entry.path):
                    continue
                present.add(entry.path)
                content = self._project.read(entry.path, remember=False)
                copied = self._copied.get(entry.path)
                if copied is not None and copied.digest == sha256(content).hexdigest():
                    continue
                with suppress(PathFault):
                    self._write_file(entry.path, content)
                    self._remember(entry.path, content, self._stamp(entry.path))
            for path in self._copied.keys() - present:
                with suppress(PathFault):
                    self.files.read(path)
                    self.files.delete(path, on_change=_ignore_change)
                self._forget(path)

    def write(self, path: str, content: str, on_change: OnChange) -> None:
        """Write a file for the agent, into the folder and the project."""
        data = encode_content(path, content)
        with self._lock:
            refusal = self._refusal(path, len(data))
            if refusal is not None:
                raise PathFault(refusal, "not_permitted")
            self._write_file(path, data)
            self._publish(path, on_change)

    def watch(self, call: AcpCall) -> None:
        """Nothing is to be remembered: the project has what was before."""

    def claims(self, call: AcpCall, path: str) -> bool:
        """Whether a permitted call covers a change of a file."""
        if call.unasked or call.report.kind not in _MAY_WRITE:
            return False
        if call.report.kind not in _EDITS or not call.report.paths:
            return True
        named = [relative_path(self.root, name) for name in call.report.paths]
        return any(name == path or path.startswith(f"{name}/") for name in named if name is not None)

    def changed_paths(self, *, settled: bool) -> list[str]:
        """Return the files that differ from the project. `settled`: only those that no longer change: they are as they
        were at the last call of this kind."""
        with self._lock:
            scan = self._scan()
            before, self._last_stamps = self._last_stamps, scan.stamps if settled else self._last_stamps
            changed: list[str] = []
            for path in [*self._deleted(scan), *scan.stamps]:
                stamp = scan.stamps.get(path)
                is_moving = settled and before.get(path) != stamp
                is_declined = path in self._declined and self._declined[path] == stamp
                if not is_moving and not is_declined and (stamp is None or self._differs(path, stamp)):
                    changed.append(path)
            return changed

    def publish(self, paths: Sequence[str], on_change: OnChange) -> None:
        """Take these files into the project as they are now, deletions first."""
        with self._lock:
            for path in sorted(paths, key=lambda path: self._stamp(path) is not None):
                self._publish(path, on_change)

    def decline(self, paths: Collection[str]) -> None:
        """Leave these changes out of the project, unless the files change again."""
        with self._lock:
            self._declined |= {path: self._stamp(path) for path in paths}

    def new_refusals(self) -> list[str]:
        """Return why files are not in the project: the sentences that were not returned before."""
        with self._lock:
            for path, refusal in self._scan().refusals.items():
                self._refuse(path, refusal)
            refusals, self._unreported = list(self._unreported.values()), {}
            return refusals

    def close(self) -> None:
        self.files.close()
        self._remove()

    # --- files -------------------------------------------------------------------------------------------------------

    def _publish(self, path: str, on_change: OnChange) -> None:
        stamp = self._stamp(path)
        try:
            if stamp is None:
                self._delete_from_project(path, on_change)
                return
            content = self.files.read(path, limit=MAX_FILE, remember=False)
            refusal = self._refusal(path, len(content))
            if refusal is not None:
                self._refuse(path, refusal)
                return
            with suppress(PathFault):
                self._project.read(path)  # the agent itself knows what it has read
            self._project.write(path, content, on_change=on_change)
            self._remember(path, content, stamp)
        except PathFault as fault:
            self._refuse(path, str(fault))
            self._declined[path] = stamp

    def _delete_from_project(self, path: str, on_change: OnChange) -> None:
        if path not in self._copied or os.path.lexists(os.path.join(self.root, path)):
            return  # something that the project cannot hold is in its place
        self._forget(path)
        if self._project.exists(path):
            self._project.read(path)  # the agent itself knows what it has deleted
            self._project.delete(path, on_change=on_change)

    def _write_file(self, path: str, content: bytes) -> None:
        with suppress(PathFault):
            self.files.read(path)
        self.files.write(path, content, on_change=_ignore_change)

    def _remember(self, path: str, content: bytes, stamp: Stamp | None) -> None:
        self._forget(path)
        is_recent = stamp is not None and time.time_ns() - max(stamp[2:]) < _CLOCK_STEP_NS
        self._copied[path] = _CopiedFile(
            digest=sha256(content).hexdigest(), size=len(content), stamp=None if is_recent else stamp
        )
        self._total += len(content)

    def _forget(self, path: str) -> None:
        self._declined.pop(path, None)
        if (copied := self._copied.pop(path, None)) is not None:
            self._total -= copied.size

    def _differs(self, path: str, stamp: Stamp) -> bool:
        """Whether a file has another content than the project."""
        copied = self._copied.get(path)
        if copied is None:
            return True
        if copied.stamp == stamp:
            return False
        try:
            content = self.files.read(path, limit=MAX_FILE, remember=False)
        except PathFault:
            return False  # it is gone, and found at the next look
        if sha256(content).hexdigest() != copied.digest:
            return True
        self._remember(path, content, stamp)
        return False

    def _deleted(self, scan: _Scan) -> list[str]:
        """The files that the agent has deleted. One that is replaced by what the project cannot hold stays in it."""
        if scan.is_cut:
            return []
        return [path for path in self._copied if path not in scan.stamps and path not in scan.refusals]

    # --- what a project can hold -------------------------------------------------------------------------------------

    def _refusal(self, path: str, size: int) -> str | None:
        """Return why the project cannot hold a file of this size; None if it can."""
        try:
            check_writable(path, path)
        except PathFault as fault:
            return str(fault)
        if _is_left_out(path):
            return f"{quote_path(path)} is among installed or generated files, which are not taken into the project."
        if is_asked(path):
            return f"{quote_path(path)} is obeyed by other programs, so it is not taken into the project."
        if size > MAX_FILE:
            return f"{quote_path(path)} has {size:,} bytes; a file of a project has at most {MAX_FILE:,}."
        copied = self._copied.get(path)
        if copied is None and len(self._copied) >= MAX_FILES:
            return (
                f"{quote_path(path)} is not taken into the project, which has {MAX_FILES:,} files, the most possible."
            )
        if self._total - (copied.size if copied is not None else 0) + size > MAX_TOTAL:
            return f"{quote_path(path)} is not taken into the project, which would exceed {MAX_TOTAL:,} bytes with it."
        return None

    def _refuse(self, path: str, reason: str) -> None:
        if path not in self._reported:
            self._reported.add(path)
            self._unreported[path] = reason

    def _scan(self) -> _Scan:
        scan = _Scan(stamps={}, refusals={})
        visited = 0
        for folder, subfolders, names, fd in os.fwalk(self.root):
            above = os.path.relpath(folder, self.root)
            for name in [*subfolders, *names]:
                visited += 1
                path = name if above == "." else f"{above}/{name}"
                if not self._scan_entry(scan, path, name, fd) and name in subfolders:
                    subfolders.remove(name)
            if visited > _MAX_VISITED:
                scan.is_cut = True
                scan.refusals["."] = f"The folder has more than {_MAX_VISITED:,} files; only a part is in the project."
                break
        return scan

    def _scan_entry(self, scan: _Scan, path: str, name: str, fd: int) -> bool:
        """Add an entry of a folder to the scan. Returns whether it is a folder whose entries count."""
        try:
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            return False
        if not is_usable_path(path):
            scan.refusals[path] = f"{quote_path(path)} has a name that a file of a project cannot have."
        elif stat.S_ISLNK(status.st_mode):
            scan.refusals[path] = f"{quote_path(path)} is a symbolic link, which a project cannot hold; write a file."
        elif stat.S_ISDIR(status.st_mode):
            if name in SKIPPED:
                scan.refusals[path] = self._refusal(path, 0) or ""
            return name not in SKIPPED
        elif not stat.S_ISREG(status.st_mode):
            scan.refusals[path] = f"{quote_path(path)} is not a regular file, so a project cannot hold it."
        elif is_temporary(name) or (not status.st_size and is_protected(path)):
            return False  # of an unfinished write, or of a sandbox that hides a protected file
        elif path in self._copied and status.st_size <= MAX_FILE:
            scan.stamps[path] = _stamp(status)
        elif (refusal := self._refusal(path, status.st_size)) is not None:
            scan.refusals[path] = refusal
        else:
            scan.stamps[path] = _stamp(status)
        return False

    def _stamp(self, path: str) -> Stamp | None:
        """The stamp of a regular file; None if there is none. No link is followed."""
        try:
            status = os.stat(os.path.join(self.root, path), follow_symlinks=False)
        except OSError:
            return None
        return _stamp(status) if stat.S_ISREG(status.st_mode) else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_left_out(path: str) -> bool:
    return not SKIPPED.isdisjoint(path.split("/"))


def _ignore_change(_: Change) -> None:
    """Changes of the folder are not those of the project."""
