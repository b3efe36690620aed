"""Unified diffs that a model writes as its answer. One that is not complete is text."""

from collections.abc import Sequence

from heald.core.lazy import lazy_pattern

DIFF_LANGUAGES = frozenset({"diff", "patch", "udiff"})
_RANGE = lazy_pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FIRST = lazy_pattern(r"diff --git |--- \S|@@ -\d")


def begins_diff(line: str) -> bool:
    """Return whether the first line of a block begins a diff."""
    return _FIRST.match(line) is not None


def read_diff(lines: Sequence[str], path: str | None) -> str | None:
    """Return the diff of a closed block, with the path in its header. None if a hunk has not the lines that its header
    counts, so that a part of it may be missing, or if no file is named."""
    hunks = 0
    old = new = 0  # lines that the open hunk still needs
    has_header = False
    for line in lines:
        header = _RANGE.match(line)
        if old <= 0 and new <= 0:
            if header is not None:
                old, new = (int(count) if count is not None else 1 for count in header.groups())
                hunks += 1
            elif line.startswith("+++ "):
                has_header = True
            elif line[:1] in ("+", "-", " ") and not line.startswith("--- ") and hunks and line.strip():
                return None
            continue
        if header is not None:
            return None
        old -= line[:1] != "+" and line[:1] != "\\"
        new -= line[:1] != "-" and line[:1] != "\\"
        if old < 0 or new < 0:
            return None
    if not hunks or old > 0 or new > 0 or not (has_header or path):
        return None
    head = [] if has_header else [f"--- a/{path}", f"+++ b/{path}"]
    return "\n".join([*head, *lines]) + "\n"
