"""Fences of Markdown: which lines open and close a block, and where a block ends that holds blocks itself."""

import re
from collections.abc import Sequence

import msgspec

from heald.core.lazy import lazy_pattern

_FENCE = lazy_pattern(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$")
_MOST_INDENTATION = 3


class Fence(msgspec.Struct, frozen=True):
    """A line of backticks or tildes. `info` is the text behind them, such as a language."""

    marks: str
    info: str
    indentation: int

    def closes(self, opener: "Fence") -> bool:
        """Whether it ends the block of an opening fence: the same mark, at least as often, and nothing else."""
        return (
            not self.info
            and self.marks.startswith(opener.marks)
            and self.indentation - opener.indentation <= _MOST_INDENTATION
        )


def read_fence(line: str) -> Fence | None:
    """Return the fence in a line; None if it is another line."""
    match = _FENCE.match(line.rstrip("\r\n"))
    return None if match is None else Fence(match[2], match[3].strip(), len(match[1].expandtabs(4)))


def opens_block(line: str) -> Fence | None:
    """Return the fence of a line that opens a block. One that is indented further is code."""
    fence = read_fence(line)
    return fence if fence is not None and fence.indentation <= _MOST_INDENTATION else None


def holds_fences(text: str) -> bool:
    """Return whether a file has blocks of its own."""
    return re.search(r"^[ \t]{0,3}(?:`{3}|~{3})", text, re.M) is not None


def find_closing_lines(lines: Sequence[str], opener: Fence) -> list[int]:
    """Return the lines at which a block may end, if the blocks before and behind the line are to be complete."""
    closing: list[int] = []
    for at, line in enumerate(lines):
        fence = read_fence(line)
        if fence is None or not fence.closes(opener):
            continue
        if is_balanced(lines[:at]) and is_balanced(lines[at + 1 :]):
            closing.append(at)
    return closing


def is_balanced(lines: Sequence[str]) -> bool:
    """Return whether every block that the lines open is closed."""
    inner: Fence | None = None
    for line in lines:
        fence = read_fence(line)
        if fence is None:
            continue
        if inner is None:
            inner = fence
        elif fence.closes(inner):
            inner = None
    return inner is None
