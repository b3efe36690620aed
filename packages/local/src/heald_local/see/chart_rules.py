"""Finds the rules of a chart: the lines of its axes and its grid."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.plot import EQUAL, Colour, Plot
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask

THICK = 0.8  # the part of a row that is drawn in the next one too, if a rule is two pixels thick
FREE = 0.3  # the part of a rule that has the same above and below it
SHORTEST_RUN = 3  # pixels of an uninterrupted part of a rule
LONG = 40  # pixels of a rule, at least


@dataclass(frozen=True, slots=True)
class RuleMark:
    """A straight line of an axis or a grid."""

    rect: Rect
    colour: Colour


def find_rules(plot: Plot, colours: list[Colour]) -> list[RuleMark]:
    """Find lines of at most two pixels that have the same on both sides."""
    rules: list[RuleMark] = []
    for colour in colours:
        same = (plot.distance(colour) <= EQUAL) & plot.left
        for upright in (False, True):
            mask = same.T if upright else same
            pixels = plot.pixels.transpose(1, 0, 2) if upright else plot.pixels
            for rect in _level_lines(mask, pixels.astype(np.int16)):
                turned = Rect(rect.y, rect.x, rect.h, rect.w) if upright else rect
                rules.append(RuleMark(turned, colour))
    for rule in rules:
        part = (slice(int(rule.rect.y), int(rule.rect.bottom)), slice(int(rule.rect.x), int(rule.rect.right)))
        plot.left[part] &= np.abs(plot.pixels[part].astype(np.float64) - rule.colour).max(axis=2) > EQUAL
    return rules


def _level_lines(mask: Mask, pixels: NDArray[np.int16]) -> Iterator[Rect]:
    height = len(mask)
    used = -1
    for row in np.flatnonzero(mask.sum(axis=1) >= LONG).tolist():
        if row <= used:
            continue
        thick = 2 if row + 1 < height and int((mask[row] & mask[row + 1]).sum()) >= THICK * int(mask[row].sum()) else 1
        columns = np.flatnonzero(mask[row])
        above, below = max(row - 1, 0), min(row + thick, height - 1)
        free = np.abs(pixels[above, columns] - pixels[below, columns]).max(axis=1) <= 2 * EQUAL
        apart = np.abs(pixels[above, columns] - pixels[row, columns]).max(axis=1) > EQUAL
        at_edge = row == 0 or row + thick >= height
        if not at_edge and float((free & apart).mean()) < FREE:
            continue
        used = row + thick - 1
        runs = [run for run in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1) if len(run) >= SHORTEST_RUN]
        if runs and sum(map(len, runs)) >= LONG:
            yield spanning((int(runs[0][0]), row, int(runs[-1][-1]) + 1, row + thick))
