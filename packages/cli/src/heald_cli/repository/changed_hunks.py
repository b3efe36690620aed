"""The uncommitted changes of a repository as numbered hunks, of which a person commits some."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from heald.config.secrets import is_secret
from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.tools.git.program import GitFailed, split_paths
from heald.tools.git.repository import GitRepository

_FILE = lazy_pattern(r"^diff --git ", re.M)
_HUNK = lazy_pattern(r"^(?=@@ )", re.M)
_PLACE = lazy_pattern(r"@@ -\d+(?:,\d+)? \+(\d+)")
_PATHS = (
    lazy_pattern(r"^\+\+\+ (b/.+?|\"b/.+\")\t?$", re.M),
    lazy_pattern(r"^--- (a/.+?|\"a/.+\")\t?$", re.M),
    lazy_pattern(r"^diff --git (a/(.+)) b/\2$", re.M),
    lazy_pattern(r'^diff --git ("a/(.+)") "b/\2"$', re.M),
)
"""Where the head of a file's diff names its path; a path with unusual characters is in quotes."""
_RANGE = lazy_pattern(r"(\d+)(?:-(\d+))?")
_SECRET_FILES = (".env", ".netrc", ".npmrc", ".pypirc", "credentials.json", "id_rsa", "id_ed25519")
_MAX_READ = 1 << 20


class ChangedHunk(msgspec.Struct, frozen=True, kw_only=True):
    """One hunk of a changed file; a new, deleted or binary file is one as a whole."""

    path: str
    text: str
    """The hunk from its `@@` line, as git prints it; the content of a new file with a plus before each line."""
    line: int = 0
    """Its first line in the new file."""
    is_whole: bool = False
    """Whether it is the only hunk of its file."""
    is_untracked: bool = False
    looks_secret: bool = False
    """Whether the file may hold a key or a password, so that it is not chosen by itself."""

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.text.splitlines())

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.text.splitlines())

    def describe(self) -> str:
        """Describe it in one line."""
        place = " (new file)" if self.is_untracked else f":{self.line}" if self.line else ""
        secret = "  looks like a secret: not chosen" if self.looks_secret else ""
        return f"{self.path}{place}  +{self.added} −{self.removed}{secret}"


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A tracked file that changed, with the head of its diff."""

    path: str
    head: str
    hunks: tuple[str, ...]


class UncommittedChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What can be committed."""

    files: tuple[ChangedFile, ...]
    hunks: tuple[ChangedHunk, ...]
    """Numbered from 1, in the order of the files."""
    is_staged: bool
    """Whether these are the changes of the index, because something is staged."""

    @property
    def default_numbers(self) -> frozenset[int]:
        return frozenset(number for number, hunk in enumerate(self.hunks, 1) if not hunk.looks_secret)

    def diff(self, numbers: Collection[int]) -> str:
        """Return the diff of some hunks, for a reader."""
        parts: list[str] = []
        path = ""
        for number in sorted(numbers):
            hunk = self.hunks[number - 1]
            if hunk.path != path:
                path = hunk.path
                parts.append(f"--- {path}\n" if not hunk.is_untracked else f"--- {path} (new file)\n")
            parts.append(hunk.text if hunk.text.endswith("\n") else f"{hunk.text}\n")
        return "".join(parts)

    def whole_paths(self, numbers: Collection[int]) -> list[str]:
        """Return the files of which all hunks are chosen."""
        return [path for path, hunks in self._by_path() if set(hunks) <= set(numbers)]

    def patch(self, numbers: Collection[int], *, partial_only: bool) -> str:
        """Return the chosen hunks for `git apply`; with `partial_only`, only those of files that are not whole."""
        whole = set(self.whole_paths(numbers)) if partial_only else set[str]()
        at = 1
        parts: list[str] = []
        for file in self.files:
            count = max(len(file.hunks), 1)
            chosen = [number for number in range(at, at + count) if number in numbers]
            if chosen and file.path not in whole:
                parts += [file.head, *(file.hunks[number - at] for number in chosen if file.hunks)]
            at += count
        return "".join(parts)

    def _by_path(self) -> Iterator[tuple[str, list[int]]]:
        numbers: dict[str, list[int]] = {}
        for number, hunk in enumerate(self.hunks, 1):
            numbers.setdefault(hunk.path, []).append(number)
        yield from numbers.items()


def read_changes(repository: GitRepository) -> UncommittedChanges:
    """Read what can be committed: the index if something is staged, otherwise all changes and new files.

    Raises ConfigurationError for files with conflicts.
    """
    status = repository.run("status", "--porcelain=v1", "-z", "--untracked-files=no")
    marks = [os.fsdecode(entry)[:2] for entry in status.split(b"\0") if entry]
    if any("U" in mark or mark in ("AA", "DD") for mark in marks):
        raise ConfigurationError("Some files have conflicts; resolve them and `git add` them first.")
    staged = _diff(repository, "--cached")
    if staged:
        files = _split_files(staged)
        return UncommittedChanges(files=files, hunks=tuple(_hunks_of(files)), is_staged=True)
    files = _split_files(_diff(repository, "HEAD"))
    return UncommittedChanges(files=files, hunks=(*_hunks_of(files), *read_untracked(repository)), is_staged=False)


def parse_selection(text: str, count: int) -> frozenset[int]:
    """Read numbers such as `1,3-5`. Raises ConfigurationError."""
    numbers: set[int] = set()
    for part in text.replace(" ", ",").split(","):
        if not part:
            continue
        span = _RANGE.fullmatch(part)
        first, last = (int(span[1]), int(span[2] or span[1])) if span is not None else (0, 0)
        if not 1 <= first <= last <= count:
            raise ConfigurationError(f"{part[:20]!r} is not a hunk; there are 1 to {count}, as in 1,3-5.")
        numbers |= set(range(first, last + 1))
    if not numbers:
        raise ConfigurationError("No hunk is chosen.")
    return frozenset(numbers)


def _diff(repository: GitRepository, what: str) -> str:
    words = ("diff", "--no-color", "--no-renames", "--full-index", "--binary", "--src-prefix=a/", "--dst-prefix=b/")
    try:
        return repository.run(*words, what, "--").decode("utf-8", "surrogateescape")
    except GitFailed:
        return ""  # there is no commit yet


def _split_files(diff: str) -> tuple[ChangedFile, ...]:
    starts = [match.start() for match in _FILE.finditer(diff)]
    return tuple(_parse_file(diff[start:end]) for start, end in pairwise([*starts, len(diff)]))


def _parse_file(section: str) -> ChangedFile:
    head, *hunks = _HUNK.split(section)
    return ChangedFile(path=read_path(head), head=head, hunks=tuple(hunks))


def read_path(head: str) -> str:
    """Return the path in the head of a file's diff, the new one if there is one; empty if it names none."""
    named = next((match for pattern in _PATHS if (match := pattern.search(head)) is not None), None)
    if named is None:
        return ""
    path = named[1]
    if path.startswith('"'):  # with escapes
        raw = path[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape")
        path = os.fsdecode(raw.encode("latin-1"))
    return path[2:]  # without a/ or b/


def _hunks_of(files: Sequence[ChangedFile]) -> Iterator[ChangedHunk]:
    for file in files:
        if not file.hunks:
            yield ChangedHunk(path=file.path, text=_describe_head(file.head), is_whole=True)
        for text in file.hunks:
            place = _PLACE.match(text)
            line = int(place[1]) if place is not None else 0
            yield ChangedHunk(path=file.path, text=text, line=line, is_whole=len(file.hunks) == 1)


def _describe_head(head: str) -> str:
    """Describe a change without lines: of a binary file, a mode or an empty file."""
    words = ("new file", "deleted file", "old mode", "new mode", "GIT binary patch")
    return "".join(f"({line})\n" for line in head.splitlines() if line.startswith(words))


def read_untracked(repository: GitRepository) -> Iterator[ChangedHunk]:
    """Read the new files that git does not ignore, each as one hunk."""
    try:
        output = repository.run("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/")
    except GitFailed:
        return
    for path in split_paths(output):
        text = _read_text(Path(repository.top, path))
        looks_secret = path.rpartition("/")[2].startswith(_SECRET_FILES) or is_secret(text)
        lines = "".join(f"+{line}\n" for line in text.removesuffix("\n").split("\n")) if text else ""
        yield ChangedHunk(path=path, text=lines, is_whole=True, is_untracked=True, looks_secret=looks_secret)


def _read_text(path: Path) -> str:
    """Return the text of a file; nothing of one that is large, binary or not a file."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_READ:
            return ""
        content = path.read_bytes()
    except OSError:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", "replace")
