"""Matches the text blocks of a rendering to those of the target."""

from collections.abc import Sequence

import msgspec

from heald_studio.score.assignment import assign_pairs
from heald_studio.score.blocks import Block, join_blocks
from heald_studio.score.text_similarity import text_similarity

Size = tuple[int, int]
"""Width and height of a picture."""

_NEARNESS = 0.05
"""The weight of the position, against 1 for the text."""
_GAIN = 0.05
_ROUNDS = 12


class Pair(msgspec.Struct, frozen=True):
    target: Block
    rendered: Block
    text: float
    """The similarity of the texts."""
    position: float
    """1 minus the larger distance of the centres, in widths and heights of the pictures."""


class Matching(msgspec.Struct, frozen=True):
    pairs: tuple[Pair, ...]
    missing: tuple[Block, ...]
    """Blocks of the target that the rendering lacks."""
    extra: tuple[Block, ...]
    """Blocks of the rendering that the target lacks."""


def match_blocks(
    target: Sequence[Block], rendered: Sequence[Block], target_size: Size, rendered_size: Size
) -> Matching:
    mine, yours = list(target), list(rendered)
    sizes = target_size, rendered_size
    chosen = _assign_blocks(mine, yours, sizes)
    for _ in range(_ROUNDS):
        best = _match_quality(mine, yours, chosen)
        mine, first = _join_where_better(mine, yours, best[0], best[1])
        if first:
            chosen = _assign_blocks(mine, yours, sizes)
            best = _match_quality(mine, yours, chosen)
        yours, second = _join_where_better(yours, mine, best[1], best[0])
        if not first and not second:
            break
        chosen = _assign_blocks(mine, yours, sizes)
    pairs = tuple(
        Pair(mine[i], yours[j], text_similarity(mine[i].text, yours[j].text), nearness(mine[i], yours[j], *sizes))
        for i, j in sorted(chosen.items())
    )
    matched = set(chosen.values())
    return Matching(
        pairs,
        tuple(block for i, block in enumerate(mine) if i not in chosen),
        tuple(block for j, block in enumerate(yours) if j not in matched),
    )


def nearness(block: Block, other: Block, one_size: Size, other_size: Size) -> float:
    """Return 1 for the same position, 0 for opposite ends, measured in widths and heights of each picture."""
    (x1, y1), (x2, y2) = block.centre, other.centre
    across = abs(x1 / one_size[0] - x2 / other_size[0])
    down = abs(y1 / one_size[1] - y2 / other_size[1])
    return max(0.0, 1 - max(across, down))


def _assign_blocks(mine: Sequence[Block], yours: Sequence[Block], sizes: tuple[Size, Size]) -> dict[int, int]:
    weights: dict[tuple[int, int], float] = {}
    for i, block in enumerate(mine):
        for j, other in enumerate(yours):
            alike = text_similarity(block.text, other.text)
            if alike:
                weights[i, j] = alike + _NEARNESS * nearness(block, other, *sizes)
    return assign_pairs(weights)


def _match_quality(
    mine: Sequence[Block], yours: Sequence[Block], chosen: dict[int, int]
) -> tuple[list[float], list[float]]:
    """Return how well each block of either side is matched."""
    of_mine, of_yours = [0.0] * len(mine), [0.0] * len(yours)
    for i, j in chosen.items():
        of_mine[i] = of_yours[j] = text_similarity(mine[i].text, yours[j].text)
    return of_mine, of_yours


def _join_where_better(
    blocks: list[Block], others: Sequence[Block], matched: Sequence[float], others_matched: Sequence[float]
) -> tuple[list[Block], bool]:
    """Join neighbours whose joined text matches a block of the other side better than any match so far."""
    gains: list[tuple[float, int, int]] = []
    for i, first in enumerate(blocks):
        if matched[i] == 1.0:
            continue
        for k in range(max(0, i - 8), min(len(blocks), i + 9)):
            if k == i or matched[k] == 1.0 or not _is_read_after(first, blocks[k]):
                continue
            text = f"{first.text} {blocks[k].text}"
            now = max(matched[i], matched[k])
            gain = max(
                (text_similarity(text, other.text) - max(now, others_matched[j]) for j, other in enumerate(others)),
                default=0.0,
            )
            if gain > _GAIN:
                gains.append((gain, i, k))
    merged: dict[int, Block] = {}
    absorbed: set[int] = set()
    for _, i, k in sorted(gains, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if not {i, k} & (absorbed | set(merged)):
            merged[i] = join_blocks(blocks[i], blocks[k])
            absorbed.add(k)
    joined = [merged.get(i, block) for i, block in enumerate(blocks) if i not in absorbed]
    return joined, bool(merged)


def _is_read_after(first: Block, second: Block) -> bool:
    """Whether the second block is read after the first: beside it on the line, or on the line below."""
    line = min(first.h / first.lines, second.h / second.lines)
    down = second.y - (first.y + first.h)
    across = max(second.x - (first.x + first.w), first.x - (second.x + second.w))
    if down > -0.5 * line:
        return down < 2 * line and across < 0
    return abs(second.y - first.y) < line and second.x > first.x and across < 3 * line
