"""The cheapest sequence of letters that reproduces the ink of a line, by dynamic programming over its columns.

Every letter of an alphabet, as it lies in a `Case`, is laid on every place of the line; what differs is its price.
"""

import numpy as np
from numpy.typing import NDArray

from weft.vision.alphabets import Alphabet
from weft.vision.fonts import Face
from weft.vision.ink import Ink
from weft.vision.typecase import STEPS, Case, type_case

LETTER_COST = 0.12
"""What one more letter costs, in pixels of ink: without it noise would be spelt."""
MARGIN = 3
_START = (MARGIN + 2) * STEPS
"""Places before this one cost nothing to begin at."""
_SHIFTS = ((0, 0.0), (-1, 0.05), (1, 0.05), (-2, 0.25), (-3, 0.45), (-4, 0.6))
"""How far kerning and rounding may move a letter, and what that costs."""

Places = NDArray[np.intp]
Prices = NDArray[np.float64]


def decode(
    ink: Ink, alphabet: Alphabet, face: Face, size: float, baseline: int, stretch: float
) -> tuple[float, str] | None:
    """What the cheapest sequence leaves wrong, in pixels of ink, and its letters as they stand from left to right."""
    case = type_case(alphabet, face, size, stretch)
    height, width = case.up + case.down, ink.cover.shape[1]
    top = case.up - baseline
    rows = ink.cover[max(-top, 0) : height - top]
    line = np.zeros((len(rows), width + 2 * MARGIN + int(size)), np.float32)
    line[:, MARGIN : MARGIN + width] = rows
    cut_off = float((ink.cover**2).sum() - (rows**2).sum())
    energy = np.concatenate(([0.0], np.cumsum((line**2).sum(axis=0), dtype=np.float64)))
    table = _table(line, max(top, 0), energy, case)
    found = _walk(table, case, (MARGIN + width) * STEPS, energy)
    return (found[0] + cut_off, found[1].strip(" ")) if found is not None else None


def _table(line: NDArray[np.float32], top: int, energy: Prices, case: Case) -> Prices:
    """For each letter, phase and column, how much ink is wrong if it begins there. The line's rows begin at `top`."""
    columns, reach = line.shape[1], case.reach
    table = np.empty((len(case.letters), STEPS, columns))
    padded = np.pad(line, ((0, 0), (reach, reach)))
    # Where a letter would reach over an end of the line its price is infinite.
    sums = np.concatenate((np.full(reach, -np.inf), energy, np.full(reach, np.inf)))
    present = np.lib.stride_tricks.sliding_window_view(sums, columns)
    for batch in case.batches:
        wide = batch.covers.shape[2]
        windows = np.lib.stride_tricks.sliding_window_view(padded, columns, axis=1)
        start = reach - batch.lead
        under = np.ascontiguousarray(windows[:, start : start + wide]).reshape(-1, columns)
        covers = batch.covers[:, top : top + len(line)].reshape(len(batch.letters), -1)
        ends = reach - batch.before
        wrong = present[ends + batch.wide] - present[ends]
        wrong -= 2 * (covers @ under)
        wrong += (batch.ink + LETTER_COST)[:, None]
        table[batch.letters, batch.phases] = wrong
    return table


def _walk(table: Prices, case: Case, end: int, energy: Prices) -> tuple[float, str] | None:
    """The cheapest way from the line's begin to its end: its price and its letters."""
    steps, groups = np.unique(case.jumps, return_index=True)
    cheapest = np.minimum.reduceat(table, groups, axis=0)
    cheapest = cheapest.transpose(0, 2, 1).reshape(len(groups), -1)
    leaps, prices, chosen = _leaps(steps, cheapest)
    cost, ways = _arrivals(leaps, prices, end)
    columns = np.arange(len(cost), dtype=np.intp) // STEPS
    whole = cost + energy[-1] - energy[columns]
    whole[: end // 2] = np.inf
    finish = int(whole.argmin())
    if not np.isfinite(whole[finish]):
        return None
    bounds = np.append(groups, len(case.jumps))
    letters: list[str] = []
    at = finish
    while at >= _START:
        way = int(ways[at])
        at -= int(leaps[way])
        group = int(chosen[way, at])
        first, last = int(bounds[group]), int(bounds[group + 1])
        letters.append(case.letters[first + int(table[first:last, at % STEPS, at // STEPS].argmin())])
    return float(whole[finish]), "".join(reversed(letters))


def _leaps(steps: Places, cheapest: Prices) -> tuple[Places, Prices, Places]:
    """For each distance that a letter may cover, shifts included, the longest first: its price at each place, and
    the group of letters that it is cheapest with."""
    moved: Places = steps[:, None] + np.array([shift for shift, _ in _SHIFTS], np.intp)
    leaps: Places = np.unique(moved[moved > 0])[::-1]
    rows_of = {int(leap): row for row, leap in enumerate(leaps)}
    prices = np.full((len(leaps), cheapest.shape[1]), np.inf)
    chosen = np.zeros(prices.shape, np.intp)
    for column, (_, extra) in enumerate(_SHIFTS):
        groups = np.flatnonzero(moved[:, column] > 0)
        rows = np.array([rows_of[int(leap)] for leap in moved[groups, column]], np.intp)
        sums = cheapest[groups] + extra
        better = sums < prices[rows]
        prices[rows] = np.where(better, sums, prices[rows])
        chosen[rows] = np.where(better, groups[:, None], chosen[rows])
    return leaps, prices, chosen


def _arrivals(leaps: Places, prices: Prices, end: int) -> tuple[Prices, Places]:
    """What it costs to come to each place, and by which leap; from `end` on none begins.

    As many places as the shortest leap covers are worked out at once: none of them can be reached from another.
    """
    places = prices.shape[1]
    coming = np.full((places, len(leaps)), np.inf)
    for row, leap in enumerate(leaps):
        last = min(places - int(leap), end)
        if last > 0:
            coming[int(leap) : int(leap) + last, row] = prices[row, :last]
    sources = np.maximum(np.arange(places, dtype=np.intp)[:, None] - leaps, 0)
    cost = np.full(places, np.inf)
    cost[:_START] = 0.0
    ways = np.zeros(places, np.intp)
    shortest = int(leaps[-1])
    for at in range(_START, places, shortest):
        here = slice(at, min(at + shortest, places))
        sums = cost[sources[here]] + coming[here]
        ways[here] = best = sums.argmin(axis=1)
        cost[here] = sums[np.arange(len(best)), best]
    return cost, ways
