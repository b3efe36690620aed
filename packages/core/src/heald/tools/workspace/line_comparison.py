"""Compares two lists of lines by the greedy algorithm of Myers (https://doi.org/10.1007/BF01840446), in bounded steps.

The common prefix and suffix are removed first. Beyond the budget the whole rest counts as replaced.
"""

from collections.abc import Sequence

_MAX_LINES = 100_000
_MAX_STEPS = 400_000
Block = tuple[int, int, int, int]
"""Lines `[a1, a2)` of the old text became lines `[b1, b2)` of the new one."""


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
