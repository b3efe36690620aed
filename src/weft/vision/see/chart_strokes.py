"""Finds the lines of a chart on its plot, the areas under them and their dots."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Rect, spanning
from weft.vision.see.chart_marks import EQUAL, Colour, Plot, RuleMark, explain
from weft.vision.see.curves import Segment, fit_chain, flatten_outline
from weft.vision.see.regions import label_islands

WIDEST_STROKE = 7.0
SHORTEST_STROKE = 60
LEAST_RISE = 4.0  # pixels between the highest and the lowest place of a line
LONGEST_GAP = 14  # columns in which another mark covers a line


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a stroke; hollow ones show the paper."""

    x: float
    y: float
    radius: float
    hollow: bool


@dataclass(frozen=True, slots=True)
class StrokeMark:
    """A line over the plot; with a base there is an area under it, as opaque as `opacity`."""

    segments: list[Segment]
    width: float
    colour: Colour
    dots: list[Dot] = field(default_factory=list[Dot])
    base: float = 0.0
    opacity: float = 0.0


def find_strokes(plot: Plot, colours: list[Colour]) -> list[StrokeMark]:
    """Find lines that go once from left to right, the areas under them, and their dots."""
    found: list[StrokeMark] = []
    strongest = sorted(colours, key=lambda each: -float(np.abs(each - plot.paper).max()))  # edges are paler
    for colour in strongest:
        if float(np.abs(colour - plot.paper).max()) < 40:
            continue
        stroke = _find_stroke(plot, colour)
        if stroke is not None:
            found.append(_with_area(plot, stroke))
    return found


def _find_stroke(plot: Plot, colour: Colour) -> StrokeMark | None:
    direction = colour - plot.paper
    change = plot.pixels.astype(np.float64) - plot.paper
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    cover[np.abs(change - cover[:, :, None] * direction).max(axis=2) > 40] = 0
    cover[~plot.left] = 0
    floor = 0.5 if float((cover > 0.4).sum(axis=0).max(initial=0)) > 40 else 0.3
    strong = np.where(cover >= floor, cover, 0)
    _drop_filled(strong)
    chain = _follow_chain(strong)
    if chain is None:
        return None
    columns, middles, sums = chain
    slopes = np.gradient(np.convolve(np.pad(middles, 2, mode="edge"), np.ones(5) / 5, "valid"))
    thick = sums / np.hypot(1, slopes)
    width = float(np.median(thick))
    if not 0.8 <= width <= WIDEST_STROKE:
        return None
    points = np.stack((columns + 0.5, middles), axis=1).astype(np.float64)
    segments = fit_chain(points, 0.5)
    for x, y, high in zip(columns.tolist(), middles.tolist(), (sums / 2).tolist(), strict=True):
        reach = high + 2.5
        top, bottom = max(int(y - reach), 0), math.ceil(y + reach)
        plot.left[top:bottom, x] &= cover[top:bottom, x] < 0.05
    dots = list(_find_dots(plot, columns, middles, thick, width))
    for dot in dots:
        explain(plot, Rect(dot.x, dot.y, 0, 0).grown(dot.radius + 2))
    return StrokeMark(segments, round(2 * width) / 2 or 1.0, colour, dots)


def _drop_filled(cover: NDArray[np.float64]) -> None:
    """Remove filled rectangles, such as the samples of a legend."""
    islands = label_islands(np.asarray(cover > 0, np.bool_))
    for number in range(1, len(islands.area)):
        left, top, right, bottom = (int(edge) for edge in islands.edges[number])
        if min(right - left, bottom - top) >= 6 and islands.area[number] >= 0.7 * (right - left) * (bottom - top):
            cover[top:bottom, left:right][islands.mask(number)] = 0


def _follow_chain(
    cover: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the columns of a line, its middle and its height in each; None if it is no line."""
    islands = label_islands(np.asarray(cover > 0, np.bool_))
    if len(islands.area) < 2:
        return None
    widest = int((islands.edges[:, 2] - islands.edges[:, 0])[1:].argmax()) + 1
    left, top, right, _ = (int(edge) for edge in islands.edges[widest])
    first = top + float(np.flatnonzero(islands.mask(widest)[:, 0]).mean())
    ahead = _follow(cover, range(left, cover.shape[1]), first)
    back = _follow(cover, range(left - 1, -1, -1), first)
    steps = [*reversed(back), *ahead]
    if len(steps) < max(SHORTEST_STROKE, right - left):
        return None
    columns = np.array([column for column, _, _ in steps])
    rows, high = np.array([row for _, row, _ in steps]), np.array([each for _, _, each in steps])
    padded = np.pad(high, 3, mode="edge")
    around = np.median(np.stack([padded[at : at + len(high)] for at in range(7)]), axis=0)
    fair = high <= np.maximum(2.2 * around, around + 4)
    if int(fair.sum()) < SHORTEST_STROKE or float(np.ptp(rows[fair])) < LEAST_RISE:
        return None
    return columns[fair], rows[fair], high[fair]


def _follow(cover: NDArray[np.float64], columns: range, row: float) -> list[tuple[int, float, float]]:
    """Follow a line from column to column, over short gaps where another mark covers it."""
    found: list[tuple[int, float, float]] = []
    missed, reach = 0, 3.0
    for column in columns:
        rows = np.flatnonzero(cover[:, column] > 0)
        parts = np.split(rows, np.flatnonzero(np.diff(rows) > 2) + 1) if len(rows) else []
        near = [part for part in parts if abs(float(part.mean()) - row) <= reach + len(part) / 2 + 2.5 * missed]
        if not near:
            missed += 1
            if missed > LONGEST_GAP:
                break
            continue
        here, at = row, column
        part = max(near, key=lambda each: float(cover[each, at].sum()) - 0.35 * abs(float(each.mean()) - here))
        weights = cover[part, column]
        row, missed, reach = float((weights * part).sum() / weights.sum()), 0, len(part) / 2 + 3
        found.append((column, row + 0.5, float(weights.sum())))
    return found


def _find_dots(
    plot: Plot,
    columns: NDArray[np.int64],
    middles: NDArray[np.float64],
    thick: NDArray[np.float64],
    width: float,
) -> Iterator[Dot]:
    bumps = np.flatnonzero(thick > max(1.45 * width, width + 1.2))
    groups = np.split(bumps, np.flatnonzero(np.diff(bumps) > 2) + 1) if len(bumps) else []
    for group in groups:
        if not 3 <= len(group) <= 16:
            continue
        at = float(group[0]) + (len(group) - 1) / 2
        x, y = float(columns[round(at)]) + 0.5, float(np.interp(at, np.arange(len(middles)), middles))
        radius = max(float(thick[group].max()), float(len(group) + 1)) / 2
        pixel = plot.pixels[min(int(y), len(plot.pixels) - 1), min(int(x), plot.pixels.shape[1] - 1)]
        yield Dot(x, y, radius, float(np.abs(pixel - plot.paper).max()) < 30)


def _with_area(plot: Plot, stroke: StrokeMark) -> StrokeMark:
    """Add the area under a stroke: one colour between the paper's and the stroke's, down to a level base."""
    height = len(plot.pixels)
    points = [(int(segment[0][0]), float(segment[0][1])) for segment in stroke.segments]
    first, last = points[0][0], int(stroke.segments[-1][-1][0])
    line = _heights(stroke, first, last)
    samples = [plot.pixels[int(y + stroke.width + 3), x] for x, y in line if y + stroke.width + 4 < height]
    if len(samples) < 20:
        return stroke
    shade = np.median(np.array(samples, np.float64), axis=0)
    direction = stroke.colour - plot.paper
    opacity = float((shade - plot.paper) @ direction / max(float(direction @ direction), 1.0))
    off = float(np.abs(shade - plot.paper - opacity * direction).max())
    exact = float((np.abs(np.array(samples, np.float64) - shade).max(axis=1) <= EQUAL).mean())
    if not 0.04 <= opacity <= 0.95 or off > 10 or exact < 0.6:
        return stroke
    shaded = plot.distance(shade) <= EQUAL
    depths = [float(np.flatnonzero(shaded[:, x])[-1]) + 1.0 for x, _ in line if shaded[:, x].any()]
    base = float(np.median(depths))
    for x, y in line:
        plot.left[int(y) : math.ceil(base) + 1, x] = False
    explain(plot, spanning((first - 2, min(y for _, y in line), first + 1, base)))
    explain(plot, spanning((last - 1, min(y for _, y in line), last + 2, base)))
    return replace(stroke, base=base, opacity=round(opacity, 3))


def unmix_rules(rules: list[RuleMark], strokes: list[StrokeMark]) -> list[RuleMark]:
    """Give rules under an area the colour that they have without it."""
    found: list[RuleMark] = []
    for rule in rules:
        x, y = rule.rect.middle
        for stroke in strokes:
            first, last = float(stroke.segments[0][0][0]), float(stroke.segments[-1][-1][0])
            inside = first - 2 <= rule.rect.x and rule.rect.right <= last + 2
            if not stroke.base or not inside or not y < stroke.base - 1:
                continue
            heights = _heights(stroke, int(x), int(x) + 1)
            if heights and y > heights[0][1] + stroke.width:
                bare = (rule.colour - stroke.opacity * stroke.colour) / (1 - stroke.opacity)
                rule = replace(rule, colour=np.clip(bare, 0, 255))
        found.append(rule)
    return found


def _heights(stroke: StrokeMark, first: int, last: int) -> list[tuple[int, float]]:
    """Return the height of a stroke in each column."""
    points = flatten_outline(stroke.segments, 16)
    end = stroke.segments[-1][-1]
    xs, ys = [x for x, _ in points] + [float(end[0])], [y for _, y in points] + [float(end[1])]
    return [(x, float(np.interp(x + 0.5, xs, ys))) for x in range(first, last)]
