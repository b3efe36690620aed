"""Matches the text blocks of a rendering to those of the target, and describes where two pictures differ, in sentences
that a person or a model can act on."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from weft.core.design_request import DifferenceKind, PageDifference
from weft.studio.browser.page import TextBlock
from weft.studio.score.blocks import Block, Pixels, colour_distance, css_colour, join_blocks, text_similarity

Weights = Mapping[tuple[int, int], float]
"""The weight, above 0, of each pair (row, column) that may be chosen."""


def assign_pairs(weights: Weights) -> dict[int, int]:
    """Solve the assignment problem: choose pairs with the largest sum of weights.

    The problem falls into independent parts; each is solved by the Hungarian method with shortest augmenting paths.
    """
    chosen: dict[int, int] = {}
    for rows, columns in _connected_parts(weights):
        if len(rows) == 1 and len(columns) == 1:
            chosen[rows[0]] = columns[0]
            continue
        size = max(len(rows), len(columns))
        costs = [[0.0] * size for _ in range(size)]
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                costs[i][j] = -weights.get((row, column), 0.0)
        for i, j in enumerate(_hungarian(costs)):
            if i < len(rows) and j < len(columns) and (rows[i], columns[j]) in weights:
                chosen[rows[i]] = columns[j]
    return chosen


def _connected_parts(weights: Weights) -> list[tuple[list[int], list[int]]]:
    """Return the groups of rows and columns that pairs connect, in ascending order."""
    of_row: dict[int, list[int]] = {}
    of_column: dict[int, list[int]] = {}
    for row, column in weights:
        of_row.setdefault(row, []).append(column)
        of_column.setdefault(column, []).append(row)
    pieces: list[tuple[list[int], list[int]]] = []
    visited: set[int] = set()
    for start in sorted(of_row):
        if start in visited:
            continue
        rows, columns, waiting = {start}, set[int](), [start]
        while waiting:
            for column in of_row[waiting.pop()]:
                if column in columns:
                    continue
                columns.add(column)
                fresh = set(of_column[column]) - rows
                rows |= fresh
                waiting.extend(fresh)
        visited |= rows
        pieces.append((sorted(rows), sorted(columns)))
    return pieces


def _hungarian(costs: list[list[float]]) -> list[int]:
    """Return the column of each row of a square matrix at the least cost."""
    size = len(costs)
    of_column = [-1] * (size + 1)
    row_price, column_price = [0.0] * size, [0.0] * (size + 1)
    for row in range(size):
        of_column[size] = row
        at = size
        least = [float("inf")] * size
        back = [size] * size
        done = [False] * (size + 1)
        while of_column[at] >= 0:
            done[at] = True
            here = of_column[at]
            price, line = row_price[here], costs[here]
            step, then = float("inf"), at
            for column in range(size):
                if done[column]:
                    continue
                cost = line[column] - price - column_price[column]
                if cost < least[column]:
                    least[column], back[column] = cost, at
                if least[column] < step:
                    step, then = least[column], column
            for column in range(size + 1):
                if done[column]:
                    row_price[of_column[column]] += step
                    column_price[column] -= step
                elif column < size:
                    least[column] -= step
            at = then
        while at != size:
            of_column[at] = of_column[back[at]]
            at = back[at]
    found = [0] * size
    for column in range(size):
        found[of_column[column]] = column
    return found


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
    taken = set(chosen.values())
    return Matching(
        pairs,
        tuple(block for i, block in enumerate(mine) if i not in chosen),
        tuple(block for j, block in enumerate(yours) if j not in taken),
    )


def nearness(one: Block, other: Block, one_size: Size, other_size: Size) -> float:
    """Return 1 for the same position, 0 for opposite ends, measured in widths and heights of each picture."""
    (x1, y1), (x2, y2) = one.centre, other.centre
    across = abs(x1 / one_size[0] - x2 / other_size[0])
    down = abs(y1 / one_size[1] - y2 / other_size[1])
    return max(0.0, 1 - max(across, down))


def _assign_blocks(mine: Sequence[Block], yours: Sequence[Block], sizes: tuple[Size, Size]) -> dict[int, int]:
    weights: dict[tuple[int, int], float] = {}
    for i, one in enumerate(mine):
        for j, other in enumerate(yours):
            alike = text_similarity(one.text, other.text)
            if alike:
                weights[i, j] = alike + _NEARNESS * nearness(one, other, *sizes)
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


# --- differences -----------------------------------------------------------------------------------------------------


Box = tuple[int, int, int, int]
"""Left, top, width and height."""

MAX_DIFFERENCES = 12
_CELL = 32
_UNLIKE = 0.35
_FAR = 0.01
_SEEN = 6.0
"""The CIEDE2000 distance from which a colour is reported."""


class Difference(msgspec.Struct, frozen=True):
    kind: DifferenceKind
    box: Box
    """In pixels of the target; of the rendering for an extra block."""
    sentence: str
    detail: PageDifference | None = None
    """The same for programs."""


def find_differences(
    matching: Matching,
    likeness: NDArray[np.float64],
    pictures: tuple[Pixels, Pixels],
    sizes: tuple[Size, Size],
    unread: Sequence[TextBlock] = (),
) -> tuple[Difference, ...]:
    """Return the most important differences, the worst first. `likeness` is the SSIM map of `pictures`."""
    scale = sizes[0][0] / pictures[0].shape[1]
    whole = sizes[0][0] * sizes[0][1]
    found: list[tuple[float, Difference]] = list(_height_difference(*sizes))
    found += [(block.area / whole + 0.02, _missing(block)) for block in matching.missing]
    found += [(block.area / whole + 0.01, _extra(block)) for block in matching.extra]
    found += [(place.w * place.h / whole + 0.02, _unread(place)) for place in unread]
    for pair in matching.pairs:
        found += _pair_differences(pair, sizes, whole)
    found += _region_differences(likeness, pictures, scale)
    found.sort(key=lambda entry: (-entry[0], entry[1].box, entry[1].kind))
    return tuple(difference for _, difference in found[:MAX_DIFFERENCES])


def _height_difference(target: Size, rendered: Size) -> Iterator[tuple[float, Difference]]:
    expected = target[1] * rendered[0] / target[0]
    if abs(rendered[1] - expected) > 0.03 * expected:
        side = "taller" if rendered[1] > expected else "shorter"
        off = round(rendered[1] - expected)
        sentence = f"The page is {abs(off)} px {side} than the target."
        detail = PageDifference(kind="height", down=off)
        yield abs(rendered[1] / expected - 1), Difference("height", (0, 0, *target), sentence, detail)


def _missing(block: Block) -> Difference:
    return Difference("missing", block.box, f"{_quoted(block)} at ({_position(block)}) is missing.")


def _extra(block: Block) -> Difference:
    return Difference("extra", block.box, f"{_quoted(block)} at ({_position(block)}) is not in the target.")


def _unread(place: TextBlock) -> Difference:
    box = round(place.x), round(place.y), round(place.w), round(place.h)
    sentence = f"What looks like text at ({box[0]}, {box[1]}) could not be read, and is no text on the page."
    return Difference("unread", box, sentence)


def _pair_differences(pair: Pair, sizes: tuple[Size, Size], whole: int) -> Iterator[tuple[float, Difference]]:
    target, rendered = pair.target, pair.rendered
    share = target.area / whole
    if pair.text < 1:
        sentence = f"{_quoted(target)} reads {_quoted(rendered)}."
        detail = PageDifference(kind="text", text=target.text, page_text=rendered.text)
        yield (1 - pair.text) * (share + 0.02), Difference("text", target.box, sentence, detail)
    if pair.position < 1 - _FAR:
        yield (1 - pair.position) * (share + 0.1), _describe_move(pair, sizes)
    seen = colour_distance(target.colour, rendered.colour)
    if seen > _SEEN:
        sentence = f"{_quoted(target)} is {css_colour(rendered.colour)} instead of {css_colour(target.colour)}."
        detail = PageDifference(kind="colour", text=target.text, colour=css_colour(target.colour))
        yield seen / 100 * (share + 0.05), Difference("colour", target.box, sentence, detail)


def _describe_move(pair: Pair, sizes: tuple[Size, Size]) -> Difference:
    scale = sizes[0][0] / sizes[1][0]
    (x1, y1), (x2, y2) = pair.target.centre, pair.rendered.centre
    across, down = round(x2 * scale - x1), round(y2 * scale - y1)
    words: list[str] = []
    if across:
        words.append(f"{abs(across)} px too far {'right' if across > 0 else 'left'}")
    if down:
        words.append(f"{abs(down)} px too {'low' if down > 0 else 'high'}")
    sentence = f"{_quoted(pair.target)} is {' and '.join(words) or 'moved by the height of the page'}."
    detail = PageDifference(kind="position", text=pair.target.text, right=across, down=down)
    return Difference("position", pair.target.box, sentence, detail)


def _region_differences(
    likeness: NDArray[np.float64], pictures: tuple[Pixels, Pixels], scale: float
) -> Iterator[tuple[float, Difference]]:
    """Find areas that differ apart from text: connected cells of a coarse grid."""
    rows, columns = -(-likeness.shape[0] // _CELL), -(-likeness.shape[1] // _CELL)
    unlike = {
        (row, column)
        for row in range(rows)
        for column in range(columns)
        if 1 - likeness[_cell_slice(row), _cell_slice(column)].mean() > _UNLIKE
    }
    while unlike:
        area = _pop_connected(unlike)
        top, left = min(row for row, _ in area), min(column for _, column in area)
        down, across = max(row for row, _ in area) + 1 - top, max(column for _, column in area) + 1 - left
        part = slice(top * _CELL, (top + down) * _CELL), slice(left * _CELL, (left + across) * _CELL)
        expected, actual = (_median_colour(picture[part]) for picture in pictures)
        height, width = pictures[0][part].shape[:2]
        x, y, w, h = (round(side * scale) for side in (left * _CELL, top * _CELL, width, height))
        sentence = f"The area of {w} × {h} px at ({x}, {y}) looks different"
        tones = (
            f": about {css_colour(actual)} instead of {css_colour(expected)}."
            if colour_distance(expected, actual) > _SEEN
            else "."
        )
        yield len(area) / (rows * columns), Difference("picture", (x, y, w, h), sentence + tones)


def _pop_connected(cells: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Remove one connected group from the cells and return it."""
    waiting = [min(cells)]
    cells.discard(waiting[0])
    group: set[tuple[int, int]] = set()
    while waiting:
        row, column = waiting.pop()
        group.add((row, column))
        for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if near in cells:
                cells.discard(near)
                waiting.append(near)
    return group


def _cell_slice(index: int) -> slice:
    return slice(index * _CELL, (index + 1) * _CELL)


def _median_colour(pixels: Pixels) -> tuple[int, int, int]:
    red, green, blue = np.median(pixels.reshape(-1, 3), axis=0)
    return int(red), int(green), int(blue)


def _position(block: Block) -> str:
    return f"{round(block.x)}, {round(block.y)}"


def _quoted(block: Block) -> str:
    text = block.text if len(block.text) <= 60 else f"{block.text[:57]}…"
    return f"“{text}”"
