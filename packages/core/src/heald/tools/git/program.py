"""Starts git. Nothing else in Heald does.

A repository can name programs for git to run: filters, hooks, drivers, helpers, transports. None of them runs here: git
gets settings of its own and never those of the repository, it does not enter submodules, it may use no protocol, and it
knows only the commands of a table. Its environment is a list of names, so it holds no keys. Where bubblewrap works, git
runs in a sandbox without network and sees only the folders that it needs.

`run_user_git` is the exception: it commits and pushes because a person asked for it, as their own shell would.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache

import msgspec

from heald.core.errors import HealdError
from heald.tools.git.sandbox import GitSandbox
from heald.tools.process_environment import environment_without_keys

GIT_SECONDS = 30.0
_NOTHING = os.devnull
_NO_SUBMODULES = ("--ignore-submodules=all",)
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv")
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "cat-file": (),
    "checkout-index": (),
    "commit-tree": ("--no-gpg-sign",),
    "config": (),
    "diff": (*_NO_SUBMODULES, *_PLAIN_DIFF),
    "diff-tree": (*_NO_SUBMODULES, *_PLAIN_DIFF),
    "fast-import": (),
    "for-each-ref": (),
    "init": ("--template=",),
    "log": ("--no-show-signature", *_PLAIN_DIFF),
    "ls-files": (),
    "ls-tree": (),
    "prune": (),
    "push": ("--no-verify", "--recurse-submodules=no", "--no-signed"),
    "read-tree": ("--no-recurse-submodules",),
    "repack": (),
    "restore": ("--no-recurse-submodules",),
    "rev-list": (),
    "rev-parse": (),
    "status": (*_NO_SUBMODULES, "--no-renames"),
    "update-index": (),
    "update-ref": (),
    "write-tree": (),
}
"""The commands that are used, with the options that each of them always has."""
_USER_COMMANDS = frozenset({"add", "apply", "commit", "push", "read-tree"})
"""The commands that a person asks for, such as with `heald commit`."""
_SETTINGS = (
    f"core.hooksPath={_NOTHING}",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    f"core.attributesFile={_NOTHING}",
    "core.pager=cat",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "safe.bareRepository=explicit",
    "gc.auto=0",
    "maintenance.auto=false",
)
_VARIABLES = {
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_PRIVATE_VARIABLES = {
    "GIT_CONFIG_GLOBAL": _NOTHING,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": _NOTHING,
    "GIT_SSH_COMMAND": "false",
    "HOME": "/nonexistent",
}
_USERS = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Variables that name the user's own settings of git."""
_FINDING = (*_USERS, "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "SUDO_UID")
_PUSHING = (
    *(*_USERS, "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "DBUS_SESSION_BUS_ADDRESS"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_CONFIG_DIR", "GITLAB_TOKEN"),
)
"""Variables that ssh and the user's credential helpers need."""


class GitFailed(HealdError):
    """A git command failed."""


class GitTimeout(GitFailed):
    """A git command took too long."""


class GitAccess(msgspec.Struct, frozen=True):
    """What one git may see: by default no settings of the user, no folder and no network."""

    readable: tuple[str, ...] = ()
    """Folders and files that it may read."""
    writable: tuple[str, ...] = ()
    """Folders that it may change."""
    settings: tuple[str, ...] = ()
    """Settings as `name=value`."""
    finds: bool = False
    """It looks for a repository: it reads the user's settings and may read every file."""
    protocols: str = ""
    """The protocols of a push, which runs outside of the sandbox with the user's settings and credential helpers."""


class _Start(msgspec.Struct, frozen=True):
    """A git that is ready to start."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    name: str
    sandbox: GitSandbox | None


def run_git(
    folder: str,
    words: Sequence[str],
    *,
    access: GitAccess,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float = GIT_SECONDS,
) -> bytes:
    """Run git in a folder and return its output. Raises GitFailed."""
    start = _prepare(folder, words, access, env or {})
    descriptors = start.sandbox.open_descriptors() if start.sandbox is not None else []
    prefix = start.sandbox.argv(start.cwd, descriptors) if start.sandbox is not None else []
    try:
        done = subprocess.run(
            [*prefix, *start.argv], cwd="/" if prefix else start.cwd, env=start.env, input=stdin, capture_output=True,
            timeout=seconds, pass_fds=descriptors, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GitTimeout(f"git {start.name} took longer than {seconds:g} s.") from None
    except (OSError, ValueError) as error:
        raise GitFailed(f"git could not be started: {getattr(error, 'strerror', None) or error}.") from None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    if done.returncode:
        raise GitFailed(_reason(start.name, done.returncode, done.stderr))
    return done.stdout


async def push_with_git(
    folder: str, words: Sequence[str], *, protocols: str, seconds: float
) -> tuple[int, bytes, bytes]:
    """Run `git push` in a bare repository, with the user's credentials. Raises GitFailed.

    Returns the exit code and what it printed. A cancelled caller leaves no process behind.
    """
    start = _prepare(folder, ("push", *words), GitAccess(protocols=protocols), {"GIT_DIR": folder})
    try:
        process = await asyncio.create_subprocess_exec(
            *start.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=start.cwd,
            env=start.env,
            start_new_session=True,
        )
    except OSError as error:
        raise GitFailed(f"git could not be started: {error.strerror}.") from None
    output, errors = await _read_to_end(process, "push", seconds)
    return process.returncode or 0, output, errors


async def run_user_git(
    folder: str,
    words: Sequence[str],
    *,
    hidden: tuple[str, ...],
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float,
) -> tuple[int, bytes]:
    """Run a command of git that the person asked for, as their shell would: with the settings and hooks of the
    repository and with the person's credentials, but without keys of models and without the variables whose names begin
    with one of `hidden`. Raises GitFailed.

    Returns the exit code and what git and the hooks printed. Only commands of a table run. Nothing asks for a password.
    """
    name = words[0]
    if name not in _USER_COMMANDS:
        raise ValueError(f"git {name} is not in the table of commands that Heald runs for the person.")
    place = _find_program(os.environ.get("PATH", os.defpath), frozenset((_find_top(folder),)))
    if place is None:
        raise GitFailed("git is not installed.")
    variables = {name: value for name, value in environment_without_keys().items() if not name.startswith(hidden)}
    variables |= {"GIT_EDITOR": "false", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}
    variables.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20")
    try:
        process = await asyncio.create_subprocess_exec(
            *(place[0], "--no-pager", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env={**variables, **(env or {})},
            start_new_session=True,
        )
    except OSError as error:
        raise GitFailed(f"git could not be started: {error.strerror}.") from None
    output, _ = await _read_to_end(process, name, seconds, stdin)
    return process.returncode or 0, output


async def _read_to_end(
    process: asyncio.subprocess.Process, name: str, seconds: float, stdin: bytes | None = None
) -> tuple[bytes, bytes]:
    """Return what a command of git printed. One that takes too long, or is not wanted any more, is killed with all that
    it started. Raises GitTimeout."""
    try:
        async with asyncio.timeout(seconds):
            return await process.communicate(stdin)
    except TimeoutError:
        raise GitTimeout(f"git {name} took longer than {seconds:g} s.") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def has_git() -> bool:
    """Whether git is installed."""
    return _find_program(os.environ.get("PATH", os.defpath), frozenset[str]()) is not None


def split_paths(output: bytes) -> list[str]:
    """Return the paths of an output with NUL between them."""
    return [os.fsdecode(path) for path in output.split(b"\0") if path]


def _prepare(folder: str, words: Sequence[str], access: GitAccess, env: Mapping[str, str]) -> _Start:
    name, *rest = words
    if name not in _COMMANDS:
        raise ValueError(f"git {name} is not in the table of commands that Heald runs.")
    repositories = frozenset(_find_top(path) for path in (folder, *access.readable, *access.writable))
    place = _find_program(os.environ.get("PATH", os.defpath), repositories)
    if place is None:
        raise GitFailed("git is not installed.")
    program, path = place
    pushes = bool(access.protocols)
    names = _PUSHING if pushes else _FINDING if access.finds else ()
    variables = {name: os.environ[name] for name in names if name in os.environ}
    variables |= {"PATH": path, **_VARIABLES, **({} if pushes or access.finds else _PRIVATE_VARIABLES)}
    variables["GIT_ALLOW_PROTOCOL"] = access.protocols or "none"
    if pushes:
        variables |= {"SSH_ASKPASS_REQUIRE": "never", "GIT_CONFIG_COUNT": "0"}
        variables.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20")
    settings = (*_SETTINGS, *access.settings, *([] if pushes else ["credential.helper=", "protocol.allow=never"]))
    options = [word for setting in settings for word in ("-c", setting)]
    argv = [program, "--no-pager", *options, name, *_COMMANDS[name], *rest]
    sandbox = None if pushes else GitSandbox.make(program, access.readable, access.writable, whole=access.finds)
    return _Start(argv, {**variables, **env}, folder, name, sandbox)


@cache
def _find_program(path: str, repositories: frozenset[str]) -> tuple[str, str] | None:
    """Return the program and the search path for it, without relative folders and those that a repository holds.

    A program on such a path could be a file that a model wrote.
    """
    inside = tuple(f"{top}/" for top in repositories if top != "/")
    parts = [part for part in path.split(os.pathsep) if os.path.isabs(part)]
    safe = [part for part in parts if not f"{os.path.realpath(part)}/".startswith(inside)]
    search = os.pathsep.join(safe)
    program = shutil.which("git", path=search) if safe else None
    return (program, search) if program is not None else None


def _find_top(path: str) -> str:
    """Return the nearest folder with a `.git` from a path upwards, else the path itself."""
    place = path
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return path
        place = above
    return place


def _reason(name: str, code: int, errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return f"git {name} failed: {lines[-1] if lines else f'exit code {code}'}"
