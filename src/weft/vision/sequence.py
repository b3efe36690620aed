"""The cheapest sequence of letters that reproduces the ink of a line, by dynamic programming over its columns.

Every letter of an alphabet is drawn in a face and size and laid on every place of the line; what differs is its price.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weft.vision.alphabets import ARABIC_DIGITS, COMMON, Alphabet, joined_shapes
from weft.vision.fonts import Face
from weft.vision.fonts import face as nearest_face
from weft.vision.ink import Ink

STEPS = 2
"""Places per pixel where a letter may begin."""
LETTER_COST = 0.12
"""What one more letter costs, in pixels of ink: without it noise would be spelt."""
MARGIN = 3


@dataclass(frozen=True, slots=True)
class _Glyph:
    text: str
    cover: NDArray[np.float32]
    """Drawn within the line's height; its first column is `before` columns left of the pen."""
    before: int
    advance: float


def stand_in(lacking: Face) -> Face:
    """The face that a browser takes for letters that this one lacks."""
    return nearest_face("wide", lacking.bold)


def decode(
    ink: Ink, alphabet: Alphabet, face: Face, size: float, baseline: int, stretch: float
) -> tuple[float, str] | None:
    """What the cheapest sequence leaves wrong, in pixels of ink, and its letters as they stand from left to right."""
    up, down = -(-int(face.ascent * size * 10) // 10) + 1, -(-int(face.descent * size * 10) // 10) + 1
    height, width = up + down, ink.cover.shape[1]
    page = np.zeros((height, width + 2 * MARGIN + int(size)), np.float32)
    top = up - baseline
    rows = ink.cover[max(-top, 0) : height - top]
    page[max(top, 0) : max(top, 0) + len(rows), MARGIN : MARGIN + width] = rows
    cut_off = float((ink.cover**2).sum() - (rows**2).sum())
    glyphs = _glyphs(face, alphabet, size, up, down, stretch)
    energy = np.concatenate(([0.0], np.cumsum((page**2).sum(axis=0), dtype=np.float64)))
    table = _table(page, energy, glyphs)
    jumps = np.array([max(round(glyph[0].advance * STEPS), 1) for glyph in glyphs])
    order = np.argsort(jumps, kind="stable")
    finish, cost, came = _walk(table[order], jumps[order], (MARGIN + width) * STEPS, energy)
    if finish < 0:
        return None
    letters: list[str] = []
    at = finish
    while came[at, 0] >= 0:
        letters.append(glyphs[int(order[came[at, 1]])][0].text)
        at = int(came[at, 0])
    return cost + cut_off, "".join(reversed(letters)).strip(" ")


_SHIFTS = ((0, 0.0), (-1, 0.05), (1, 0.05), (-2, 0.25), (-3, 0.45), (-4, 0.6))
"""How far kerning and rounding may move a letter, and what that costs."""


def _walk(
    table: NDArray[np.float64], jumps: NDArray[np.intp], end: int, energy: NDArray[np.float64]
) -> tuple[int, float, NDArray[np.int64]]:
    """The cheapest way from the line's begin to its end; letters are ordered by how far they jump."""
    steps, groups = np.unique(jumps, return_index=True)
    ends = np.append(groups[1:], len(jumps))
    places = table.shape[1]
    cost = np.full(places, np.inf)
    came = np.full((places, 2), -1, np.int64)
    cost[: (MARGIN + 2) * STEPS] = 0.0
    cheapest = np.minimum.reduceat(table, groups, axis=0)
    leaps, prices, chosen = _leaps(steps, cheapest)
    for place in range(end):
        here = cost[place]
        if here == np.inf:
            continue
        fits_in = int(np.count_nonzero(leaps < places - place))
        goals, sums = place + leaps[:fits_in], here + prices[:fits_in, place]
        better = sums < cost[goals]
        goals = goals[better]
        cost[goals] = sums[better]
        came[goals, 0] = place
        came[goals, 1] = chosen[:fits_in, place][better]
    columns = np.minimum(np.arange(places, dtype=np.intp) // STEPS, len(energy) - 1)
    whole = cost + energy[-1] - energy[columns]
    whole[: end // 2] = np.inf
    finish = int(whole.argmin())
    if not np.isfinite(whole[finish]):
        return -1, 0.0, came
    at = finish
    while came[at, 0] >= 0:
        group = int(came[at, 1])
        part = table[groups[group] : ends[group], int(came[at, 0])]
        came[at, 1] = groups[group] + int(part.argmin())
        at = int(came[at, 0])
    return finish, float(whole[finish]), came


def _leaps(
    steps: NDArray[np.intp], cheapest: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """For each distance that a letter may cover, shifts included: its cost at each place, and its group."""
    ways: dict[int, list[tuple[int, float]]] = {}
    for group, step in enumerate(steps):
        for shift, extra in _SHIFTS:
            if step + shift > 0:
                ways.setdefault(int(step + shift), []).append((group, extra))
    leaps = np.array(sorted(ways), np.intp)
    prices = np.empty((len(leaps), cheapest.shape[1]))
    chosen = np.empty((len(leaps), cheapest.shape[1]), np.intp)
    for row, leap in enumerate(leaps):
        members = ways[int(leap)]
        sums = np.stack([cheapest[group] + extra for group, extra in members])
        best = sums.argmin(axis=0)
        prices[row] = sums[best, np.arange(sums.shape[1])]
        chosen[row] = np.array([group for group, _ in members])[best]
    return leaps, prices, chosen


def _table(
    page: NDArray[np.float32], energy: NDArray[np.float64], glyphs: list[tuple[_Glyph, ...]]
) -> NDArray[np.float64]:
    """For each letter and place, how much ink is wrong if it begins there."""
    columns = page.shape[1]
    table = np.full((len(glyphs), columns * STEPS), np.inf)
    by_width: dict[int, list[tuple[int, int, _Glyph]]] = {}
    for number, phases in enumerate(glyphs):
        for phase, glyph in enumerate(phases):
            by_width.setdefault(glyph.cover.shape[1], []).append((number, phase, glyph))
    for wide, members in by_width.items():
        if wide > columns:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(page, wide, axis=1)
        flat = np.ascontiguousarray(windows.transpose(1, 0, 2)).reshape(columns - wide + 1, -1)
        matches = flat @ np.stack([glyph.cover.ravel() for _, _, glyph in members], axis=1)
        present = energy[wide:] - energy[:-wide]
        for column, (number, phase, glyph) in enumerate(members):
            wrong = present - 2 * matches[:, column] + float((glyph.cover**2).sum()) + LETTER_COST
            fine = (np.arange(len(wrong)) + glyph.before) * STEPS + phase
            good = fine < table.shape[1]
            table[number, fine[good]] = wrong[good]
    return table


@lru_cache(maxsize=96)
def _glyphs(
    face: Face, alphabet: Alphabet, size: float, up: int, down: int, stretch: float
) -> list[tuple[_Glyph, ...]]:
    shapes: dict[str, str] = {letter: letter for letter in alphabet.letters + COMMON}
    if alphabet.joined:
        shapes = joined_shapes(alphabet.letters)
        shapes.update({letter: letter for letter in COMMON + ARABIC_DIGITS})
    found: list[tuple[_Glyph, ...]] = []
    for shape, letter in shapes.items():
        source = face if not face.missing(letter) else stand_in(face)
        if source.missing(letter):
            continue
        drawn = source.glyph(shape, size, stretch)
        advance = source.advance(shape) * size
        phases = [phase / STEPS for phase in range(STEPS)]
        found.append(tuple(_glyph(drawn(phase), letter, (up, down), phase, advance) for phase in phases))
    space = face.advance(" ") * size
    blank = np.zeros((up + down, max(round(space), 1)), np.float32)
    found.append(tuple(_Glyph(" ", blank, 0, space) for _ in range(STEPS)))
    return found


def _glyph(
    drawn: tuple[NDArray[np.float32], int, int], letter: str, line: tuple[int, int], phase: float, advance: float
) -> _Glyph:
    up, down = line
    cover, left, above = drawn
    wide = max(-(-int((advance + phase) * 100) // 100), left + cover.shape[1] - min(left, 0), 1)
    before = max(-left, 0)
    canvas = np.zeros((up + down, wide + before), np.float32)
    top = up - above
    rows = cover[max(-top, 0) : up + down - top]
    start = left + before
    canvas[max(top, 0) : max(top, 0) + len(rows), start : start + cover.shape[1]] = rows[:, : canvas.shape[1] - start]
    return _Glyph(letter, canvas, before, advance)
