"""Copies of a working tree as git worktrees, one for each agent that tries the same request.

A copy has the present state of the files, uncommitted and untracked ones included, and a detached HEAD. The user's
index, HEAD, branches and stash are not written. The copies are in Heald's data folder, in a folder whose lock their
process holds: another process removes those that a crash left.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from heald.core.ids import new_id
from heald.core.json import as_object, loads
from heald.tools.git.private_folder import read_bounded
from heald.tools.git.program import GitFailed, split_paths
from heald.tools.git.repository import GitRepository
from heald_cli.repository.checkpoint_store import FOLDER as CHECKPOINTS
from heald_cli.repository.checkpoint_store import CheckpointLimits, list_stores
from heald_cli.repository.checkpoints import MAX_BYTES, Checkpoint, Checkpoints
from heald_cli.repository.ignored_files import IgnoredPaths, copy_files, find_ignored, provide_ignored
from heald_cli.repository.worktree_records import add_worktree, remove_worktree

FOLDER = "attempts"
_LOCK, _NOTE, _KEPT = "lock", "repository.json", "kept"
_NEW = "."


class Worktree(msgspec.Struct, frozen=True):
    """One copy of the working tree."""

    number: int
    top: str
    folder: str
    """The folder in it that corresponds to the folder of the workspace."""
    checkpoints: Checkpoints

    def save(self) -> Checkpoint:
        """Save the files as they are now."""
        return self.checkpoints.save(f"attempt {self.number}")


class Worktrees:
    """The copies of one working tree. Remove them with `remove` or keep them with `keep`."""

    def __init__(self, repository: GitRepository, data: Path, limits: CheckpointLimits | None = None) -> None:
        self.repository = replace(repository, folder=repository.top)
        self.name = new_id("att")
        self.ignored = IgnoredPaths()
        self._prefix = repository.prefix
        self._limits = limits
        self._data = data.resolve()
        self._place = self._data / FOLDER / self.name
        new = self._place.with_name(f"{_NEW}{self.name}")  # another process could remove a folder without a lock
        new.mkdir(mode=0o700, parents=True)
        self._lock = open(new / _LOCK, "wb")  # noqa: SIM115
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        (new / _NOTE).write_text(json.dumps({"common_dir": repository.common_dir}), "utf-8")
        new.rename(self._place)
        self.made: list[Worktree] = []
        """The copies so far."""

    @property
    def readable(self) -> tuple[str, ...]:
        """Folders outside of the copies that commands in them may read: dependencies, and git's own folder where
        commands of the user's folder can read it too."""
        top = self.repository.top
        is_main = self.repository.git_dir == self.repository.common_dir and not self._prefix
        linked = (os.path.join(top, path) for path in self.ignored.linked)
        return (*linked, *([self.repository.common_dir] if is_main else []))

    def create(self, base: Checkpoint, count: int) -> None:
        """Make copies with the files of a checkpoint. Raises GitFailed."""
        self.ignored = find_ignored(self.repository, str(self._data))
        large = self._find_large()
        for number in range(1, count + 1):
            top = self._place / str(number) / os.path.basename(self.repository.top)
            worktree = self._add(number, str(top))
            self.made.append(worktree)
            worktree.checkpoints.write_files(base)
            copy_files(large, self.repository.top, str(top))
            provide_ignored(self.ignored, self.repository.top, str(top))
            self._fill_index(worktree)

    def remove(self) -> None:
        """Remove the copies, their state and their checkpoints."""
        _remove_place(self._place, self._data)
        self._lock.close()

    def keep(self) -> None:
        """Keep the copies until the user removes them with `git worktree remove`."""
        (self._place / _KEPT).touch()
        self._lock.close()

    def _add(self, number: int, top: str) -> Worktree:
        """Add a worktree without files. Before the first commit of the repository it is on the same branch."""
        try:
            head = self.repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except GitFailed:
            head = os.fsdecode(read_bounded(os.path.join(self.repository.git_dir, "HEAD"))).strip()
        session = f"{self.name}-{number}"
        inside = add_worktree(self.repository, top, session, head)
        state = self._place / f"index-{number}"
        checkpoints = Checkpoints(inside, session, self._data, limits=self._limits, state=state)
        return Worktree(number, top, os.path.join(top, self._prefix).rstrip("/"), checkpoints)

    def _fill_index(self, worktree: Worktree) -> None:
        """Fill the index of a worktree, so that its status shows what is not committed."""
        inside = worktree.checkpoints.repository
        try:
            inside.run("read-tree", "HEAD", writable=(inside.git_dir,))
        except GitFailed:
            return  # there is no commit yet
        with suppress(GitFailed):  # it fails for each file that differs
            inside.run("update-index", "-q", "--refresh", writable=(inside.git_dir,))

    def _find_large(self) -> list[str]:
        """The files that no checkpoint has, because they are large."""
        listed = self.repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return [path for path in split_paths(listed) if self._size(path) > MAX_BYTES]

    def _size(self, path: str) -> int:
        try:
            return os.lstat(os.path.join(self.repository.top, path)).st_size
        except OSError:
            return 0


def remove_leftovers(data: Path) -> int:
    """Remove the copies that processes left when they were killed. Returns how many sets of them there were."""
    removed = 0
    with suppress(FileNotFoundError):
        for place in list((data.resolve() / FOLDER).iterdir()):
            if (
                place.name.startswith(_NEW)
                or not place.is_dir()
                or ((place / _KEPT).exists() and any(place.glob("*/*/.git")))
            ):
                continue
            with suppress(OSError), open(place / _LOCK, "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_place(place, data.resolve())
                removed += 1
    return removed


def _remove_place(place: Path, data: Path) -> None:
    """Remove the worktrees in a folder: their files, the records of git about them, and their checkpoints."""
    note: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        note = dict(as_object(loads((place / _NOTE).read_bytes())))
    common = str(note.get("common_dir", ""))
    numbered = [folder for folder in place.iterdir() if folder.name.isdecimal()]
    tops = [top for folder in numbered for top in folder.iterdir()]
    for folder in numbered:
        shutil.rmtree(folder, onerror=_make_writable)
    for top in tops:
        remove_worktree(common, str(top))
    for store in list_stores(data / CHECKPOINTS, CheckpointLimits()):
        if store.common_dir == common:
            store.delete_sessions(f"{place.name}-")
    shutil.rmtree(place, ignore_errors=True)


def _make_writable(function: Callable[..., object], path: str, _error: object) -> None:
    """Remove a file from a folder that a command made read-only."""
    with suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            function(path)
