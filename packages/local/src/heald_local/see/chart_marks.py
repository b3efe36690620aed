"""The marks of a chart, and the kind of chart that they make."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heald_local.see.chart_bars import BarMark, find_bars
from heald_local.see.chart_rules import RuleMark, find_rules
from heald_local.see.chart_sectors import SectorMark, find_sectors
from heald_local.see.chart_strokes import StrokeMark, find_strokes, unmix_rules
from heald_local.see.patches import find_patches
from heald_local.see.plot import Plot, find_colours
from heald_local.see.vectors import trace_scrap
from heald_pictures.elements import Shape
from heald_pictures.regions import distance_between

MOST_LEFT = 0.12  # the part of a chart's pixels that no mark may explain
LARGEST_SCRAP = 48.0  # pixels of a mark that is traced, such as an arrow
DENSE, GRAINY = 0.5, 0.5  # of a photograph: more than the first part is drawn on, less than the second of that is flat
FEWEST_BARS = 3  # of different lengths on one line
MOST_BARS = 9  # beside the lines of a line chart: points of a legend
SAME_LEVEL = 1.5  # pixels by which the bars of a chart stand higher or are wider than others
LYING = 2  # pixels by which the left ends of lying bars differ


@dataclass(frozen=True, slots=True)
class ChartMarks:
    """All marks on a plot."""

    rules: list[RuleMark]
    bars: list[BarMark]
    strokes: list[StrokeMark]
    sectors: list[SectorMark]
    scraps: list[Shape]

    @property
    def aligned_bars(self) -> list[BarMark]:
        """The bars that stand on one line and differ in length."""
        return _aligned_bars(self.bars)

    @property
    def kind(self) -> str:
        """A noun for the chart; empty if the marks do not make one."""
        if self.sectors and len(self.sectors) > 1:
            return "Ring chart" if self.sectors[0].inner else "Pie chart"
        if any(stroke.base for stroke in self.strokes):
            return "Area chart"
        bars = self.aligned_bars
        if len(bars) >= FEWEST_BARS and (self.rules or not _is_lying(bars)):
            return "Bar chart"
        return "Line chart" if self.strokes and len(self.bars) <= MOST_BARS else ""


def find_marks(plot: Plot) -> ChartMarks | None:
    """Find all marks; None if much is left that they do not explain."""
    total = int(plot.left.sum())
    if _is_photograph(plot):
        return None
    colours = find_colours(plot)
    if not total or not colours:
        return None
    sectors = find_sectors(plot, colours)
    mixed_rules = find_rules(plot, colours)
    strokes = find_strokes(plot, colours)
    rules = unmix_rules(mixed_rules, strokes)
    bars = find_bars(plot, colours)
    left = 0
    scraps: list[Shape] = []
    for patch in find_patches(plot.left):
        drawn = None
        if max(patch.rect.w, patch.rect.h) <= LARGEST_SCRAP:
            drawn = trace_scrap(plot.pixels, plot.paper, patch.rect)
        if drawn is None:
            left += patch.count
        else:
            scraps.append(drawn)
    return ChartMarks(rules, bars, strokes, sectors, scraps) if left <= MOST_LEFT * total else None


def _is_photograph(plot: Plot) -> bool:
    """Whether a plot is full of pixels that differ from those beside them, above and below: marks have flat colours."""
    if float(plot.left.mean()) <= DENSE:
        return False
    flat = np.zeros(plot.left.shape, np.bool_)
    across = distance_between(plot.pixels[:, 1:], plot.pixels[:, :-1]) == 0
    down = distance_between(plot.pixels[1:], plot.pixels[:-1]) == 0
    flat[:, 1:] |= across
    flat[:, :-1] |= across
    flat[1:] |= down
    flat[:-1] |= down
    return float(flat[plot.left].mean()) < GRAINY


def _aligned_bars(bars: Sequence[BarMark]) -> list[BarMark]:
    """Return the bars that stand on one line and differ in length."""
    best: list[BarMark] = []
    for lying in (False, True):
        for base in bars:
            level = base.rect.x if lying else base.rect.bottom
            wide = base.rect.h if lying else base.rect.w
            aligned = [
                bar
                for bar in bars
                if abs((bar.rect.x if lying else bar.rect.bottom) - level) <= SAME_LEVEL
                and abs((bar.rect.h if lying else bar.rect.w) - wide) <= SAME_LEVEL
            ]
            lengths = {round(bar.rect.w if lying else bar.rect.h) for bar in aligned}
            if len(lengths) >= FEWEST_BARS and len(aligned) > len(best):
                best = aligned
    return best


def _is_lying(bars: Sequence[BarMark]) -> bool:
    return max(bar.rect.x for bar in bars) - min(bar.rect.x for bar in bars) <= LYING
