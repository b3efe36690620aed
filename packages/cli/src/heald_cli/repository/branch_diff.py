"""The changes of a branch since it left another one, with the line numbers that comments refer to."""

import re

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import GitRepository

RANGE = lazy_pattern(r"(?!-)([\w./~^@{}-]+)\.\.\.?(?!-)([\w./~^@{}-]*)", re.A)
"""A range of commits: `main..` or `main..topic`."""
_HUNK = lazy_pattern(r"@@ -\d+(?:,\d+)? \+(\d+)")


def read_branch_diff(repository: GitRepository, commits: str) -> str:
    """Return what the commits of a range changed since both ends had a common commit, each line with its number in the
    new file. Raises ConfigurationError if git does not know the range."""
    ends = RANGE.fullmatch(commits)
    if ends is None:
        raise ConfigurationError(f"{commits[:60]!r} is not a range of commits; main.. is one.")
    try:
        diff = repository.run("diff", "--no-color", "--no-ext-diff", "--no-textconv", f"{ends[1]}...{ends[2]}", "--")
    except GitFailed as error:
        raise ConfigurationError(f"The changes of {commits} cannot be read: {error}") from None
    return number_lines(diff.decode("utf-8", "replace"))


def number_lines(diff: str) -> str:
    """Write before each line of a unified diff its number in the new file; a removed line has none."""
    lines: list[str] = []
    number: int | None = None
    for line in diff.splitlines():
        if (hunk := _HUNK.match(line)) is not None:
            number = int(hunk[1])
        elif line.startswith("diff "):
            number = None
        elif number is not None and line[:1] in ("+", " "):
            lines.append(f"{number:>5} {line}")
            number += 1
            continue
        elif number is not None:
            lines.append(f"{'':>5} {line}")
            continue
        lines.append(line)
    return "\n".join(lines)
