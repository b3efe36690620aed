"""Unified diffs of two contents of a file, and their hunks, bounded in length and time.

The common prefix and suffix are removed first. The rest is compared by Myers' greedy algorithm
(https://doi.org/10.1007/BF01840446) within a budget of steps; beyond it the whole rest counts as replaced. The hunks
and their numbers depend on the two contents only. Binary content has no hunks.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from weft.tools.workspace.base import decode_text

MAX_DIFF_BYTES = 64 * 1024
_CONTEXT = 3
_MAX_LINES = 100_000
_MAX_STEPS = 400_000
_CHUNK = 64 * 1024

Block = tuple[int, int, int, int]
"""Lines `[a1, a2)` of the old text became lines `[b1, b2)` of the new one."""

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


def _capped(header: str, runs: Iterator[Run]) -> str:
    shown: list[bytes] = []
    room, left_lines, left_bytes = MAX_DIFF_BYTES - len(header.encode()), 0, 0
    for mark, lines in runs:
        count = 0
        while count < len(lines) and not left_lines and room >= len(marked := marked_line(mark, lines[count])):
            shown.append(marked)
            room -= len(marked)
            count += 1
        left = lines[count:]
        left_lines += len(left)
        left_bytes += sum(map(len, left)) + len(left) * len(mark)
    text = header + b"".join(shown).decode("utf-8")
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


def compare_lines(old: Sequence[bytes], new: Sequence[bytes]) -> Sequence[Block]:
    ids: dict[bytes, int] = {}
    if len(old) + len(new) <= _MAX_LINES:
        a = [ids.setdefault(line, len(ids)) for line in old]
        b = [ids.setdefault(line, len(ids)) for line in new]
        trace = _trace(a, b)
        if trace is not None:
            return _walk_back(trace, len(a), len(b))
    return [_replaced(old, new)]


def _replaced(old: Sequence[bytes], new: Sequence[bytes]) -> Block:
    """Return one block for everything between the common first and last lines."""
    shorter, first, last = min(len(old), len(new)), 0, 0
    while first < shorter and old[first] == new[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, len(old) - last, first, len(new) - last


def _trace(a: Sequence[int], b: Sequence[int]) -> list[dict[int, int]] | None:
    """Return how far each diagonal reaches with 0, 1, 2, … edits; None if the budget is exceeded."""
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


MAX_HUNK_BYTES = 32 * 1024
"""Maximum bytes of the text of one hunk. A longer one is shown in part, but applied or reverted as a whole."""


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """One hunk of a diff."""

    text: str
    """The hunk in the format of `patch`, from its `@@` line, shortened."""
    added: int
    removed: int


def split_hunks(old: bytes | None, new: bytes | None) -> list[Hunk] | None:
    """Return the hunks between two contents in order; None if one of them is not text."""
    if not _is_text(old) or not _is_text(new):
        return None
    before, after = split_lines(old or b""), split_lines(new or b"")
    return [_hunk(before, after, group) for group in group_blocks(compare_lines(before, after))]


def apply_selected_hunks(old: bytes | None, new: bytes | None, selected: Collection[int]) -> bytes | None:
    """Apply the hunks of these numbers to the old content. All of them give the new content, none the old one.

    Raises IndexError for an unknown number.
    """
    before, after = split_lines(old or b""), split_lines(new or b"")
    groups = list(group_blocks(compare_lines(before, after)))
    unknown = next((number for number in selected if not 0 <= number < len(groups)), None)
    if unknown is not None:
        raise IndexError(unknown)
    if len(set(selected)) == len(groups):
        return new
    return b"".join(_select_lines(before, after, groups, selected)) if selected else old


def _select_lines(
    before: Sequence[bytes], after: Sequence[bytes], groups: Sequence[Sequence[Block]], selected: Collection[int]
) -> Iterator[bytes]:
    at = 0
    for number, group in enumerate(groups):
        for old_start, old_end, new_start, new_end in group:
            yield from before[at:old_start]
            yield from after[new_start:new_end] if number in selected else before[old_start:old_end]
            at = old_end
    yield from before[at:]


def _hunk(before: Sequence[bytes], after: Sequence[bytes], group: Sequence[Block]) -> Hunk:
    shown, room, left = list[bytes](), MAX_HUNK_BYTES, 0
    for mark, lines in hunk_runs(before, after, group, 0):
        for line in lines:
            marked = marked_line(mark, line)
            room -= len(marked)
            if room >= 0:
                shown.append(marked)
            else:
                left += 1
    text = b"".join(shown).decode()
    return Hunk(
        text=f"{text}… {left} more lines are left out\n" if left else text,
        added=sum(new_end - new_start for _, _, new_start, new_end in group),
        removed=sum(old_end - old_start for old_start, old_end, _, _ in group),
    )


def _is_text(content: bytes | None) -> bool:
    return content is None or (b"\0" not in content and decode_text(content) is not None)
