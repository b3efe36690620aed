"""A unified diff of two contents of one file, bounded in length and in time.

What both share at the start and at the end is cut off first. The rest is compared by Myers' greedy algorithm
(https://doi.org/10.1007/BF01840446) within a budget of steps; beyond it the whole rest counts as replaced.
"""

from collections.abc import Callable, Iterator, Sequence

from weft.tools.workspace.text import decoded

MAX_DIFF_BYTES = 64 * 1024
_CONTEXT = 3
_MAX_LINES = 100_000
_MAX_STEPS = 400_000
_CHUNK = 64 * 1024

Block = tuple[int, int, int, int]
"""Lines `[a1, a2)` of the old text became lines `[b1, b2)` of the new one."""

Run = tuple[bytes, Sequence[bytes]]
"""A mark, and the lines that have it."""


def unified(path: str, old: bytes | None, new: bytes | None) -> str:
    """The change as `patch` would take it; empty if there is none. None stands for a file that does not exist."""
    if old == new:
        return ""
    before, after = old or b"", new or b""
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    if any(b"\0" in content or decoded(content) is None for content in (before, after)):
        return f"Binary files {names[0]} and {names[1]} differ\n"
    header = f"--- {names[0]}\n+++ {names[1]}\n"
    return _capped(header, _hunks(before, after))


def _capped(header: str, runs: Iterator[Run]) -> str:
    kept: list[bytes] = []
    room, left_lines, left_bytes = MAX_DIFF_BYTES - len(header.encode()), 0, 0
    for mark, lines in runs:
        taken = 0
        while taken < len(lines) and not left_lines and room >= len(marked := marked_line(mark, lines[taken])):
            kept.append(marked)
            room -= len(marked)
            taken += 1
        left = lines[taken:]
        left_lines += len(left)
        left_bytes += sum(map(len, left)) + len(left) * len(mark)
    text = header + b"".join(kept).decode("utf-8")
    return text + f"… {left_lines} more lines ({left_bytes} bytes) of this diff are left out\n" if left_lines else text


def _hunks(before: bytes, after: bytes) -> Iterator[Run]:
    head, tail = _shared(before, after)
    start = before.count(b"\n", 0, head)
    old, new = lines_of(before[head : len(before) - tail]), lines_of(after[head : len(after) - tail])
    above, below = _last_lines(before, head), _first_lines(before, len(before) - tail)
    shift = len(above)
    blocks = [(a1 + shift, a2 + shift, b1 + shift, b2 + shift) for a1, a2, b1, b2 in blocks_of(old, new)]
    old, new = above + old + below, above + new + below
    for group in groups_of(blocks):
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
    """Of a hunk's header: an empty range names the line before it, and a length of 1 is left out."""
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def groups_of(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def blocks_of(old: Sequence[bytes], new: Sequence[bytes]) -> Sequence[Block]:
    ids: dict[bytes, int] = {}
    if len(old) + len(new) <= _MAX_LINES:
        a = [ids.setdefault(line, len(ids)) for line in old]
        b = [ids.setdefault(line, len(ids)) for line in new]
        trace = _trace(a, b)
        if trace is not None:
            return _walk_back(trace, len(a), len(b))
    return [_replaced(old, new)]


def _replaced(old: Sequence[bytes], new: Sequence[bytes]) -> Block:
    """One block for all that lies between the shared first and last lines."""
    shorter, first, last = min(len(old), len(new)), 0, 0
    while first < shorter and old[first] == new[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, len(old) - last, first, len(new) - last


def _trace(a: Sequence[int], b: Sequence[int]) -> list[dict[int, int]] | None:
    """How far each diagonal reaches with 0, 1, 2, … edits; None if the budget ran out."""
    n, m, steps = len(a), len(b), 0
    reach, trace = {1: 0}, list[dict[int, int]]()
    for edits in range(n + m + 1):
        trace.append(dict(reach))
        steps += 2 * edits + 1
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1))
            x = reach[k + 1] if down else reach[k - 1] + 1
            start = x
            while x < n and x - k < m and a[x] == b[x - k]:
                x += 1
            steps += x - start
            reach[k] = x
            if x >= n and x - k >= m:
                return trace
        if steps > _MAX_STEPS:
            return None
    return None


def _walk_back(trace: Sequence[dict[int, int]], x: int, y: int) -> Sequence[Block]:
    blocks: list[Block] = []
    for edits in range(len(trace) - 1, 0, -1):
        reach, k = trace[edits], x - y
        down = k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1))
        k = k + 1 if down else k - 1
        x = reach[k]
        y = x - k
        block = (x, x, y, y + 1) if down else (x, x + 1, y, y)
        if blocks and block[1] == blocks[-1][0] and block[3] == blocks[-1][2]:
            block = (block[0], blocks[-1][1], block[2], blocks.pop()[3])
        blocks.append(block)
    blocks.reverse()
    return blocks


def _shared(a: bytes, b: bytes) -> tuple[int, int]:
    """How many bytes of whole lines both begin with, and how many of what follows they end with."""
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
    """The largest length up to `most` for which all that lies before it is the same."""
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
    return lines_of(text[start:end])


def _first_lines(text: bytes, start: int) -> list[bytes]:
    end = start
    for _ in range(_CONTEXT):
        end = text.find(b"\n", end) + 1 or len(text)
    return lines_of(text[start:end])


def lines_of(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    last = lines.pop()
    lines = [line + b"\n" for line in lines]
    return [*lines, last] if last else lines
