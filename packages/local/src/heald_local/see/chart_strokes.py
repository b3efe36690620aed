"""Finds the lines of a chart on its plot, the areas under them and their dots."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from heald_local.see.chart_rules import RuleMark
from heald_local.see.curves import Segment, fit_chain, flatten_outline
from heald_local.see.pixel_units import LIGHTEST, PIXEL_MIDDLE
from heald_local.see.plot import EQUAL, Colour, Plot, explain
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import label_islands

THINNEST_STROKE, WIDEST_STROKE = 0.8, 7.0  # pixels
SHORTEST_STROKE = 60  # columns
LEAST_CONTRAST = 40  # levels by which a line differs from the paper
MIXED = 40  # levels that a pixel may be off the mixture of line and paper
FAINT, SOLID, SOLID_UNDER_AREA = 0.05, 0.3, 0.5
"""The part of a pixel that a line covers: none, enough to follow it, and the same where an area lies under it."""
AREA_COVER, AREA_COLUMN = 0.4, 40  # a column with more pixels than this of so much cover shows an area
SMOOTHED = 5  # columns over which the slope of a line is measured
TOLERANCE = 0.5  # pixels that a curve may be off a line
LINE_ROOM = 2.5  # pixels above and below a line that its smooth edge lies on
DOT_ROOM = 2  # pixels around a dot
LEAST_FILLED, FILLED = 6, 0.7  # pixels of the shorter side of a filled rectangle, and the part of it that is filled
AROUND = 3  # columns to each side that show how thick a line is
THICKER, THICKER_BY = 2.2, 4  # times as thick, and pixels thicker, than around it is another mark on the line
FOLLOWED = 3.0  # pixels that a line may rise or fall from column to column, beside half of its thickness
FOLLOWED_GAP = 2.5  # pixels more for each column that another mark covers
SPLIT = 2  # pixels between two marks in a column
FARTHER = 0.35  # how much less a mark counts for each pixel that it is away from where the line was
DOT_THICKER, DOT_THICKER_BY = 1.45, 1.2  # times, and pixels, by which a dot is thicker than its line
DOT_WIDTHS = (3, 16)  # columns of a dot
HOLLOW = 30  # levels by which the middle of a hollow dot differs from the paper
UNDER_LINE = 3  # pixels under a line at which its area is looked at
FEWEST_SAMPLES = 20  # columns that show the colour of an area
OPACITY = (0.04, 0.95)  # of an area
OPACITY_DECIMALS = 3
AREA_MIXED = 10  # levels that its colour may be off the mixture of line and paper
EVEN_AREA = 0.6  # the part of it that has that colour
RULE_ROOM = 2  # pixels by which a rule may be longer than a line
STEPS = 16  # points on each curve of a line, for its height
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
    strokes: list[StrokeMark] = []
    strongest = sorted(colours, key=lambda paint: -float(np.abs(paint - plot.paper).max()))  # edges are paler
    for colour in strongest:
        if float(np.abs(colour - plot.paper).max()) < LEAST_CONTRAST:
            continue
        stroke = _find_stroke(plot, colour)
        if stroke is not None:
            strokes.append(_with_area(plot, stroke))
    return strokes


def _find_stroke(plot: Plot, colour: Colour) -> StrokeMark | None:
    direction = colour - plot.paper
    change = plot.pixels.astype(np.float64) - plot.paper
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    cover[np.abs(change - cover[:, :, None] * direction).max(axis=2) > MIXED] = 0
    cover[~plot.left] = 0
    has_area = float((cover > AREA_COVER).sum(axis=0).max(initial=0)) > AREA_COLUMN
    floor = SOLID_UNDER_AREA if has_area else SOLID
    strong = np.where(cover >= floor, cover, 0)
    _drop_filled(strong)
    chain = _follow_chain(strong)
    if chain is None:
        return None
    columns, middles, sums = chain
    slopes = np.gradient(
        np.convolve(np.pad(middles, SMOOTHED // 2, mode="edge"), np.ones(SMOOTHED) / SMOOTHED, "valid")
    )
    thick = sums / np.hypot(1, slopes)
    width = float(np.median(thick))
    if not THINNEST_STROKE <= width <= WIDEST_STROKE:
        return None
    points = np.stack((columns + PIXEL_MIDDLE, middles), axis=1).astype(np.float64)
    segments = fit_chain(points, TOLERANCE)
    for x, y, high in zip(columns.tolist(), middles.tolist(), (sums / 2).tolist(), strict=True):
        reach = high + LINE_ROOM
        top, bottom = max(int(y - reach), 0), math.ceil(y + reach)
        plot.left[top:bottom, x] &= cover[top:bottom, x] < FAINT
    dots = list(_find_dots(plot, columns, middles, thick, width))
    for dot in dots:
        explain(plot, Rect(dot.x, dot.y, 0, 0).grown(dot.radius + DOT_ROOM))
    return StrokeMark(segments, round(2 * width) / 2 or 1.0, colour, dots)


def _drop_filled(cover: NDArray[np.float64]) -> None:
    """Remove filled rectangles, such as the samples of a legend."""
    islands = label_islands(np.asarray(cover > 0, np.bool_))
    for number in range(1, len(islands.area)):
        left, top, right, bottom = (int(edge) for edge in islands.edges[number])
        wide, high = right - left, bottom - top
        if min(wide, high) >= LEAST_FILLED and islands.area[number] >= FILLED * wide * high:
            cover[top:bottom, left:right][islands.mask(number)] = 0


def _follow_chain(
    cover: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the columns of a line, its middle and its height in each; None if it is not a line."""
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
    rows, high = np.array([row for _, row, _ in steps]), np.array([height for _, _, height in steps])
    padded = np.pad(high, AROUND, mode="edge")
    around = np.median(np.stack([padded[at : at + len(high)] for at in range(2 * AROUND + 1)]), axis=0)
    fair = high <= np.maximum(THICKER * around, around + THICKER_BY)
    if int(fair.sum()) < SHORTEST_STROKE or float(np.ptp(rows[fair])) < LEAST_RISE:
        return None
    return columns[fair], rows[fair], high[fair]


def _follow(cover: NDArray[np.float64], columns: range, row: float) -> list[tuple[int, float, float]]:
    """Follow a line from column to column, over short gaps where another mark covers it."""
    steps: list[tuple[int, float, float]] = []
    missed, reach = 0, FOLLOWED
    for column in columns:
        rows = np.flatnonzero(cover[:, column] > 0)
        parts = np.split(rows, np.flatnonzero(np.diff(rows) > SPLIT) + 1) if len(rows) else []
        near = [
            part for part in parts if abs(float(part.mean()) - row) <= reach + len(part) / 2 + FOLLOWED_GAP * missed
        ]
        if not near:
            missed += 1
            if missed > LONGEST_GAP:
                break
            continue
        here, at = row, column
        part = max(near, key=lambda rows: float(cover[rows, at].sum()) - FARTHER * abs(float(rows.mean()) - here))
        weights = cover[part, column]
        row, missed, reach = float((weights * part).sum() / weights.sum()), 0, len(part) / 2 + FOLLOWED
        steps.append((column, row + PIXEL_MIDDLE, float(weights.sum())))
    return steps


def _find_dots(
    plot: Plot,
    columns: NDArray[np.int64],
    middles: NDArray[np.float64],
    thick: NDArray[np.float64],
    width: float,
) -> Iterator[Dot]:
    bumps = np.flatnonzero(thick > max(DOT_THICKER * width, width + DOT_THICKER_BY))
    groups = np.split(bumps, np.flatnonzero(np.diff(bumps) > SPLIT) + 1) if len(bumps) else []
    for group in groups:
        if not DOT_WIDTHS[0] <= len(group) <= DOT_WIDTHS[1]:
            continue
        at = float(group[0]) + (len(group) - 1) / 2
        x, y = float(columns[round(at)]) + PIXEL_MIDDLE, float(np.interp(at, np.arange(len(middles)), middles))
        radius = max(float(thick[group].max()), float(len(group) + 1)) / 2
        pixel = plot.pixels[min(int(y), len(plot.pixels) - 1), min(int(x), plot.pixels.shape[1] - 1)]
        yield Dot(x, y, radius, float(np.abs(pixel - plot.paper).max()) < HOLLOW)


def _with_area(plot: Plot, stroke: StrokeMark) -> StrokeMark:
    """Add the area under a stroke: one colour between the paper's and the stroke's, down to a level base."""
    height = len(plot.pixels)
    points = [(int(segment[0][0]), float(segment[0][1])) for segment in stroke.segments]
    first, last = points[0][0], int(stroke.segments[-1][-1][0])
    line = _heights(stroke, first, last)
    inside = [(x, y) for x, y in line if y + stroke.width + (UNDER_LINE + 1) < height]
    samples = [plot.pixels[int(y + stroke.width + UNDER_LINE), x] for x, y in inside]
    if len(samples) < FEWEST_SAMPLES:
        return stroke
    shade = np.median(np.array(samples, np.float64), axis=0)
    direction = stroke.colour - plot.paper
    opacity = float((shade - plot.paper) @ direction / max(float(direction @ direction), 1.0))
    off = float(np.abs(shade - plot.paper - opacity * direction).max())
    exact = float((np.abs(np.array(samples, np.float64) - shade).max(axis=1) <= EQUAL).mean())
    if not OPACITY[0] <= opacity <= OPACITY[1] or off > AREA_MIXED or exact < EVEN_AREA:
        return stroke
    shaded = plot.distance(shade) <= EQUAL
    depths = [float(np.flatnonzero(shaded[:, x])[-1]) + 1.0 for x, _ in line if shaded[:, x].any()]
    base = float(np.median(depths))
    for x, y in line:
        plot.left[int(y) : math.ceil(base) + 1, x] = False
    explain(plot, spanning((first - 2, min(y for _, y in line), first + 1, base)))
    explain(plot, spanning((last - 1, min(y for _, y in line), last + 2, base)))
    return replace(stroke, base=base, opacity=round(opacity, OPACITY_DECIMALS))


def unmix_rules(rules: list[RuleMark], strokes: list[StrokeMark]) -> list[RuleMark]:
    """Give rules under an area the colour that they have without it."""
    unmixed: list[RuleMark] = []
    for rule in rules:
        x, y = rule.rect.middle
        for stroke in strokes:
            first, last = float(stroke.segments[0][0][0]), float(stroke.segments[-1][-1][0])
            inside = first - RULE_ROOM <= rule.rect.x and rule.rect.right <= last + RULE_ROOM
            if not stroke.base or not inside or not y < stroke.base - 1:
                continue
            heights = _heights(stroke, int(x), int(x) + 1)
            if heights and y > heights[0][1] + stroke.width:
                bare = (rule.colour - stroke.opacity * stroke.colour) / (1 - stroke.opacity)
                rule = replace(rule, colour=np.clip(bare, 0, LIGHTEST))
        unmixed.append(rule)
    return unmixed


def _heights(stroke: StrokeMark, first: int, last: int) -> list[tuple[int, float]]:
    """Return the height of a stroke in each column."""
    points = flatten_outline(stroke.segments, STEPS)
    end = stroke.segments[-1][-1]
    xs, ys = [x for x, _ in points] + [float(end[0])], [y for _, y in points] + [float(end[1])]
    return [(x, float(np.interp(x + PIXEL_MIDDLE, xs, ys))) for x in range(first, last)]
