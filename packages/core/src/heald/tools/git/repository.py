"""The repository that a folder belongs to, and git that reads it without its settings."""

import os
import re
from collections.abc import Mapping, Sequence

import msgspec

from heald.tools.git.private_folder import PrivateGitFolder, read_bounded
from heald.tools.git.program import GIT_SECONDS, GitAccess, GitFailed, run_git

_FINDING_SECONDS = 5.0
_WORD = re.compile(r"[A-Za-z0-9]{0,8}")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}")
_REFS = re.compile(r"\+?refs/[\w./*-]{1,200}:refs/[\w./*-]{1,200}")
_BRANCH = re.compile(r"refs/heads/[^\x00-\x20=]{1,200}")
_COPIED = (
    *("core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.autocrlf", "core.eol"),
    *("core.trustctime", "core.checkstat", "core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"),
)
"""Settings that say how files are compared. Their values are single words, which name no program."""
_MOST_ALTERNATES = 20


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
    settings: tuple[str, ...] = ()
    """The settings that git gets, as `name=value`."""
    excludes: str = ""
    """The user's own file of ignored names."""
    object_format: str = "sha1"
    ref_format: str = "files"

    @property
    def prefix(self) -> str:
        """The path of the folder below the top, with a slash at its end; empty at the top."""
        below = os.path.relpath(self.folder, self.top)
        return "" if below == "." else f"{below.replace(os.sep, '/')}/"

    @property
    def objects(self) -> str:
        """The folder of the objects."""
        return os.path.join(self.common_dir, "objects")

    @property
    def readable(self) -> tuple[str, ...]:
        """Everything that git has to read: the files, the repository and the objects that it borrows."""
        targets = [os.path.realpath(os.path.join(self.common_dir, name)) for name in ("objects", "refs")]
        links = [path for path in targets if not _is_at(self.common_dir, path)]
        paths = (self.top, self.git_dir, self.common_dir, *links, *list_alternates(self.objects), self.excludes)
        return tuple(path for path in dict.fromkeys(paths) if path)

    @property
    def format_text(self) -> str:
        """The settings that name the formats of the repository."""
        extensions = [f"\tobjectformat = {self.object_format}"] if self.object_format != "sha1" else []
        extensions += [f"\trefstorage = {self.ref_format}"] if self.ref_format != "files" else []
        head = f"[core]\n\trepositoryformatversion = {1 if extensions else 0}\n\tbare = false\n"
        return head + ("[extensions]\n" + "\n".join(extensions) + "\n" if extensions else "")

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float = GIT_SECONDS,
        writable: Sequence[str] = (),
    ) -> bytes:
        """Run git in the folder and return its output. Raises GitFailed.

        The repository is the one that was found: a `.git` that was replaced since has no effect. Git can change only
        the folders that are `writable`.
        """
        with PrivateGitFolder(self) as private:
            access = GitAccess(self.readable, (private.path, *writable), self.settings)
            variables = {**private.variables, **(env or {})}
            return run_git(self.folder, words, access=access, stdin=stdin, env=variables, seconds=seconds)


def find_repository(folder: str | os.PathLike[str] | None) -> GitRepository | None:
    """Return the repository of a folder; None if it has none, git is missing, or git does not trust its owner.

    A `.git` that leads elsewhere does not count if the repository there has another working tree: a model that writes
    such a file must not make another repository of the user readable.
    """
    if not folder:
        return None
    place = os.path.realpath(folder)
    questions = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
    try:
        output = _ask(place, "rev-parse", *questions)
        settings = _read_settings(_ask(place, "config", "-z", "--list"))
    except GitFailed:
        return None
    lines = output.decode("utf-8", "surrogateescape").splitlines()
    if len(lines) != len(questions):
        return None
    top, git_dir = os.path.realpath(lines[0]), os.path.realpath(lines[1])
    common = os.path.realpath(os.path.join(place, lines[2]))
    if not _is_at(top, place) or not _belongs(top, git_dir, common, settings.get("core.worktree", "")):
        return None
    return GitRepository(
        place,
        top,
        git_dir,
        common,
        settings=_choose_settings(settings, _read_head(git_dir)),
        excludes=_find_excludes(settings.get("core.excludesfile", ""), top),
        object_format="sha256" if lines[3] == "sha256" else "sha1",
        ref_format="reftable" if settings.get("extensions.refstorage") == "reftable" else "files",
    )


def _ask(folder: str, *words: str) -> bytes:
    return run_git(folder, words, access=GitAccess(finds=True), seconds=_FINDING_SECONDS)


def _read_settings(output: bytes) -> dict[str, str]:
    """Read the list of all settings; the last value of each counts."""
    settings: dict[str, str] = {}
    for entry in output.decode("utf-8", "surrogateescape").split("\0"):
        name, line_end, value = entry.partition("\n")
        settings[name] = value if line_end else "true"
    return settings


def _is_at(top: str, place: str) -> bool:
    return os.path.commonpath((top, place)) == top


def _belongs(top: str, git_dir: str, common: str, worktree: str) -> bool:
    """Whether the repository is the one of this working tree, and not one that a file in it points to."""
    if not os.path.lexists(os.path.join(top, ".git")):
        return False  # a bare repository between other files
    if common != git_dir and os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
        return False
    if git_dir == os.path.join(top, ".git") or (_is_at(top, git_dir) and common == git_dir):
        return True
    if worktree and os.path.realpath(os.path.join(git_dir, worktree)) == top:
        return True
    link = _read_line(git_dir, "gitdir")
    if link:
        return os.path.dirname(os.path.realpath(os.path.join(git_dir, link))) == top
    return common == git_dir and not worktree and os.path.basename(git_dir) != ".git"  # `git init --separate-git-dir`


def _choose_settings(settings: Mapping[str, str], head: str) -> tuple[str, ...]:
    """Choose the settings that git gets: how files are compared, and the upstream of the current branch."""
    chosen = [f"{name}={settings[name]}" for name in _COPIED if _WORD.fullmatch(settings.get(name, "-"))]
    if _BRANCH.fullmatch(head) is None:
        return tuple(chosen)
    branch = head.removeprefix("refs/heads/")
    remote, merge = settings.get(f"branch.{branch}.remote", ""), settings.get(f"branch.{branch}.merge", "")
    refs = settings.get(f"remote.{remote}.fetch", "")
    if _REMOTE.fullmatch(remote) and _BRANCH.fullmatch(merge) and _REFS.fullmatch(refs):
        chosen += [
            f"branch.{branch}.remote={remote}",
            f"branch.{branch}.merge={merge}",
            f"remote.{remote}.fetch={refs}",
        ]
    return tuple(chosen)


def _read_head(git_dir: str) -> str:
    """Return the full name of the current branch; empty if there is none."""
    kind, _, name = _read_line(git_dir, "HEAD").partition(" ")
    return name.strip() if kind == "ref:" else ""


def _read_line(folder: str, name: str) -> str:
    return os.fsdecode(read_bounded(os.path.join(folder, name))).strip()


def _find_excludes(configured: str, top: str) -> str:
    """Return the file with the names that the user ignores everywhere; empty if there is none."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.expanduser(configured) if configured else os.path.join(home, "git", "ignore")
    path = os.path.realpath(os.path.join(top, path))
    return path if os.path.isfile(path) else ""


def list_alternates(objects: str) -> tuple[str, ...]:
    """Return the folders of objects that a folder of objects borrows from."""
    waiting, alternates = [objects], list[str]()
    while waiting and len(alternates) < _MOST_ALTERNATES:
        folder = waiting.pop()
        for line in os.fsdecode(read_bounded(os.path.join(folder, "info", "alternates"))).split("\n"):
            place = os.path.realpath(os.path.join(folder, line)) if line and not line.startswith(("#", '"')) else ""
            if os.path.basename(place) == "objects" and os.path.isdir(place) and place not in alternates:
                alternates.append(place)
                waiting.append(place)
    return tuple(alternates[:_MOST_ALTERNATES])
