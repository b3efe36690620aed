"""Pushes a project to a git remote: a branch with one commit for each version that led to the chosen one.

Git is the one of this machine, with its own credentials: no password is accepted, stored or printed here. The same
versions make the same commits, so that a later push adds only what is new. Nothing on the remote is overwritten.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.tools.git.program import GitAccess, GitFailed, GitTimeout, has_git, push_with_git, run_git
from heald_studio.export.files import reason_to_stay, safe_name
from heald_studio.projects.project import Project, VariantRef, Version, find_variant, find_version

ReadFiles = Callable[[str], Awaitable[Mapping[str, bytes]]]  # the files of a session

PushOutcome = Literal["new", "updated", "unchanged"]

_SECONDS = 120.0
_MAX_ADDRESS = 2_000
_HOST = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,60}\]")
_USER = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,60}")
_SCP = lazy_pattern(r"(?:(?P<user>[^@:/]+)@)?(?P<host>[^@:/]+):(?P<path>(?!/{2})[^:].*)")
_BRANCH = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,120}")
_SECRET = lazy_pattern(r"(?<=://)[^/@\s]+@")
_REF = "refs/heads/pushed"
_NO_ADDRESS = "That is not an address of a git remote; give one such as https://example.org/me/site.git."


class PushFailed(HealdError):
    """An address or a branch that cannot be pushed to, or a push that git or the remote refused."""

    code = "invalid_request"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a version, and what is known of it."""

    message: str
    time: int
    files: Mapping[str, bytes]


class PushResult(msgspec.Struct, frozen=True, kw_only=True):
    branch: str
    commit: str
    """The id of the newest commit."""
    versions: int
    """The commits of the branch."""
    outcome: PushOutcome


def check_remote(address: str, *, local: bool = False) -> str:
    """Return the address of a remote if it may be pushed to: https, http or ssh, and `local` paths if allowed.

    Raises PushFailed for every other address, and for one that holds a password.
    """
    address = address.strip()
    if not address or len(address) > _MAX_ADDRESS or address.startswith("-") or not address.isprintable():
        raise PushFailed(_NO_ADDRESS)
    if "::" in address.partition("/")[0]:
        raise PushFailed("Remotes that run a program are not allowed; give an https or ssh address.")
    if "://" not in address and (match := _SCP.fullmatch(address)) is not None:
        if _is_host(match["host"]) and (match["user"] is None or _USER.fullmatch(match["user"])):
            return address
        raise PushFailed("The address names no host that git can reach; write it as git@example.org:me/site.git.")
    try:
        parts = urlsplit(address)
        password, user, host = parts.password, parts.username, parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise PushFailed(_NO_ADDRESS) from None
    if parts.scheme in ("http", "https", "ssh"):
        if password is not None or (user is not None and parts.scheme != "ssh"):
            raise PushFailed(
                "The address holds a password or a name; remove it: git signs in with its own credentials."
            )
        if not _is_host(host if ":" not in host else f"[{host}]") or (user is not None and not _USER.fullmatch(user)):
            raise PushFailed("The address names no host that git can reach; check it.")
        return address
    if local and parts.scheme in ("", "file"):
        return address
    raise PushFailed("Only https, http and ssh addresses can be pushed to; give one of those.")


def check_branch(name: str) -> str:
    """Return the name of a branch if git accepts it. Raises PushFailed."""
    parts = name.split("/")
    fits = _BRANCH.fullmatch(name) and ".." not in name and not name.endswith((".", ".lock"))
    if not fits or any(not part or part.startswith((".", "-")) or part.endswith(".lock") for part in parts):
        raise PushFailed("That is not a valid branch name; use letters, digits, dots, dashes and single slashes.")
    return name


def default_branch(project: Project) -> str:
    return f"heald/{safe_name(project.title).lower()}"


async def collect_commits(project: Project, base: VariantRef, read_files: ReadFiles) -> list[Commit]:
    """Collect a commit for each version that led to a variant, the first one first. Raises NoSuchVersion."""
    chain: list[tuple[Version, VariantRef]] = []
    place: VariantRef | None = base
    while place is not None and len(chain) < len(project.versions):
        version = find_version(project, place)
        chain.append((version, place))
        place = version.base
    commits: list[Commit] = []
    for version, place in reversed(chain):
        files = await read_files(find_variant(project, place).session)
        content = {path: data for path, data in sorted(files.items()) if reason_to_stay(path) is None}
        words = " ".join(version.text.split()) or version.kind.capitalize()
        message = f"Version {version.number}: {words if len(words) <= 60 else words[:59] + '…'}\n"
        commits.append(Commit(message=message, time=int(version.created), files=content))
    if not commits[-1].files:
        raise PushFailed("This variant has no files yet; wait until it is built, or choose another one.")
    return commits


async def push_commits(address: str, branch: str, commits: Sequence[Commit], *, local: bool = False) -> PushResult:
    """Push commits to a branch of a remote. Raises PushFailed with a sentence that holds no credentials."""
    address, branch = check_remote(address, local=local), check_branch(branch)
    if not has_git():
        raise PushFailed("Git is not installed on this machine; install it to push.")
    with tempfile.TemporaryDirectory(prefix="heald-push-") as folder:
        commit = await asyncio.to_thread(_make_repository, folder, commits)
        outcome = await push_branch(folder, address, _REF, branch, local=local)
    return PushResult(branch=branch, commit=commit, versions=len(commits), outcome=outcome)


async def push_branch(folder: str, address: str, reference: str, branch: str, *, local: bool = False) -> PushOutcome:
    """Push a reference of a bare repository to a branch of a remote. Raises PushFailed."""
    protocols = "http:https:ssh:file" if local else "http:https:ssh"
    words = ("--porcelain", "--", address, f"{reference}:refs/heads/{branch}")
    try:
        code, out, errors = await push_with_git(folder, words, protocols=protocols, seconds=_SECONDS)
    except GitTimeout:
        raise PushFailed(f"The remote did not answer within {_SECONDS:.0f} seconds; try it later.") from None
    except GitFailed as error:
        raise PushFailed(f"Git could not push: {error}") from None
    printed = out.decode("utf-8", "replace")
    if code:
        raise PushFailed(_explain(printed, errors.decode("utf-8", "replace")))
    flag = next((line[0] for line in printed.splitlines() if f":refs/heads/{branch}" in line), " ")
    outcomes: Mapping[str, PushOutcome] = {"*": "new", "=": "unchanged"}
    return outcomes.get(flag, "updated")


def _make_repository(folder: str, commits: Sequence[Commit]) -> str:
    """Make a bare repository with the commits, by the author of the user's settings. Returns the newest commit."""
    folder = os.path.realpath(folder)
    access, env = GitAccess(writable=(folder,)), {"GIT_DIR": folder}
    try:
        run_git(folder, ("init", "--quiet", "--bare"), access=access, env=env)
        stream = _encode_stream(commits, _read_user("user.name", "Heald"), _read_user("user.email", "heald@localhost"))
        run_git(folder, ("fast-import", "--quiet"), access=access, env=env, stdin=stream, seconds=_SECONDS)
        return run_git(folder, ("rev-parse", _REF), access=access, env=env).decode().strip()
    except GitFailed as error:
        raise PushFailed(f"Git could not make the commits: {error}") from None


def _read_user(name: str, default: str) -> str:
    """Read a name or an address from the user's settings of git."""
    with suppress(GitFailed):
        output = run_git("/", ("config", "--get", name), access=GitAccess(finds=True))
        return _plain_author(output.decode("utf-8", "replace").strip() or default)
    return default


def _encode_stream(commits: Sequence[Commit], name: str, email: str) -> bytes:
    """Encode the commits for `git fast-import`."""
    parts: list[bytes] = []
    for number, commit in enumerate(commits, 1):
        who = f"{name} <{email}> {commit.time} +0000".encode()
        message = commit.message.encode()
        parts.append(b"commit %s\nmark :%d\nauthor %s\ncommitter %s\n" % (_REF.encode(), number, who, who))
        parts.append(b"data %d\n%s\n" % (len(message), message))
        if number > 1:
            parts.append(b"from :%d\n" % (number - 1))
        parts.append(b"deleteall\n")
        for path, data in commit.files.items():
            parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quote(path), len(data), data))
    return b"".join(parts)


def _quote(path: str) -> bytes:
    plain = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'.encode()


def _plain_author(text: str) -> str:
    return re.sub(r"[<>\x00-\x1f]", "", text).strip() or "Heald"


def _is_host(name: str) -> bool:
    return _HOST.fullmatch(name) is not None


def _explain(out: str, errors: str) -> str:
    """Say in one sentence why git failed, without names and passwords of addresses."""
    text = _SECRET.sub("", f"{out}\n{errors}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(word in text for word in ("non-fast-forward", "fetch first", "[rejected]")):
        return "The branch on the remote has other commits; choose another branch."
    if any(word in text for word in ("could not read Username", "Authentication failed", "Permission denied")):
        return (
            "The remote did not let git in; sign in with git on the server's machine (a credential helper or ssh key)."
        )
    marks = ("fatal:", "error:", "remote:", "ssh:")
    reason = next(
        (line for mark in marks for line in lines if line.startswith(mark)), lines[-1] if lines else "no reason"
    )
    return f"Git could not push: {reason[:300].rstrip('.')}."
