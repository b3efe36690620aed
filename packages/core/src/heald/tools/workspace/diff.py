"""Unified diffs of two contents of a file, bounded in length and time.

The hunks and their numbers depend on the two contents only. Binary content has no hunks.
"""

from collections.abc import Callable, Iterator, Sequence

from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.line_comparison import Block, compare_lines

MAX_DIFF_BYTES = 64 * 1024
_CONTEXT = 3
_CHUNK = 64 * 1024
Run = tuple[bytes, Sequence[bytes]]
"""A prefix (space, `-` or `+`) and its lines."""


def unified_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Return a diff in the format of `patch`; empty if nothing changed. None is a file that does not exist."""
    if old == new:
        return ""
    before, after = old or b"", new or b""
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    if any(b"\0" in content or decode_text(content) is None for content in (before, after)):
        return f"Binary files {names[0]} and {names[1]} differ\n"
    header = f"--- {names[0]}\n+++ {names[1]}\n"
    return _capped(header, _hunks(before, after))


def diff_body(diff: str) -> str:
    """Return a diff of one file without the two lines at its start that name the file.

    Other lines that begin with `---` or `+++` are the removed line `-- …` and the added line `++ …`.
    """
    old, _, rest = diff.partition("\n")
    new, _, body = rest.partition("\n")
    return body if old.startswith("--- ") and new.startswith("+++ ") else diff


def _capped(header: str, runs: Iterator[Run]) -> str:
    marked_lines: list[bytes] = []
    room, left_lines, left_bytes = MAX_DIFF_BYTES - len(header.encode()), 0, 0
    for mark, lines in runs:
        count = 0
        while count < len(lines) and not left_lines and room >= len(marked := marked_line(mark, lines[count])):
            marked_lines.append(marked)
            room -= len(marked)
            count += 1
        left = lines[count:]
        left_lines += len(left)
        left_bytes += sum(map(len, left)) + len(left) * len(mark)
    text = header + b"".join(marked_lines).decode("utf-8")
    return text + f"… {left_lines} more lines ({left_bytes} bytes) of this diff are left out\n" if left_lines else text


def _hunks(before: bytes, after: bytes) -> Iterator[Run]:
    head, tail = _shared(before, after)
    start = before.count(b"\n", 0, head)
    old, new = split_lines(before[head : len(before) - tail]), split_lines(after[head : len(after) - tail])
    above, below = _last_lines(before, head), _first_lines(before, len(before) - tail)
    shift = len(above)
    blocks = [(a1 + shift, a2 + shift, b1 + shift, b2 + shift) for a1, a2, b1, b2 in compare_lines(old, new)]
    old, new = above + old + below, above + new + below
    for group in group_blocks(blocks):
        yield from hunk_runs(old, new, group, start - shift)


def hunk_runs(old: Sequence[bytes], new: Sequence[bytes], group: Sequence[Block], start: int) -> Iterator[Run]:
    a1, b1 = max(group[0][0] - _CONTEXT, 0), max(group[0][2] - _CONTEXT, 0)
    a2, b2 = min(group[-1][1] + _CONTEXT, len(old)), min(group[-1][3] + _CONTEXT, len(new))
    yield b"", [f"@@ -{_range(start + a1, a2 - a1)} +{_range(start + b1, b2 - b1)} @@\n".encode()]
    at = a1
    for removed, removed_end, added, added_end in group:
        yield b" ", old[at:removed]
        yield b"-", old[removed:removed_end]
        yield b"+", new[added:added_end]
        at = removed_end
    yield b" ", old[at:a2]


def marked_line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


def _range(start: int, length: int) -> str:
    """Format a range of a hunk header: an empty range names the line before it; a length of 1 is omitted."""
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def group_blocks(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _shared(a: bytes, b: bytes) -> tuple[int, int]:
    """Return the lengths in bytes of the common prefix and suffix, in whole lines, without overlap."""
    most = min(len(a), len(b))
    head = _agree(most, lambda start, end: a[start:end] == b[start:end])
    head = a.rfind(b"\n", 0, head) + 1
    ends = len(a), len(b)
    tail = _agree(
        most - head, lambda start, end: a[ends[0] - end : ends[0] - start] == b[ends[1] - end : ends[1] - start]
    )
    line = a.find(b"\n", len(a) - tail) if tail else -1
    return head, len(a) - line - 1 if line >= 0 else 0


def _agree(most: int, same: Callable[[int, int], bool]) -> int:
    """Return the largest length up to `most` for which both contents are equal."""
    at = 0
    while at < most and same(at, min(at + _CHUNK, most)):
        at = min(at + _CHUNK, most)
    low, high = at, min(at + _CHUNK, most)
    while low < high:
        middle = (low + high + 1) // 2
        if same(at, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _last_lines(text: bytes, end: int) -> list[bytes]:
    start = end
    for _ in range(_CONTEXT):
        start = text.rfind(b"\n", 0, max(start - 1, 0)) + 1
    return split_lines(text[start:end])


def _first_lines(text: bytes, start: int) -> list[bytes]:
    end = start
    for _ in range(_CONTEXT):
        end = text.find(b"\n", end) + 1 or len(text)
    return split_lines(text[start:end])


def split_lines(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    last = lines.pop()
    lines = [line + b"\n" for line in lines]
    return [*lines, last] if last else lines
