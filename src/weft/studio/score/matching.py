"""Which block of the rendering is which block of the target.

Pairs are assigned by the likeness of their texts; among equals (twelve buttons that say the same) the nearer ones go
together. Where one side has in two blocks what the other has in one, the two are joined, as long as that makes the
match better.
"""

from collections.abc import Sequence

import msgspec

from weft.studio.score.assignment import assign
from weft.studio.score.block import Block, joined
from weft.studio.score.similarity import similarity

Size = tuple[int, int]
"""Width and height of the picture that blocks lie in."""

_NEARNESS = 0.05
"""What being in the same place counts, against 1 for the same text."""
_GAIN = 0.05
_ROUNDS = 12


class Pair(msgspec.Struct, frozen=True):
    target: Block
    rendered: Block
    text: float
    """Likeness of the texts."""
    position: float
    """1 less the larger of the two distances of the centres, in widths and heights of the pictures."""


class Matching(msgspec.Struct, frozen=True):
    pairs: tuple[Pair, ...]
    missing: tuple[Block, ...]
    """Of the target, not in the rendering."""
    extra: tuple[Block, ...]
    """Of the rendering, not in the target."""


def match(target: Sequence[Block], rendered: Sequence[Block], target_size: Size, rendered_size: Size) -> Matching:
    mine, yours = list(target), list(rendered)
    sizes = target_size, rendered_size
    chosen = _chosen(mine, yours, sizes)
    for _ in range(_ROUNDS):
        best = _likeness(mine, yours, chosen)
        mine, first = _joined_where_better(mine, yours, best[0], best[1])
        if first:
            chosen = _chosen(mine, yours, sizes)
            best = _likeness(mine, yours, chosen)
        yours, second = _joined_where_better(yours, mine, best[1], best[0])
        if not first and not second:
            break
        chosen = _chosen(mine, yours, sizes)
    pairs = tuple(
        Pair(mine[i], yours[j], similarity(mine[i].text, yours[j].text), nearness(mine[i], yours[j], *sizes))
        for i, j in sorted(chosen.items())
    )
    taken = set(chosen.values())
    return Matching(
        pairs,
        tuple(block for i, block in enumerate(mine) if i not in chosen),
        tuple(block for j, block in enumerate(yours) if j not in taken),
    )


def nearness(one: Block, other: Block, one_size: Size, other_size: Size) -> float:
    """1 for the same place, 0 for opposite ends. Each centre is taken in widths and heights of its own picture."""
    (x1, y1), (x2, y2) = one.centre, other.centre
    across = abs(x1 / one_size[0] - x2 / other_size[0])
    down = abs(y1 / one_size[1] - y2 / other_size[1])
    return max(0.0, 1 - max(across, down))


def _chosen(mine: Sequence[Block], yours: Sequence[Block], sizes: tuple[Size, Size]) -> dict[int, int]:
    weights: dict[tuple[int, int], float] = {}
    for i, one in enumerate(mine):
        for j, other in enumerate(yours):
            alike = similarity(one.text, other.text)
            if alike:
                weights[i, j] = alike + _NEARNESS * nearness(one, other, *sizes)
    return assign(weights)


def _likeness(mine: Sequence[Block], yours: Sequence[Block], chosen: dict[int, int]) -> tuple[list[float], list[float]]:
    """How well each block of either side is matched."""
    of_mine, of_yours = [0.0] * len(mine), [0.0] * len(yours)
    for i, j in chosen.items():
        of_mine[i] = of_yours[j] = similarity(mine[i].text, yours[j].text)
    return of_mine, of_yours


def _joined_where_better(
    blocks: list[Block], others: Sequence[Block], matched: Sequence[float], others_matched: Sequence[float]
) -> tuple[list[Block], bool]:
    """Join neighbours whose texts together are more like one block of the other side than anything is now."""
    gains: list[tuple[float, int, int]] = []
    for i, first in enumerate(blocks):
        if matched[i] == 1.0:
            continue
        for k in range(max(0, i - 8), min(len(blocks), i + 9)):
            if k == i or matched[k] == 1.0 or not _follows(first, blocks[k]):
                continue
            text = f"{first.text} {blocks[k].text}"
            now = max(matched[i], matched[k])
            gain = max(
                (similarity(text, other.text) - max(now, others_matched[j]) for j, other in enumerate(others)),
                default=0.0,
            )
            if gain > _GAIN:
                gains.append((gain, i, k))
    merged: dict[int, Block] = {}
    gone: set[int] = set()
    for _, i, k in sorted(gains, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if not {i, k} & (gone | set(merged)):
            merged[i] = joined(blocks[i], blocks[k])
            gone.add(k)
    kept = [merged.get(i, block) for i, block in enumerate(blocks) if i not in gone]
    return kept, bool(merged)


def _follows(first: Block, second: Block) -> bool:
    """Whether the second is read right after the first: beside it on the line, or on the line below."""
    line = min(first.h / first.lines, second.h / second.lines)
    down = second.y - (first.y + first.h)
    across = max(second.x - (first.x + first.w), first.x - (second.x + second.w))
    if down > -0.5 * line:
        return down < 2 * line and across < 0
    return abs(second.y - first.y) < line and second.x > first.x and across < 3 * line
