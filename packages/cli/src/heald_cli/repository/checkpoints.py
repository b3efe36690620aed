"""Checkpoints of a working folder: commits on a ref of their own, `refs/heald/SESSION`.

A checkpoint holds each file that git tracks or would add, byte for byte: attributes of the project (line ends, filters,
encodings) do not apply. The index and the settings that git uses for it are in a folder of Heald, out of reach of
sandboxed commands; the user's index, HEAD, branches and stash are never written. Ignored files, files above
`MAX_BYTES` and nested repositories are not in it.
"""

import fcntl
import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time

import msgspec

from heald.tools.shell.protected_paths import list_placeholders
from heald_cli.repository.git import GIT_SECONDS, GitFailed, GitRepository, find_repository, run_git, split_paths

REFS = "refs/heald/"
MAX_BYTES = 20_000_000
"""A larger file is not in a checkpoint."""
MAX_FILES = 50_000
"""A folder with more files has no checkpoints."""
KEPT_SECONDS = 30 * 24 * 3600
"""Checkpoints of a session that saved none for so long are deleted."""
_WRITE_SECONDS = 300.0
_RAW = "* -text -filter -ident -working-tree-encoding -eol -merge\n"
_MOVE = "undo"
_AUTHOR = ("Heald", "heald@localhost")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Checkpoint(msgspec.Struct, frozen=True):
    """One saved state of the folder."""

    commit: str
    label: str


class Checkpoints:
    """The checkpoints of one session in a repository. Processes and threads may share the private state."""

    def __init__(self, repository: GitRepository, session: str, data: Path) -> None:
        self.repository = repository
        self.ref = f"{REFS}{session}"
        self._data = data.resolve()
        self._state = (
            self._data
            / "checkpoints"
            / sha256(os.fsencode(f"{repository.git_dir}\0{repository.folder}")).hexdigest()[:24]
        )
        self._env: Mapping[str, str] | None = None
        self._last: Checkpoint | None = None

    def save(self, label: str) -> Checkpoint:
        """Save the folder as it is now. Raises GitFailed."""
        with self._locked():
            tree = self._write_tree()
            parent = self._last or next(iter(self._read(1)), None)
            words = ["commit-tree", tree, "-m", label, *(["-p", parent.commit] if parent is not None else [])]
            commit = self._run(*words).decode().strip()
            self.repository.run("update-ref", self.ref, commit)
            self._last = Checkpoint(commit, label)
            return self._last

    def write_files(self, checkpoint: Checkpoint) -> None:
        """Write all files of a checkpoint into the folder, which is empty. Raises GitFailed."""
        with self._locked():
            self._run("read-tree", checkpoint.commit)
            self._run("checkout-index", "--all", "--force", "--index", "--quiet", seconds=_WRITE_SECONDS)

    def list(self) -> Sequence[Checkpoint]:
        """Return all checkpoints, the latest first."""
        return self._read(None)

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
        words = ("diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
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

    def delete_old(self, now: float | None = None) -> None:
        """Delete the checkpoints of sessions that saved none for a long time."""
        listed = self.repository.run("for-each-ref", "--format=%(committerdate:unix) %(refname)", REFS)
        for line in listed.decode().splitlines():
            saved, _, ref = line.partition(" ")
            if ref != self.ref and int(saved) < (now or time()) - KEPT_SECONDS:
                with suppress(GitFailed):
                    self.repository.run("update-ref", "-d", ref)

    def _write_tree(self) -> str:
        """Bring the private index up to date and write its tree."""
        changed = split_paths(self._run("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", "--", "."))
        # Files that are tracked although a rule ignores them: only the user's own index knows them.
        tracked = split_paths(self.repository.run("ls-files", "-z", "-c", "-i", "--exclude-standard", "--", "."))
        if len(changed) + len(tracked) > MAX_FILES:
            raise GitFailed(f"the folder has more than {MAX_FILES:,} files.")
        made_up = list_placeholders(self.repository.folder)
        paths = [path for path in dict.fromkeys([*changed, *tracked]) if path not in made_up and self._is_kept(path)]
        self._update_index(os.fsencode("\0".join(paths)))
        return self._run("write-tree").decode().strip()

    def _update_index(self, names: bytes) -> None:
        self._run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)

    def _is_kept(self, path: str) -> bool:
        if path.endswith("/"):
            return False  # a nested repository
        try:
            status = os.lstat(os.path.join(self.repository.folder, path))
        except OSError:
            return True  # deleted: it is removed from the index
        return status.st_size <= MAX_BYTES

    def _below(self, paths: Iterable[str]) -> Iterable[str]:
        prefix = self.repository.prefix
        return (path.removeprefix(prefix) for path in paths if path.startswith(prefix))

    def _read(self, most: int | None) -> Sequence[Checkpoint]:
        try:
            count = () if most is None else (f"-{most}",)
            output = self._run("log", "-z", "--format=%H %s", *count, self._resolve(), "--")
        except GitFailed:
            return []
        pairs = (entry.decode("utf-8", "replace").partition(" ") for entry in output.split(b"\0") if entry)
        return [Checkpoint(commit, label) for commit, _, label in pairs]

    def _resolve(self) -> str:
        return self.repository.run("rev-parse", "--verify", "--quiet", self.ref).decode().strip()

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the private index: one writer at a time."""
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self._state / "lock", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _run(self, *words: str, stdin: bytes = b"", seconds: float = GIT_SECONDS) -> bytes:
        if self._env is None:
            self._env = self._prepare()
        return run_git(self.repository.folder, words, stdin=stdin, env=self._env, seconds=seconds)

    def _prepare(self) -> Mapping[str, str]:
        """Create the private state, and return the variables that make git use it."""
        state, common = self._state, Path(self.repository.common_dir)
        for name in ("refs", "objects", "info"):
            (state / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        own_rules = ""
        with suppress(OSError, UnicodeDecodeError):
            own_rules = (common / "info" / "exclude").read_text("utf-8")
        if self._data.is_relative_to(self.repository.top):
            own_rules += f"\n/{self._data.relative_to(self.repository.top).as_posix()}/\n"
        texts = {
            "HEAD": "ref: refs/heads/heald\n",
            "config": f"[core]\n\trepositoryformatversion = {self._format()}\n",
            "info/attributes": _RAW,
            "info/exclude": own_rules,
        }
        for name, text in texts.items():
            (state / name).write_text(text, "utf-8")
        name, mail = _AUTHOR
        return {
            "GIT_DIR": str(state),
            "GIT_WORK_TREE": self.repository.top,
            "GIT_INDEX_FILE": str(state / "index"),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": mail,
        }

    def _format(self) -> str:
        """The hash that the repository uses, as its private state must name it."""
        if self.repository.run("rev-parse", "--show-object-format").decode().strip() == "sha256":
            return "1\n[extensions]\n\tobjectformat = sha256"
        return "0"


def open_checkpoints(folder: str | None, session: str, data: Path) -> Checkpoints | None:
    """Return the checkpoints of a session in a folder; None if the folder is in no git repository.

    `data` is Heald's own folder, which keeps the private indexes and is in no checkpoint itself.
    """
    repository = find_repository(folder)
    if repository is None or _NAME.fullmatch(session) is None:
        return None
    return Checkpoints(repository, session, data)
