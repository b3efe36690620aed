"""The score of Design2Code for two pages: block, text, position and colour of their blocks.

This is an implementation of the published definition. Blocks are matched by their texts; neighbours are merged while
that makes the matched texts more alike.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import msgspec
import numpy as np

from heald_studio.evaluate.document_blocks import TextArea
from heald_studio.score.colour_distance import delta_e, lab
from heald_studio.score.square_assignment import Matrix, SquareAssignment

_LEAST_GAIN = 0.05  # of the mean likeness by which a merge is worth it
_LEAST_ALIKE = 0.5  # likeness of texts from which on two blocks match
_CONTEXT = 0.1  # the weight of a pair's neighbours in the last matching
_NEIGHBOURS = 2
_FARTHEST = 100.0  # the distance of colours that are completely different


class Design2Code(msgspec.Struct, frozen=True):
    """Four scores from 0 to 1."""

    block: float
    text: float
    position: float
    colour: float

    @property
    def mean(self) -> float:
        return (self.block + self.text + self.position + self.colour) / 4


def score_design2code(copy: Sequence[TextArea], original: Sequence[TextArea]) -> Design2Code:
    """Score a copy against the original page."""
    if not copy or not original:
        return Design2Code(0.0, 0.0, 0.0, 0.0)
    ours, theirs = _merge_neighbours(_merge_same_boxes(copy), _merge_same_boxes(original))
    costs = _costs(ours, theirs)
    pairs = _match(_with_context(costs), len(ours), len(theirs))
    alike = [(ours[i], theirs[j], -costs[i, j]) for i, j in pairs if -costs[i, j] >= _LEAST_ALIKE]
    if not alike:
        return Design2Code(0.0, 0.0, 0.0, 0.0)
    total = sum(area.area for area in ours) + sum(area.area for area in theirs)
    return Design2Code(
        block=sum(mine.area + other.area for mine, other, _ in alike) / total,
        text=float(np.mean([likeness for *_, likeness in alike])),
        position=float(np.mean([_nearness(mine, other) for mine, other, _ in alike])),
        colour=float(np.mean([_colour_likeness(mine, other) for mine, other, _ in alike])),
    )


def _merge_same_boxes(areas: Sequence[TextArea]) -> list[TextArea]:
    """Join texts that have the same area: those of one element."""
    by_box: dict[tuple[float, float, float, float], TextArea] = {}
    for area in areas:
        first = by_box.get(area.box)
        if first is None:
            by_box[area.box] = area
            continue
        red, green, blue = ((mine + other) / 2 for mine, other in zip(first.colour, area.colour, strict=True))
        by_box[area.box] = TextArea(f"{first.text} {area.text}", area.box, (red, green, blue))
    return list(by_box.values())


def _merge_neighbours(ours: list[TextArea], theirs: list[TextArea]) -> tuple[list[TextArea], list[TextArea]]:
    """Merge blocks that follow each other, on both sides in turn, while it makes matched texts more alike."""
    while True:
        merged = _merge_side(ours, theirs, _costs(ours, theirs))
        ours_changed = len(merged) < len(ours)
        ours = merged
        merged = _merge_side(theirs, ours, _costs(ours, theirs).T, swapped=True)
        theirs_changed = len(merged) < len(theirs)
        theirs = merged
        if not ours_changed and not theirs_changed:
            return ours, theirs


def _merge_side(
    areas: list[TextArea], others: list[TextArea], costs: Matrix, *, swapped: bool = False
) -> list[TextArea]:
    """Merge the blocks of one side. With `swapped` the areas are the original's, which a likeness depends on."""
    if len(areas) < 2:
        return areas
    size = max(costs.shape)
    square = np.zeros((size, size))
    square[: costs.shape[0], : costs.shape[1]] = costs
    assignment = SquareAssignment(square)
    before = _matched_costs(assignment, costs.shape)
    gains: list[tuple[float, int]] = []
    for index in range(len(areas) - 1):
        text = f"{areas[index].text} {areas[index + 1].text}"
        row = np.zeros(size)
        row[: len(others)] = [
            -(_likeness(other.text, text) if swapped else _likeness(text, other.text)) for other in others
        ]
        after = assignment.with_rows({index: row, index + 1: np.zeros(size)})
        gain = _gain(before, _matched_costs(after, (len(areas) - 1, len(others)), without=index + 1))
        if gain > _LEAST_GAIN:
            gains.append((gain, index))
    return _merge_pairs(areas, [index for _, index in sorted(gains, key=lambda gain: -gain[0])])


def _merge_pairs(areas: list[TextArea], firsts: Sequence[int]) -> list[TextArea]:
    """Merge each block with its successor, in this order, unless one of them is merged already."""
    merged = list(areas)
    taken: set[int] = set()
    dropped: set[int] = set()
    for index in firsts:
        if index in taken or index + 1 in taken:
            continue
        merged[index] = _join(merged[index], merged[index + 1])
        taken |= {index, index + 1}
        dropped.add(index + 1)
    return [area for index, area in enumerate(merged) if index not in dropped]


def _join(first: TextArea, second: TextArea) -> TextArea:
    left, top = min(first.box[0], second.box[0]), min(first.box[1], second.box[1])
    right = max(first.box[0] + first.box[2], second.box[0] + second.box[2])
    bottom = max(first.box[1] + first.box[3], second.box[1] + second.box[3])
    red, green, blue = ((mine + other) // 2 for mine, other in zip(first.colour, second.colour, strict=True))
    return TextArea(f"{first.text} {second.text}", (left, top, right - left, bottom - top), (red, green, blue))


def _matched_costs(assignment: SquareAssignment, shape: tuple[int, int], without: int = -1) -> list[float]:
    """Return the costs of the matched pairs; pairs with nothing in common are zeros."""
    rows = shape[0] + (without >= 0)
    pairs = enumerate(assignment.column_of_row[:rows])
    costs = [float(assignment.costs[row, column]) for row, column in pairs if row != without and column < shape[1]]
    return costs + [0.0] * (min(shape) - len(costs))


def _gain(before: Sequence[float], after: Sequence[float]) -> float:
    """Return by how much the mean of the costs falls, of those that are not in both."""
    lost, gained = Counter(before), Counter(after)
    common = lost & gained
    old, new = list((lost - common).elements()), list((gained - common).elements())
    fall = (sum(old) / len(old) if old else 0.0) - (sum(new) / len(new) if new else 0.0)
    if fall <= 0 or not old or not new:
        return min(fall, 0.0)
    return fall if min(old) > min(new) else 0.0


def _costs(ours: Sequence[TextArea], theirs: Sequence[TextArea]) -> Matrix:
    return np.array([[-_likeness(area.text, other.text) for other in theirs] for area in ours])


def _with_context(costs: Matrix) -> Matrix:
    """Favour pairs whose neighbours match as well."""
    adjusted = costs.copy()
    for row, column in np.argwhere(costs < -_LEAST_ALIKE):
        around = np.sort(costs[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2], axis=None)
        pair = int(np.argmax(around == costs[row, column]))
        adjusted[row, column] += _CONTEXT * np.delete(around, pair)[:_NEIGHBOURS].sum()
    return adjusted


def _match(costs: Matrix, rows: int, columns: int) -> list[tuple[int, int]]:
    size = max(rows, columns)
    square = np.zeros((size, size))
    square[:rows, :columns] = costs
    matched = SquareAssignment(square).column_of_row
    return [(row, int(matched[row])) for row in range(rows) if matched[row] < columns]


@lru_cache(maxsize=500_000)
def _likeness(text: str, other: str) -> float:
    return 1.0 if text == other else SequenceMatcher(None, text, other).ratio()


def _nearness(area: TextArea, other: TextArea) -> float:
    across = abs(area.box[0] + area.box[2] / 2 - other.box[0] - other.box[2] / 2)
    down = abs(area.box[1] + area.box[3] / 2 - other.box[1] - other.box[3] / 2)
    return 1 - max(across, down)


def _colour_likeness(area: TextArea, other: TextArea) -> float:
    first, second = (lab((int(colour[0]), int(colour[1]), int(colour[2]))) for colour in (area.colour, other.colour))
    return max(0.0, 1 - delta_e(first, second) / _FARTHEST)
