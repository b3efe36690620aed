"""Copies of a working tree as git worktrees, one for each agent that tries the same request.

A copy has the present state of the files, uncommitted and untracked ones included, and a detached HEAD. The user's
index, HEAD, branches and stash are not written. The copies are in Weft's data folder, in a folder whose lock their
process holds: another process removes those that a crash left.

A copy gets the ignored files that it needs: dependencies as links, those in `.worktreeinclude` as copies. A folder of
dependencies becomes a folder with a link to each of its entries: that costs nothing, sandboxed commands may only read
behind the links, and git ignores the folder by the same rule. Other ignored files, such as results of a build, are
missing: they would be those of another state.

The result of an attempt is applied to the user's working tree, and undone: the states before and after are checkpoints
on a ref of the working tree, `refs/weft/applied-HASH`.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from weft.core.errors import WeftError
from weft.core.ids import new_id
from weft.core.json import as_object, loads
from weft.tools.repository.checkpoints import MAX_BYTES, REFS, Checkpoint, Checkpoints
from weft.tools.repository.git import GitFailed, GitRepository, run_git, split_paths

INCLUDE_FILE = ".worktreeinclude"
"""Names ignored files to copy, in the form of a `.gitignore`."""
DEPENDENCIES = ("node_modules", ".venv", "venv", "vendor")
_REGENERATED = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", ".hypothesis", ".coverage")
_MAX_COPIED_BYTES = 500_000_000


class IgnoredPaths(msgspec.Struct, frozen=True):
    """The ignored files of a working tree, as paths below its top."""

    linked: tuple[str, ...] = ()
    """Folders of dependencies."""
    copied: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Files and folders (with a slash at the end) that a worktree does not get, without caches."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The folders below dependencies that may hold programs."""
        inner = ("bin", ".bin")
        return tuple(f"{path}/{name}" for path in self.linked for name in inner)


def find_ignored(repository: GitRepository, data: str) -> IgnoredPaths:
    """Find the ignored files of a working tree. `data`, Weft's own folder, is none of them. Raises GitFailed."""
    words = ("ls-files", "-z", "--others", "--ignored")
    found = split_paths(repository.run(*words, "--exclude-standard", "--directory"))
    own = os.path.relpath(data, repository.top)
    found = [path for path in found if not _is_below(path, own)]
    linked = tuple(path.rstrip("/") for path in found if path.endswith("/") and _name(path) in DEPENDENCIES)
    copied: list[str] = []
    if os.path.isfile(os.path.join(repository.top, INCLUDE_FILE)):
        with suppress(GitFailed):
            named = split_paths(repository.run(*words, f"--exclude-from={INCLUDE_FILE}"))
            copied = [path for path in named if not any(_is_below(path, each) for each in (*linked, own))]
    missing = [path for path in found if not _is_part(path, (*linked, *copied)) and _name(path) not in _REGENERATED]
    outermost = [path for path in missing if not any(other != path and other.startswith(path) for other in found)]
    return IgnoredPaths(linked, tuple(copied), tuple(outermost))


def provide_ignored(ignored: IgnoredPaths, source: str, target: str) -> None:
    """Link and copy the ignored files of the working tree at `source` into the one at `target`."""
    for path in ignored.linked:
        place = os.path.join(target, path)
        os.makedirs(place, exist_ok=True)
        for name in os.listdir(os.path.join(source, path)):
            with suppress(FileExistsError):
                os.symlink(os.path.join(source, path, name), os.path.join(place, name))
    copy_files(ignored.copied, source, target)


def copy_files(paths: Sequence[str], source: str, target: str) -> None:
    """Copy files that the target lacks. Those beyond 500 MB in all, and those that vanish, are not copied."""
    room = _MAX_COPIED_BYTES
    for path in paths:
        place = os.path.join(target, path)
        with suppress(OSError):
            room -= os.lstat(os.path.join(source, path)).st_size
            if room < 0 or os.path.lexists(place):
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy2(os.path.join(source, path), place, follow_symlinks=False)


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_below(path: str, folder: str) -> bool:
    return path.rstrip("/") == folder or path.startswith(f"{folder}/")


def _is_part(path: str, provided: Sequence[str]) -> bool:
    """Whether a path is provided itself, or is a folder with a part that is."""
    return any(each == path.rstrip("/") or (path.endswith("/") and each.startswith(path)) for each in provided)


# --- worktrees -------------------------------------------------------------------------------------------------------


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

    def __init__(self, repository: GitRepository, data: Path) -> None:
        self.repository = replace(repository, folder=repository.top)
        self.name = new_id("att")
        self.ignored = IgnoredPaths()
        self._prefix = repository.prefix
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
            self._add(str(top), base)
            worktree = self._open(number, str(top))
            self.made.append(worktree)
            worktree.checkpoints.write_files(base)
            copy_files(large, self.repository.top, str(top))
            provide_ignored(self.ignored, self.repository.top, str(top))
            self._fill_index(worktree)

    def remove(self) -> None:
        """Remove the copies, their state and their checkpoints."""
        _remove_place(self._place)
        self._lock.close()

    def keep(self) -> None:
        """Keep the copies until the user removes them with `git worktree remove`."""
        (self._place / _KEPT).touch()
        self._lock.close()

    def _add(self, top: str, base: Checkpoint) -> None:
        """Add a worktree without files. Before the first commit of the repository its HEAD is the checkpoint."""
        words = ("worktree", "add", "--detach", "--no-checkout", top)
        try:
            head = self.repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except GitFailed:
            head = base.commit
        self.repository.run(*words, head)

    def _open(self, number: int, top: str) -> Worktree:
        found = run_git(top, ("rev-parse", "--absolute-git-dir")).decode("utf-8", "surrogateescape").strip()
        inside = GitRepository(top, top, found, self.repository.common_dir)
        session = f"{self.name}-{number}"
        checkpoints = Checkpoints(inside, session, self._place)
        return Worktree(number, top, os.path.join(top, self._prefix).rstrip("/"), checkpoints)

    def _fill_index(self, worktree: Worktree) -> None:
        """Fill the index of a worktree, so that its status shows what is not committed."""
        inside = worktree.checkpoints.repository
        inside.run("read-tree", "HEAD")
        with suppress(GitFailed):  # it fails for each file that differs
            inside.run("update-index", "-q", "--refresh")

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
                _remove_place(place)
                removed += 1
    return removed


def _remove_place(place: Path) -> None:
    """Remove the worktrees in a folder: their files, what git knows of them, and their refs."""
    note: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        note = dict(as_object(loads((place / _NOTE).read_bytes())))
    common = str(note.get("common_dir", ""))
    numbered = [each for each in place.iterdir() if each.name.isdecimal()]
    tops = [top for each in numbered for top in each.iterdir()]
    for each in numbered:
        shutil.rmtree(each, onerror=_make_writable)
    if os.path.isdir(common):
        env = {"GIT_DIR": common}
        for top in tops:
            with suppress(GitFailed):
                run_git(common, ("worktree", "remove", "--force", "--force", str(top)), env=env)
        with suppress(GitFailed):
            listed = run_git(common, ("for-each-ref", "--format=%(refname)", f"{REFS}{place.name}-*"), env=env)
            for ref in listed.decode().split():
                run_git(common, ("update-ref", "-d", ref), env=env)
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


# --- the results of attempts ------------------------------------------------------------------------------------------


_BEFORE, _AFTER, _UNDONE = "before ", "after ", "undone "
_BASE = "base"


class ChangedMeanwhile(WeftError):
    """Files that an attempt changed were changed in the working tree too, so that nothing was applied."""


class AppliedAttempts:
    """The results of attempts that were applied to one working tree."""

    def __init__(self, repository: GitRepository, data: Path) -> None:
        whole = replace(repository, folder=repository.top)
        name = sha256(os.fsencode(whole.top)).hexdigest()[:16]
        self.checkpoints = Checkpoints(whole, f"applied-{name}", data)

    def save_base(self) -> Checkpoint:
        """Save the state that the attempts begin with."""
        return self.checkpoints.save(_BASE)

    def apply(self, base: Checkpoint, result: Checkpoint, title: str) -> Sequence[str]:
        """Bring the files that an attempt changed to its result. Returns their paths below the top.

        Raises ChangedMeanwhile, before anything is written, if one of them is no longer as the attempt found it.
        """
        title = " ".join(title.split())[:80]
        before = self.checkpoints.save(f"{_BEFORE}{title}")
        paths = self.checkpoints.changed(base, result)
        clashes = sorted(paths & self.checkpoints.changed(base, before))
        if clashes:
            more = f" and {len(clashes) - 1} more files were" if len(clashes) > 1 else " was"
            raise ChangedMeanwhile(f"{clashes[0]}{more} changed while the attempts ran; nothing is applied.")
        self.checkpoints.restore(result, sorted(paths))
        self.checkpoints.save(f"{_AFTER}{title}")
        return sorted(paths)

    def undo(self) -> list[str]:
        """Undo what was applied last. Returns sentences to print; none if nothing is left to undo. Raises GitFailed."""
        found = self._find_last()
        if found is None:
            return []
        before, after = found
        lines = list(self.checkpoints.move(after, before).values())
        title = after.label.removeprefix(_AFTER)
        self.checkpoints.save(f"{_UNDONE}{title}")
        return [f"Undone: {title}", *lines]

    def _find_last(self) -> tuple[Checkpoint, Checkpoint] | None:
        """The states around what was applied last and not undone."""
        undone = 0
        after: Checkpoint | None = None
        for checkpoint in self.checkpoints.list():
            if after is not None and checkpoint.label.startswith(_BEFORE):
                return checkpoint, after
            if after is None and checkpoint.label.startswith(_UNDONE):
                undone += 1
            elif after is None and checkpoint.label.startswith(_AFTER):
                undone -= 1
                after = checkpoint if undone < 0 else None
        return None
