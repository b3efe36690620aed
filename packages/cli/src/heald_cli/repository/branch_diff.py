"""The changes of a branch since it left another one, with the line numbers that comments refer to."""

import re

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import GitRepository
from heald_cli.repository.changed_hunks import ChangedHunk, read_path, read_untracked

RANGE = lazy_pattern(r"(?!-)([\w./~^@{}-]+)\.\.\.?(?!-)([\w./~^@{}-]*)", re.A)
"""A range of commits: `main..` or `main..topic`."""
_HUNK = lazy_pattern(r"@@ -\d+(?:,\d+)? \+(\d+)")
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")


class NumberedDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of one file."""

    path: str
    """Its path in the new state; empty if git names none, as for a binary file."""
    text: str
    """The diff, each line with its number in the new file."""
    added: frozenset[int]
    """The numbers of added lines, at which forges show comments."""
    lines: frozenset[int]
    """The numbers of all lines of the new file that the diff has."""


def read_branch_diff(repository: GitRepository, commits: str) -> str:
    """Return what the commits of a range changed since both ends had a common commit, each line with its number in the
    new file. Raises ConfigurationError if git does not know the range."""
    return number_lines(_read_range(repository, commits))


def read_file_diffs(repository: GitRepository, commits: str = "") -> list[NumberedDiff]:
    """Return the changes of a range of commits by file; without a range, those that are not committed, with new
    files that do not look like a secret. Raises ConfigurationError."""
    if commits:
        return split_files(_read_range(repository, commits))
    try:
        tracked = repository.run(*_DIFF, "HEAD", "--").decode("utf-8", "replace")
    except GitFailed as error:
        raise ConfigurationError(f"The changes cannot be read: {error}") from None
    new = [hunk for hunk in read_untracked(repository) if not hunk.looks_secret]
    return [*split_files(tracked), *(_number_new_file(hunk) for hunk in new)]


def last_commit(repository: GitRepository, commits: str) -> str:
    """Return the commit that a range ends with. Raises ConfigurationError."""
    _, end = _ends(commits)
    try:
        return repository.run("rev-parse", "--verify", f"{end or 'HEAD'}^{{commit}}").decode().strip()
    except GitFailed as error:
        raise ConfigurationError(f"The last commit of {commits} cannot be read: {error}") from None


def _number_new_file(hunk: ChangedHunk) -> NumberedDiff:
    lines = hunk.text.removesuffix("\n").split("\n") if hunk.text else []
    head = ["--- /dev/null", f"+++ b/{hunk.path}", f"@@ -0,0 +1,{len(lines)} @@"]
    return _number_file([f"diff --git a/{hunk.path} b/{hunk.path}", "new file", *head, *lines])


def _read_range(repository: GitRepository, commits: str) -> str:
    start, end = _ends(commits)
    try:
        return repository.run(*_DIFF, f"{start}...{end}", "--").decode("utf-8", "replace")
    except GitFailed as error:
        raise ConfigurationError(f"The changes of {commits} cannot be read: {error}") from None


def _ends(commits: str) -> tuple[str, str]:
    """The names of the two ends of a range."""
    ends = RANGE.fullmatch(commits)
    if ends is None:
        raise ConfigurationError(f"{commits[:60]!r} is not a range of commits; main.. is one.")
    return ends[1], ends[2]


def number_lines(diff: str) -> str:
    """Write before each line of a unified diff its number in the new file; a removed line has none."""
    return "\n".join(file.text for file in split_files(diff))


def split_files(diff: str) -> list[NumberedDiff]:
    """Split a unified diff of git into files, and number the lines."""
    sections: list[list[str]] = []
    for line in diff.removesuffix("\n").split("\n") if diff else []:
        if line.startswith("diff ") or not sections:
            sections.append([])
        sections[-1].append(line)
    return [_number_file(section) for section in sections]


def _number_file(section: list[str]) -> NumberedDiff:
    path, number = "", None
    rows: list[str] = []
    added: set[int] = set()
    lines: set[int] = set()
    for line in (text.rstrip("\r") for text in section):
        if (hunk := _HUNK.match(line)) is not None:
            number = int(hunk[1])
            rows.append(line)
        elif number is None:
            if line.startswith("+++ ") and line != "+++ /dev/null":
                path = read_path(line)
                line = f"+++ b/{path}"  # without escapes, as comments name it
            rows.append(line)
        elif line[:1] in ("+", " "):
            rows.append(f"{number:>5} {line}")
            lines.add(number)
            if line[0] == "+":
                added.add(number)
            number += 1
        else:
            rows.append(f"{'':>5} {line}")
    return NumberedDiff(path=path, text="\n".join(rows), added=frozenset(added), lines=frozenset(lines))
