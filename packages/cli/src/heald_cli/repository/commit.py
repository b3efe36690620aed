"""Commits hunks of a repository with the person's own git: its hooks run, and a failure changes nothing."""

import asyncio
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from heald.core.errors import ConfigurationError
from heald.tools.git.program import GitFailed, run_user_git
from heald.tools.git.repository import GitRepository
from heald.tools.sanitize import sanitize_text
from heald_cli.repository.changed_hunks import UncommittedChanges
from heald_forges.installed import usual_token_variables
from heald_forges.remote import TOKEN_PREFIX

_SECONDS = 900.0
"""Hooks run tests."""
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push")


class CommitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a commit."""

    commit: str
    """The short id of the commit; empty if there is none."""
    output: str
    """What git and the hooks printed."""


async def commit_hunks(
    repository: GitRepository,
    changes: UncommittedChanges,
    numbers: Collection[int],
    message: str,
    *,
    is_signed_off: bool = False,
) -> CommitResult:
    """Commit some hunks. If git or a hook refuses, the index is as it was before. Raises GitFailed."""
    is_all_staged = changes.is_staged and len(numbers) == len(changes.hunks)
    if not is_all_staged and await asyncio.to_thread(Path(repository.git_dir, "MERGE_HEAD").exists):
        raise ConfigurationError("A merge is being committed: stage all of it with `git add`, then commit it whole.")
    index = Path(repository.git_dir, "index")
    before = await asyncio.to_thread(_read_index, index)
    is_done = False
    try:
        if not is_all_staged:
            await _stage(repository, changes, numbers)
        words = ["commit", "--quiet", "-F", "-", *(["--signoff"] if is_signed_off else [])]
        content = f"{message}\n".encode()
        code, output = await run_user_git(
            repository.top, words, hidden=_forge_tokens(), stdin=content, seconds=_SECONDS
        )
        is_done = code == 0
    finally:
        # What was staged and not chosen stays staged; what was not staged before is not staged after a failure.
        if not is_all_staged and (changes.is_staged or not is_done):
            await asyncio.to_thread(_write_index, index, before)
    text = sanitize_text(output.decode("utf-8", "replace")).strip()
    commit = ""
    if is_done:
        commit = (await asyncio.to_thread(repository.run, "rev-parse", "--short", "HEAD")).decode().strip()
    return CommitResult(commit=commit, output=text)


async def _stage(repository: GitRepository, changes: UncommittedChanges, numbers: Collection[int]) -> None:
    """Make the index hold the chosen hunks. Whole files are added by git, so that its filters run."""
    if changes.is_staged:
        await _run(repository, "read-tree", "HEAD")
    paths = [] if changes.is_staged else changes.whole_paths(numbers)
    if paths:
        names = "\0".join(paths).encode("utf-8", "surrogateescape")
        await _run(repository, "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=names)
    patch = changes.patch(numbers, partial_only=not changes.is_staged)
    if patch:
        content = patch.encode("utf-8", "surrogateescape")
        await _run(repository, "apply", "--cached", "--whitespace=nowarn", "-", stdin=content)


async def _run(repository: GitRepository, *words: str, stdin: bytes = b"") -> None:
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    code, output = await run_user_git(
        repository.top, words, hidden=_forge_tokens(), stdin=stdin, env=env, seconds=_SECONDS
    )
    if code:
        lines = output.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {words[0]} failed: {sanitize_text(lines[-1]) if lines else f'exit code {code}'}")


def _forge_tokens() -> tuple[str, ...]:
    """Return the beginnings of the names of variables with tokens, which hooks of a commit do not need."""
    return (TOKEN_PREFIX, *usual_token_variables())


def changed_hooks(changes: UncommittedChanges) -> list[str]:
    """Return the hooks among the changes, such as `.githooks/pre-commit`, which git may run."""
    paths = {hunk.path for hunk in changes.hunks}
    return sorted(path for path in paths if path.rpartition("/")[2] in _HOOKS)


def _read_index(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _write_index(path: Path, content: bytes | None) -> None:
    """Replace the index, as git does: by a rename."""
    if content is None:
        path.unlink(missing_ok=True)
        return
    fresh = path.with_name("index.heald")
    fresh.write_bytes(content)
    os.replace(fresh, path)
