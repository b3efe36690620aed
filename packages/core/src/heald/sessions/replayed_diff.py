"""Applies the diff of a logged change to the content before it."""

import re

from heald.core.lazy import lazy_pattern
from heald.tools.workspace.diff import diff_body, split_lines

_HUNK = lazy_pattern(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_OPEN = b"\\ No newline"


def replay_diff(content: bytes | None, diff: str) -> bytes | None:
    """Return the content after a change that `unified_diff` described; None if it cannot be derived.

    The caller compares the hash of the result: a diff that was shortened gives another content.
    """
    before = split_lines(content or b"")
    lines = re.split(rb"(?<=\n)", diff_body(diff).encode("utf-8", "surrogateescape"))
    after: list[bytes] = []
    at, mark = 0, b""
    for line in filter(None, lines):
        if (hunk := _HUNK.match(line)) is not None:
            start = int(hunk[1]) - (1 if int(hunk[2] or 1) else 0)
            after += before[at:start]
            at = start
        elif line.startswith(_OPEN):
            if mark == b"+":
                after[-1] = after[-1].removesuffix(b"\n")
            continue
        elif line[:1] == b"+":
            after.append(line[1:])
        elif line[:1] in (b"-", b" "):
            if at >= len(before):
                return None
            after += [before[at]] if line[:1] == b" " else []
            at += 1
        else:
            return None
        mark = line[:1]
    return b"".join([*after, *before[at:]])
