"""A change of a repository as a branch: begun at the current branch, committed, merged or left.

The branch that a change begins at is not written before the change is merged. The files are those of the folder, so
that the dev server shows the change while it is made. No hook, filter or other program of the repository runs here.
"""

import os
import re
from contextlib import suppress
from time import time

import msgspec

from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.tools.git.private_folder import read_bounded
from heald.tools.git.program import GitAccess, GitFailed, run_git, split_paths
from heald.tools.git.repository import GitRepository, find_repository
from heald.tools.workspace.diff import unified_diff
from heald.tools.workspace.placeholders import list_placeholders
from heald_studio.export.git_push import check_branch
from heald_studio.repositories.records import RepositoryRecord, read_record, write_record

PREFIX = "heald/"
_HEAD = lazy_pattern(r"ref: refs/heads/([^\x00-\x20]{1,200})")
_FILTER = lazy_pattern(rb"^[^#\n]*\sfilter=", re.MULTILINE)
_UNTRACKED = "??"
_MAX_NAME = 40
_MAX_DIFF = 400_000
"""Characters of a difference that is shown."""


class BranchRefused(HealdError):
    """The state of the repository does not allow the step."""

    code = "invalid_request"


class BranchState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the folder is."""

    branch: str
    """Empty if no branch is checked out."""
    base: str
    """The branch that the change began at; empty if the current branch is not one of a change."""
    changed: list[str]
    """Files that differ from the newest commit."""
    commits: int = 0
    """Commits of the change."""


class ChangeBranch:
    """The branches of one folder. Its methods run git, so call them in a thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def state(self) -> BranchState | None:
        """Return where the folder is; None if it is not a git repository."""
        repository = find_repository(self.folder)
        if repository is None:
            return None
        branch = _read_branch(repository)
        base = read_record(self.folder).bases.get(branch, "")
        commits = 0
        if base:
            with suppress(GitFailed, ValueError):
                count = repository.run("rev-list", "--count", f"refs/heads/{base}..refs/heads/{branch}")
                commits = int(count)
        return BranchState(
            branch=branch, base=base, changed=[path for _, path in _list_status(repository)], commits=commits
        )

    def begin(self, title: str) -> BranchState:
        """Begin a change: a new branch at the newest commit, which becomes the current one. No file changes."""
        repository, state = self._open()
        if state.base:
            raise BranchRefused(f"The change {state.branch} is still open; merge it or leave it first.")
        if not state.branch:
            raise BranchRefused("No branch is checked out in the folder; check one out with git first.")
        if state.changed:
            names = ", ".join(state.changed[:3])
            raise BranchRefused(f"{len(state.changed)} files are not committed ({names}); commit or stash them first.")
        commit = _commit_of(repository, "HEAD")
        branch = _free_name(repository, _branch_name(title))
        _update_ref(repository, f"refs/heads/{branch}", commit, "0" * len(commit))
        record = read_record(self.folder)
        bases = {**record.bases, branch: state.branch}
        write_record(self.folder, RepositoryRecord(record.agreed, bases))
        _write_head(repository, branch)
        return self._open()[1]

    def commit(self, message: str) -> str:
        """Commit every changed file to the branch of the change. Returns the commit."""
        repository, state = self._open()
        self._check_open(state)
        if not state.changed:
            raise BranchRefused("No file has changed since the last commit.")
        if not message.strip():
            raise BranchRefused("The commit has no message; write one.")
        return _commit(repository, state, message)

    def merge(self) -> BranchState:
        """Move the base to the newest commit of the change, and make it the current branch. No file changes."""
        repository, state = self._open()
        self._check_committed(state)
        tip, base = _commit_of(repository, state.branch), _commit_of(repository, state.base)
        if repository.run("rev-list", "--count", f"{tip}..{base}").strip() != b"0":
            raise BranchRefused(
                f"{state.base} has commits that the change does not have; merge them with git, or open a pull request."
            )
        _update_ref(repository, f"refs/heads/{state.base}", tip, base)
        self._check_out_base(repository, state)
        return self._open()[1]

    def go_back(self) -> BranchState:
        """Go back to the base, with its files. The branch of the change stays, and is an ordinary one from now on."""
        repository, state = self._open()
        self._check_committed(state)
        base = _commit_of(repository, state.base)
        _check_filters(repository)
        writable = (repository.top, repository.git_dir, repository.common_dir)
        repository.run("read-tree", "-m", "-u", _commit_of(repository, state.branch), base, writable=writable)
        self._check_out_base(repository, state)
        return self._open()[1]

    def diff(self) -> str:
        """The difference of the folder to the base, as text, with the files that git does not know yet."""
        repository, state = self._open()
        base = _commit_of(repository, state.base or "HEAD")
        text = repository.run("diff", "--no-color", base, "--", ".").decode("utf-8", "replace")
        for code, path in _list_status(repository):
            if len(text) > _MAX_DIFF:
                break
            if code == _UNTRACKED:
                content = _read_content(os.path.join(repository.top, path))
                text += f"diff --git a/{path} b/{path}\nnew file\n{unified_diff(path, None, content)}"
        return text[:_MAX_DIFF]

    def find_remote(self) -> tuple[str, str]:
        """Return the address of the remote, and the one to push to. Raises BranchRefused if there is none."""
        self._open()
        address = self._setting("remote.origin.url")
        if not address:
            raise BranchRefused("The repository has no remote named origin; add one with git first.")
        return address, self._setting("remote.origin.pushurl") or address

    def newest_commit(self) -> tuple[GitRepository, BranchState, str]:
        """Return the repository, the state and the newest commit of a change that is committed whole."""
        repository, state = self._open()
        self._check_committed(state)
        if not state.commits:
            raise BranchRefused("The change has no commit yet; change a file and commit it.")
        return repository, state, _commit_of(repository, state.branch)

    def _open(self) -> tuple[GitRepository, BranchState]:
        repository, state = find_repository(self.folder), self.state()
        if repository is None or state is None:
            raise BranchRefused("The folder is not a git repository; run `git init` and commit its files first.")
        if repository.ref_format != "files":
            raise BranchRefused("The repository stores its branches as reftables, which is not supported.")
        return repository, state

    def _setting(self, name: str) -> str:
        with suppress(GitFailed):
            return run_git(self.folder, ("config", "--get", name), access=GitAccess(finds=True)).decode().strip()
        return ""

    def _check_open(self, state: BranchState) -> None:
        if not state.base:
            raise BranchRefused("There is no open change; begin one first.")

    def _check_committed(self, state: BranchState) -> None:
        self._check_open(state)
        if state.changed:
            raise BranchRefused(f"{len(state.changed)} files of the change are not committed; commit them first.")

    def _check_out_base(self, repository: GitRepository, state: BranchState) -> None:
        _write_head(repository, state.base)
        record = read_record(self.folder)
        bases = {branch: base for branch, base in record.bases.items() if branch != state.branch}
        write_record(self.folder, RepositoryRecord(record.agreed, bases))


def _read_branch(repository: GitRepository) -> str:
    with open(os.path.join(repository.git_dir, "HEAD"), encoding="utf-8", errors="replace") as file:
        match = _HEAD.match(file.read(1000))
    return match[1] if match is not None else ""


def _list_status(repository: GitRepository) -> list[tuple[str, str]]:
    """Return the status codes and paths of the files that differ from the newest commit, by path."""
    output = repository.run("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".")
    placeholders = {repository.prefix + path.rstrip("/") for path in list_placeholders(repository.folder)}
    rows = [(row[:2], row[3:]) for row in split_paths(output)]
    return sorted((row for row in rows if row[1].rstrip("/") not in placeholders), key=lambda row: row[1])


def _read_content(path: str) -> bytes:
    """Return what git would store for a new file: the content, or the target of a symbolic link."""
    return os.fsencode(os.readlink(path)) if os.path.islink(path) else read_bounded(path)


def _commit_of(repository: GitRepository, name: str) -> str:
    reference = name if name == "HEAD" else f"refs/heads/{name}"
    try:
        return repository.run("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}").decode().strip()
    except GitFailed:
        raise BranchRefused(f"{name} has no commit yet; commit the files of the folder first.") from None


def _update_ref(repository: GitRepository, reference: str, commit: str, before: str) -> None:
    """Move a branch, if it is still where it was."""
    repository.run("update-ref", reference, commit, before, writable=(repository.common_dir,))


def _commit(repository: GitRepository, state: BranchState, message: str) -> str:
    _check_filters(repository)
    writable = (repository.git_dir, repository.common_dir)
    paths = b"".join(os.fsencode(path) + b"\0" for path in state.changed)
    top = msgspec.structs.replace(repository, folder=repository.top)
    top.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=paths, writable=writable)
    tree = top.run("write-tree", writable=writable).decode().strip()
    parent = _commit_of(repository, state.branch)
    commit = top.run(
        "commit-tree", tree, "-p", parent, "-F", "-", stdin=message.encode(), env=_author(), writable=writable
    )
    name = commit.decode().strip()
    _update_ref(repository, f"refs/heads/{state.branch}", name, parent)
    return name


def _author() -> dict[str, str]:
    """The variables that name the author: the one of the user's settings of git."""
    values: dict[str, str] = {}
    for key, default in (("name", "Heald"), ("email", "heald@localhost")):
        value = default
        with suppress(GitFailed):
            output = run_git("/", ("config", "--get", f"user.{key}"), access=GitAccess(finds=True))
            value = re.sub(r"[<>\x00-\x1f]", "", output.decode("utf-8", "replace")).strip() or default
        values |= {f"GIT_{role}_{key.upper()}": value for role in ("AUTHOR", "COMMITTER")}
    date = f"{int(time())} +0000"
    return values | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}


def _check_filters(repository: GitRepository) -> None:
    """Refuse a repository whose files go through filters such as LFS: no program of it runs here."""
    for path in (
        os.path.join(repository.top, ".gitattributes"),
        os.path.join(repository.common_dir, "info/attributes"),
    ):
        with suppress(OSError), open(path, "rb") as file:
            if _FILTER.search(file.read(1_000_000)):
                raise BranchRefused("Files of the repository go through filters (.gitattributes); use git itself here.")


def _branch_name(title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MAX_NAME].strip("-")
    return check_branch(f"{PREFIX}{words or 'change'}")


def _free_name(repository: GitRepository, name: str) -> str:
    output = repository.run("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/{PREFIX}")
    taken = set(output.decode("utf-8", "replace").split())
    numbers = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return next(candidate for candidate in (name, *numbers) if candidate not in taken)


def _write_head(repository: GitRepository, branch: str) -> None:
    """Make a branch the current one, as git does: by a lock file that replaces HEAD."""
    head = os.path.join(repository.git_dir, "HEAD")
    try:
        descriptor = os.open(f"{head}.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise BranchRefused("Another git works in the folder; try again when it is done.") from None
    with os.fdopen(descriptor, "w") as file:
        file.write(f"ref: refs/heads/{branch}\n")
    os.replace(f"{head}.lock", head)
