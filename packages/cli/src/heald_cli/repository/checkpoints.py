"""Checkpoints of a working folder, for undo.

A checkpoint holds each file that git tracks or would add, byte for byte: attributes of the project (line ends, filters,
encodings) do not apply. It is in Heald's data folder, out of reach of sandboxed commands; nothing is written to the
user's `.git`. Ignored files, files above `MAX_BYTES` and nested repositories are not in it. A file that did not change
is neither read nor stored again.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time

import msgspec

from heald.tools.git.private_folder import read_bounded
from heald.tools.git.program import GIT_SECONDS, GitFailed, split_paths
from heald.tools.git.repository import GitRepository, find_repository
from heald.tools.workspace.placeholders import list_placeholders
from heald_cli.repository.checkpoint_store import (
    KEPT_SECONDS,
    MEGABYTE,
    CheckpointLimits,
    CheckpointStore,
    remove_dead_stores,
)

MAX_BYTES = 20 * MEGABYTE
"""A larger file is not in a checkpoint."""
MAX_FILES = 50_000
"""A folder with more files has no checkpoints."""
OLDER_REFS = "refs/heald/"
"""Older versions kept the checkpoints of a session in the user's repository, as a branch below this name."""
_COUNTED_BYTES = 50 * MEGABYTE
"""Changed files of more bytes are compared with the room that is left."""
_WRITE_SECONDS = 300.0
_MOVE = "undo"
_AUTHOR = ("Heald", "heald@localhost")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Checkpoint(msgspec.Struct, frozen=True):
    """One saved state of the folder."""

    commit: str
    label: str


class Checkpoints:
    """The checkpoints of one session in a repository. Processes and threads may share the private state."""

    def __init__(
        self,
        repository: GitRepository,
        session: str,
        data: Path,
        *,
        limits: CheckpointLimits | None = None,
        state: Path | None = None,
    ) -> None:
        self.repository = repository
        self.session = session
        self.left_out: dict[str, int] = {}
        """Files that are in no checkpoint because they are large, with their sizes."""
        self._data = data.resolve()
        self.store = CheckpointStore.open(repository, self._data, limits or CheckpointLimits())
        name = sha256(os.fsencode(f"{repository.git_dir}\0{repository.folder}")).hexdigest()[:24]
        self._state = state or self.store.path / "folders" / name
        self._is_ready = False

    def save(self, label: str) -> Checkpoint:
        """Save the folder as it is now. Raises GitFailed."""
        with self._locked():
            tree = self._write_tree()
            commit = self._run("commit-tree", tree, "-m", label).decode().strip()
            self.store.add(self.session, commit)
        with suppress(BlockingIOError):  # whoever uses the store removes old checkpoints after the next save
            self.store.keep_within_bounds()
        return Checkpoint(commit, label)

    def write_files(self, checkpoint: Checkpoint) -> None:
        """Write all files of a checkpoint into the folder, which is empty. Raises GitFailed."""
        with self._locked():
            self._run("read-tree", checkpoint.commit)
            words = ("checkout-index", "--all", "--force", "--index", "--quiet")
            self._run(*words, seconds=_WRITE_SECONDS, changes_files=True)

    def list(self) -> Sequence[Checkpoint]:
        """Return all checkpoints, the latest first."""
        try:
            saved = self.store.list_session(self.session)
        except GitFailed:
            saved = []
        return [*(Checkpoint(commit, label) for commit, label in saved), *self._list_older()]

    def changed(self, before: Checkpoint, after: Checkpoint) -> frozenset[str]:
        """Return the files that differ between two checkpoints, as paths below the folder."""
        output = self._run("diff-tree", "-r", "-z", "--no-renames", "--name-only", before.commit, after.commit)
        return frozenset(self._below(split_paths(output)))

    def files(self, checkpoint: Checkpoint) -> frozenset[str]:
        """Return the files of a checkpoint, as paths below the folder."""
        output = self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", checkpoint.commit)
        return frozenset(self._below(split_paths(output)))

    def diff(self, before: Checkpoint, after: Checkpoint) -> str:
        """Return the unified diff between two checkpoints."""
        words = ("diff-tree", "-r", "-p", "--no-renames", "--no-color")
        return self._run(*words, before.commit, after.commit).decode("utf-8", "replace")

    def count_lines(self, before: Checkpoint, after: Checkpoint) -> tuple[int, int, int]:
        """Return how many files differ between two checkpoints, and how many lines were added and removed."""
        output = self._run("diff-tree", "-r", "-z", "--numstat", "--no-renames", before.commit, after.commit)
        rows = [row.split(b"\t", 2) for row in output.split(b"\0") if row]
        numbers = [(int(added), int(removed)) for added, removed, _ in rows if added != b"-"]  # "-" for a binary file
        return len(rows), sum(added for added, _ in numbers), sum(removed for _, removed in numbers)

    def restore(self, checkpoint: Checkpoint, paths: Iterable[str]) -> None:
        """Restore files to a checkpoint: content, mode and links; a file that it lacks is deleted. Raises GitFailed."""
        there = self.files(checkpoint)
        existing = [
            path for path in paths if path in there or os.path.lexists(os.path.join(self.repository.folder, path))
        ]
        if not existing:
            return
        names = os.fsencode("\0".join(existing))
        with self._locked():
            self._update_index(names)  # git deletes only what its index knows
            self._run(
                *("restore", "--worktree", "--ignore-unmerged", f"--source={checkpoint.commit}"),
                *("--pathspec-from-file=-", "--pathspec-file-nul"),
                stdin=names,
                seconds=_WRITE_SECONDS,
                changes_files=True,
            )

    def move(self, source: Checkpoint, target: Checkpoint) -> Mapping[str, str]:
        """Bring the files that differ between two checkpoints from one to the other. Raises GitFailed.

        A file that was changed since the first one stays as it is. Returns a sentence for each file.
        """
        changed = self.changed(source, target)
        since = self.changed(source, self.save(_MOVE)) & changed
        restored = sorted(changed - since)
        self.restore(target, restored)
        there = self.files(target)
        lines = {path: f"{path} is {'restored' if path in there else 'deleted again'}." for path in restored}
        return lines | {path: f"{path} stays as it is: it was changed since." for path in sorted(since)}

    def delete_old(self, now: float | None = None) -> int:
        """Delete the checkpoints of sessions that saved none for a long time.

        Returns how many of them were in the user's `.git`, where older versions kept them.
        """
        self.store.delete_old(now or time(), besides=self.session)
        remove_dead_stores(self._data, now)
        deleted = 0
        listed = self.repository.run("for-each-ref", "--format=%(committerdate:unix) %(refname)", OLDER_REFS)
        for line in listed.decode().splitlines():
            saved, _, ref = line.partition(" ")
            if ref != f"{OLDER_REFS}{self.session}" and int(saved or 0) < (now or time()) - KEPT_SECONDS:
                with suppress(GitFailed):
                    self.repository.run("update-ref", "-d", ref, writable=(self.repository.common_dir,))
                    deleted += 1
        return deleted

    def tidy(self) -> None:
        """Compress what is stored, and remove what no checkpoint needs."""
        self.store.tidy()

    def _list_older(self) -> Sequence[Checkpoint]:
        """The checkpoints of this session that an older version saved in the user's repository."""
        try:
            ref = (
                self.repository.run("rev-parse", "--verify", "--quiet", f"{OLDER_REFS}{self.session}").decode().strip()
            )
            output = self.repository.run("log", "-z", "--format=%H %s", ref, "--")
        except GitFailed:
            return []
        pairs = (entry.decode("utf-8", "replace").partition(" ") for entry in output.split(b"\0") if entry)
        return [Checkpoint(commit, label) for commit, _, label in pairs]

    def _write_tree(self) -> str:
        """Bring the private index up to date and write its tree. An index that lacks objects is made anew."""
        try:
            tree = self._index_files()
            if not self._lacks_objects(tree):
                return tree
        except GitFailed:
            if not (self._state / "index").exists():
                raise
        (self._state / "index").unlink(missing_ok=True)
        return self._index_files()

    def _index_files(self) -> str:
        own_data = [f"--exclude={self._data_pattern()}"] if self._data.is_relative_to(self.repository.top) else []
        changed = split_paths(self._run("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", *own_data, "--", "."))
        # Files that are tracked although a rule ignores them: only the user's own index knows them.
        tracked = split_paths(self.repository.run("ls-files", "-z", "-c", "-i", "--exclude-standard", "--", "."))
        if len(changed) + len(tracked) > MAX_FILES:
            raise GitFailed(f"the folder has more than {MAX_FILES:,} files.")
        made_up = list_placeholders(self.repository.folder)
        sizes = {path: self._size(path) for path in dict.fromkeys([*changed, *tracked]) if path not in made_up}
        self.left_out |= {path: size for path, size in sizes.items() if size > MAX_BYTES}
        paths = [path for path, size in sizes.items() if size <= MAX_BYTES and not path.endswith("/")]
        self._check_room({path: sizes[path] for path in paths})
        self._update_index(os.fsencode("\0".join(paths)))
        return self._run("write-tree").decode().strip()

    def _data_pattern(self) -> str:
        """Heald's own folder as a pattern of ignored names."""
        path = self._data.relative_to(self.repository.top).as_posix()
        escaped = re.sub(r"([\\*?\[])", r"\\\1", path)
        return f"/{escaped}/"

    def _check_room(self, sizes: Mapping[str, int]) -> None:
        """Raise GitFailed if files that are in no commit of the user need more bytes than there are."""
        if sum(sizes.values()) <= _COUNTED_BYTES:
            return
        new = split_paths(self.repository.run("ls-files", "-z", "-m", "-o", "--exclude-standard", "--", "."))
        needed = sum(sizes.get(path, 0) for path in new)
        limit = self.store.limits.repository
        if needed > limit:
            raise GitFailed(
                f"files that are in no commit have {needed // MEGABYTE:,} MB, and checkpoints of a repository may have "
                f"{limit // MEGABYTE:,} MB; ignore them in .gitignore, or raise [checkpoints] repository_mb."
            )
        free = shutil.disk_usage(self.store.path).free
        if needed > free // 2:
            raise GitFailed(f"files that are in no commit have {needed // MEGABYTE:,} MB, and the disk is almost full.")

    def _lacks_objects(self, tree: str) -> bool:
        """Whether objects of a tree are missing. It is looked up after the user's repository was packed anew."""
        packs = os.path.join(self.repository.objects, "pack")
        packed = str(os.stat(packs).st_mtime_ns if os.path.isdir(packs) else 0).encode()
        note = self._state / "packed"
        if read_bounded(str(note)) == packed:
            return False
        output = self._run("rev-list", "--objects", "--no-object-names", "--missing=print", tree)
        note.write_bytes(packed)
        return any(line.startswith(b"?") for line in output.splitlines())

    def _update_index(self, names: bytes) -> None:
        words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self._run(*words, stdin=names, seconds=_WRITE_SECONDS)

    def _size(self, path: str) -> int:
        """The bytes of a file; 0 for one that was deleted, which is removed from the index."""
        try:
            return os.lstat(os.path.join(self.repository.folder, path)).st_size
        except OSError:
            return 0

    def _below(self, paths: Iterable[str]) -> Iterable[str]:
        prefix = self.repository.prefix
        return (path.removeprefix(prefix) for path in paths if path.startswith(prefix))

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the private index: one writer at a time."""
        self._make_ready()
        with open(self._state / "lock", "wb") as file, self.store.in_use():
            fcntl.flock(file, fcntl.LOCK_EX)
            (self._state / "index.lock").unlink(missing_ok=True)  # of a process that was killed
            yield

    def _make_ready(self) -> None:
        if not self._is_ready:
            self.store.prepare(self.repository)
            self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._is_ready = True

    def _run(self, *words: str, stdin: bytes = b"", seconds: float = GIT_SECONDS, changes_files: bool = False) -> bytes:
        self._make_ready()
        repository, (name, mail) = self.repository, _AUTHOR
        return self.store.run(
            *words,
            folder=repository.folder,
            stdin=stdin,
            seconds=seconds,
            readable=repository.readable,
            writable=(str(self._state), *((repository.top,) if changes_files else ())),
            env={
                "GIT_WORK_TREE": repository.top,
                "GIT_INDEX_FILE": str(self._state / "index"),
                "GIT_AUTHOR_NAME": name,
                "GIT_AUTHOR_EMAIL": mail,
                "GIT_COMMITTER_NAME": name,
                "GIT_COMMITTER_EMAIL": mail,
            },
        )


def open_checkpoints(
    folder: str | None, session: str, data: Path, limits: CheckpointLimits | None = None
) -> Checkpoints | None:
    """Return the checkpoints of a session in a folder; None if the folder is in no git repository.

    `data` is Heald's own folder, which holds the checkpoints and is in no checkpoint itself.
    """
    repository = find_repository(folder)
    if repository is None or _NAME.fullmatch(session) is None:
        return None
    return Checkpoints(repository, session, data, limits=limits)
