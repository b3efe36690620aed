"""The store of all checkpoints of one repository: a bare repository in Heald's data folder, outside of `.git`.

It borrows the objects that the user's repository has, so that it holds only what is in no commit of the user. Each
checkpoint is a commit with a ref of its own, `refs/heald/SESSION/NUMBER`; the number is the time. The bytes of one
store and of all stores together are bounded: the oldest checkpoints are removed first, and the objects that only they
need. Nothing is written to the user's `.git`.
"""

import argparse
import fcntl
import json
import os
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time, time_ns

import msgspec

from heald.core.json import as_object, loads
from heald.tools.git.private_folder import exclude_setting, read_bounded
from heald.tools.git.program import GIT_SECONDS, GitAccess, GitFailed, run_git
from heald.tools.git.repository import GitRepository, list_alternates

FOLDER = "checkpoints"
REFS = "refs/heald"
KEPT_SECONDS = 30 * 24 * 3600
"""Checkpoints of a session that saved none for so long are deleted."""
MEGABYTE = 1_000_000
_NOTE, _LOCK, _SIZE = "repository.json", "lock", "bytes"
_RAW = "* -text -filter -ident -working-tree-encoding -eol -merge\n"
_REPACK_SECONDS = 300.0
_LOOSE_FILES = 2_000
_LOOSE_BYTES = 32 * MEGABYTE
"""A store with more loose objects is packed, which compresses versions of a file against each other."""
_AIM = 0.8
"""The share of a bound that removing old checkpoints aims at, so that not every save has to."""
_PACKING = ("pack.threads=1", "pack.window=5", "pack.windowMemory=256m", "pack.writeBitmapHashCache=false")


class CheckpointLimits(msgspec.Struct, frozen=True):
    """The bytes that checkpoints may occupy."""

    total: int = 2_000 * MEGABYTE
    """Of all repositories together."""
    repository: int = 500 * MEGABYTE
    """Of one repository."""

    @classmethod
    def of(cls, options: argparse.Namespace) -> "CheckpointLimits":
        """Read the settings of a command."""
        return cls(options.checkpoints_total_mb * MEGABYTE, options.checkpoints_repository_mb * MEGABYTE)


class StoreSize(msgspec.Struct, frozen=True):
    """What the objects of a store occupy."""

    total: int
    loose: int
    loose_files: int


class CheckpointStore:
    """The checkpoints of one repository. Processes and threads may share it."""

    def __init__(self, path: Path, common_dir: str, limits: CheckpointLimits) -> None:
        self.path = path
        self.common_dir = common_dir
        self.limits = limits

    @classmethod
    def open(cls, repository: GitRepository, data: Path, limits: CheckpointLimits) -> "CheckpointStore":
        """Return the store of a repository. It is created with the first checkpoint."""
        name = sha256(os.fsencode(repository.common_dir)).hexdigest()[:32]
        return cls(data.resolve() / FOLDER / name, repository.common_dir, limits)

    def prepare(self, repository: GitRepository) -> None:
        """Create the store, and bring what it copies from the repository up to date."""
        for name in (REFS, "objects/info", "info"):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = repository.format_text + exclude_setting(repository.excludes)
        texts: Mapping[str, bytes] = {
            "HEAD": b"ref: refs/heads/heald\n",
            "config": os.fsencode(settings),
            "info/attributes": _RAW.encode(),
            "info/exclude": read_bounded(os.path.join(self.common_dir, "info", "exclude")),
            "objects/info/alternates": os.fsencode(f"{self.common_dir}/objects\n"),
            _NOTE: json.dumps({"common_dir": self.common_dir}).encode(),
        }
        for name, text in texts.items():
            if read_bounded(str(self.path / name)) != text:
                self._replace(self.path / name, text)

    def run(
        self,
        *words: str,
        folder: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        seconds: float = GIT_SECONDS,
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
        settings: Sequence[str] = (),
    ) -> bytes:
        """Run git on the store, in a folder or in its own. Raises GitFailed."""
        objects = os.path.join(self.common_dir, "objects")
        # Git marks objects that it finds as recently used, and copies those that it cannot mark.
        places = (str(self.path), *((os.path.realpath(objects),) if os.path.isdir(objects) else ()), *writable)
        access = GitAccess((*readable, *list_alternates(objects)), places, tuple(settings))
        variables = {"GIT_DIR": str(self.path), "GIT_LITERAL_PATHSPECS": "1", **(env or {})}
        place = folder or str(self.path)
        return run_git(place, words, access=access, stdin=stdin, env=variables, seconds=seconds)

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Hold the store, so that no object is removed meanwhile."""
        with self._lock(fcntl.LOCK_SH):
            yield

    def add(self, session: str, commit: str) -> None:
        """Add a checkpoint to those of a session, as the newest one."""
        folder = self.path / REFS / session
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        newest = max((int(name) for name in os.listdir(folder) if name.isdecimal()), default=0)
        self._replace(folder / f"{max(time_ns(), newest + 1):020}", f"{commit}\n".encode())

    def list_session(self, session: str) -> list[tuple[str, str]]:
        """Return the commits and labels of a session, the newest first."""
        if not (self.path / REFS / session).is_dir():
            return []
        form = "--format=%(objectname) %(contents:subject)"
        output = self.run("for-each-ref", "--sort=-refname", form, f"{REFS}/{session}/")
        lines = (line.partition(" ") for line in output.decode("utf-8", "replace").splitlines())
        return [(commit, label) for commit, _, label in lines]

    def delete_sessions(self, prefix: str) -> None:
        """Delete the checkpoints of all sessions whose name begins so."""
        for session in self._sessions():
            if session.name.startswith(prefix):
                shutil.rmtree(session, ignore_errors=True)

    def delete_old(self, now: float, besides: str) -> None:
        """Delete the checkpoints of sessions, except one, that saved none for a long time."""
        for session in self._sessions():
            numbers = [int(name) for name in os.listdir(session) if name.isdecimal()]
            if session.name != besides and max(numbers, default=0) < (now - KEPT_SECONDS) * 1e9:
                shutil.rmtree(session, ignore_errors=True)

    def tidy(self) -> None:
        """Pack the objects if many of them are loose. Does nothing while another process uses the store."""
        with suppress(OSError, GitFailed):
            size = self.measure()
            if size.loose > _LOOSE_BYTES or size.loose_files > _LOOSE_FILES:
                with self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB):
                    packed = self._collect()
                self._replace(self.path / _SIZE, str(packed).encode())

    def keep_within_bounds(self) -> None:
        """Remove the oldest checkpoints beyond the bounds: of this repository, then of all. Raises BlockingIOError."""
        size = self.measure().total
        self._replace(self.path / _SIZE, str(size).encode())
        if size > self.limits.repository:
            self._shrink(self.limits.repository)
        sizes = {store: store.recorded_size for store in list_stores(self.path.parent, self.limits)}
        excess = sum(sizes.values()) - self.limits.total
        for store in sorted(sizes, key=lambda store: (store.path == self.path, store.last_saved)):
            if excess > 0:
                with suppress(BlockingIOError):  # another process saves there
                    store._shrink(max(sizes[store] - excess, 0))
                excess -= sizes[store] - store.recorded_size

    def measure(self) -> StoreSize:
        """Measure the objects."""
        total = loose = files = 0
        with suppress(FileNotFoundError), os.scandir(self.path / "objects") as folders:
            for folder in folders:
                is_loose = len(folder.name) == 2
                for entry in _list_files(folder.path):
                    with suppress(FileNotFoundError):
                        size = entry.stat(follow_symlinks=False).st_size
                        total += size
                        loose += size if is_loose else 0
                        files += is_loose
        return StoreSize(total, loose, files)

    @property
    def recorded_size(self) -> int:
        """The bytes at the last save."""
        text = read_bounded(str(self.path / _SIZE))
        return int(text) if text.isdigit() else 0

    @property
    def last_saved(self) -> float:
        """When the newest checkpoint was saved."""
        return max((number for number, _ in self._refs()), default=0) / 1e9

    def _shrink(self, most: int) -> None:
        """Remove checkpoints, the oldest first, so that the objects need no more bytes than that."""
        with self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB):
            try:
                size = self._collect()
                while size > most and (refs := self._refs()):
                    self._drop_oldest(refs, size, most)
                    size = self._collect()
            except GitFailed:
                self._clear()
            self._replace(self.path / _SIZE, str(self.measure().total).encode())

    def _drop_oldest(self, refs: Sequence[tuple[int, Path]], size: int, most: int) -> None:
        """Delete the oldest refs: about the share of the bytes that is too much, and a little more."""
        share = 1 - most * _AIM / size
        for _, ref in refs[: max(int(len(refs) * share), 1)]:
            ref.unlink(missing_ok=True)

    def _clear(self) -> None:
        """Delete everything: the store is damaged beyond what git repairs."""
        for folder in (self.path / "refs", self.path / "objects"):
            shutil.rmtree(folder, ignore_errors=True)
        for name in (REFS, "objects/info"):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._replace(self.path / "objects/info/alternates", os.fsencode(f"{self.common_dir}/objects\n"))

    def _collect(self) -> int:
        """Pack what checkpoints need and delete the rest. Returns the bytes of the objects."""
        for session in self._sessions():
            with suppress(OSError):  # it is not empty
                session.rmdir()
        try:
            self._repack()
        except GitFailed:  # objects that the user's repository had are missing
            self._drop_broken()
            self._repack()
        return self.measure().total

    def _repack(self) -> None:
        settings = (*_PACKING, "core.bigFileThreshold=64m")
        self.run("repack", "-a", "-d", "-l", "-q", seconds=_REPACK_SECONDS, settings=settings)
        self.run("prune", "--expire=now", seconds=_REPACK_SECONDS)

    def _drop_broken(self) -> None:
        """Delete the checkpoints that lack an object."""
        for _, ref in self._refs():
            commit = read_bounded(str(ref)).decode("ascii", "replace").strip()
            try:
                self.run("rev-list", "--objects", "--quiet", commit)
            except GitFailed:
                ref.unlink(missing_ok=True)

    def _sessions(self) -> list[Path]:
        with suppress(FileNotFoundError):
            return [folder for folder in (self.path / REFS).iterdir() if folder.is_dir()]
        return []

    def _refs(self) -> list[tuple[int, Path]]:
        """The refs of all checkpoints with their numbers, the oldest first."""
        return sorted(
            (int(ref.name), ref) for folder in self._sessions() for ref in folder.iterdir() if ref.name.isdecimal()
        )

    @contextmanager
    def _lock(self, kind: int) -> Generator[None]:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.path / _LOCK, "ab") as file:
            fcntl.flock(file, kind)
            yield

    def _replace(self, path: Path, content: bytes) -> None:
        """Write a file at once or not at all."""
        part = path.with_name(f".{path.name}.{os.getpid()}.{time_ns()}")
        part.write_bytes(content)
        part.replace(path)


def list_stores(folder: Path, limits: CheckpointLimits) -> list[CheckpointStore]:
    """Return all stores in the folder of stores."""
    stores: list[CheckpointStore] = []
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            note = read_bounded(str(path / _NOTE))
            with suppress(ValueError):
                if common := str(as_object(loads(note)).get("common_dir", "")) if note else "":
                    stores.append(CheckpointStore(path, common, limits))
    return stores


def remove_dead_stores(data: Path, now: float | None = None) -> None:
    """Remove the stores whose repository is missing, and those of older versions, after a long time without use."""
    with suppress(FileNotFoundError):
        for path in (data.resolve() / FOLDER).iterdir():
            note = read_bounded(str(path / _NOTE))
            common = ""
            with suppress(ValueError):
                common = str(as_object(loads(note)).get("common_dir", "")) if note else ""
            with suppress(OSError):
                newest = max(os.stat(path / name).st_mtime for name in (".", _LOCK) if (path / name).exists())
                if not (common and os.path.isdir(common)) and newest < (now or time()) - KEPT_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)


def _list_files(folder: str) -> Iterator[os.DirEntry[str]]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.is_file(follow_symlinks=False))
