"""The records of a repository about its worktrees, as git keeps them in `.git/worktrees`.

Heald writes and removes them itself: `git worktree` would read the settings of the repository, which can name programs.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from heald.tools.git.private_folder import read_bounded
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import GitRepository

_FOLDER = "worktrees"


def add_worktree(repository: GitRepository, top: str, name: str, head: str) -> GitRepository:
    """Add an empty worktree at a folder that does not exist, as `git worktree add --no-checkout` does.

    `head` is its HEAD: a commit, or the name of a branch without commits. Raises GitFailed.
    """
    if repository.ref_format != "files":
        raise GitFailed("worktrees of a repository with reftables are not supported.")
    record = os.path.join(repository.common_dir, _FOLDER, name)
    try:
        os.makedirs(top)
        os.makedirs(record)
        for file, text in (
            (os.path.join(record, "gitdir"), f"{top}/.git"),
            (os.path.join(record, "commondir"), "../.."),
            (os.path.join(record, "HEAD"), head),
            (os.path.join(top, ".git"), f"gitdir: {record}"),
        ):
            Path(file).write_bytes(os.fsencode(f"{text}\n"))
    except OSError as error:
        raise GitFailed(f"a worktree could not be made: {error.strerror}.") from None
    return replace(repository, folder=top, top=top, git_dir=record)


def remove_worktree(common_dir: str, top: str) -> None:
    """Remove the record of the worktree at a folder, and the folder of the records if it was the last one."""
    folder = os.path.join(common_dir, _FOLDER)
    with suppress(OSError):
        for name in os.listdir(folder):
            record = os.path.join(folder, name)
            if os.fsdecode(read_bounded(os.path.join(record, "gitdir"))).strip() == f"{top}/.git":
                shutil.rmtree(record, ignore_errors=True)
        os.rmdir(folder)
