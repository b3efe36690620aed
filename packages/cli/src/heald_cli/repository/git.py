"""Runs git in a repository without its hooks, its file monitor or any effect on its index."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import msgspec

from heald.core.errors import HealdError

GIT_SECONDS = 30.0
_SAFE = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")


class GitFailed(HealdError):
    """A git command failed, or took too long."""


class GitRepository(msgspec.Struct, frozen=True):
    """The repository that a folder belongs to."""

    folder: str
    """The folder of the workspace: the top of the working tree, or below it."""
    top: str
    """The top of the working tree."""
    git_dir: str
    """The folder with the state of this working tree."""
    common_dir: str
    """The folder with the objects and refs."""

    @property
    def prefix(self) -> str:
        """The path of the folder below the top, with a slash at its end; empty at the top."""
        below = os.path.relpath(self.folder, self.top)
        return "" if below == "." else f"{below.replace(os.sep, '/')}/"

    def run(
        self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, seconds: float = GIT_SECONDS
    ) -> bytes:
        """Run git in the folder and return its output. Raises GitFailed.

        The repository is the one that was found: a `.git` that was replaced since has no effect.
        """
        place = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.top}
        return run_git(self.folder, words, stdin=stdin, env={**place, **(env or {})}, seconds=seconds)


def find_repository(folder: str | os.PathLike[str] | None) -> GitRepository | None:
    """Return the repository of a folder; None if it has none, git is missing, or git does not trust its owner."""
    if not folder or shutil.which("git") is None:
        return None
    place = os.path.realpath(folder)
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    try:
        output = run_git(place, ("rev-parse", *asked), seconds=5.0)
    except GitFailed:
        return None
    lines = output.decode("utf-8", "surrogateescape").splitlines()
    if len(lines) != len(asked):
        return None
    top, git_dir, common = lines
    return GitRepository(place, os.path.realpath(top), git_dir, os.path.realpath(os.path.join(place, common)))


def run_git(
    folder: str,
    words: Sequence[str],
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float = GIT_SECONDS,
) -> bytes:
    """Run git in a folder and return its output. Raises GitFailed."""
    # A variable such as GIT_DIR of the caller, who may be a hook, would name another repository.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", **(env or {})}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *words], cwd=folder, env=variables, input=stdin, capture_output=True, timeout=seconds,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {words[0]} took longer than {seconds:g} s.") from None
    except OSError as error:
        raise GitFailed(f"git could not be started: {error.strerror}.") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {words[0]} failed: {reason[-1] if reason else f'exit code {done.returncode}'}")
    return done.stdout


def split_paths(output: bytes) -> list[str]:
    """Return the paths of an output with NUL between them."""
    return [os.fsdecode(path) for path in output.split(b"\0") if path]
