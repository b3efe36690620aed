"""Finds charts and redraws them as vector graphics: bars, lines, areas, pies and rings, with their labels as text."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.vision.elements import Box, PictureElement, Rect, Shape, TextElement, TextLine, hull
from weft.vision.see.chart_marks import (
    BarMark,
    Colour,
    Plot,
    RuleMark,
    SectorMark,
    find_bars,
    find_colours,
    find_rules,
    find_sectors,
    make_plot,
)
from weft.vision.see.chart_strokes import StrokeMark, find_strokes, unmix_rules
from weft.vision.see.curves import format_number, open_path_data
from weft.vision.see.fonts import FONT_STACKS
from weft.vision.see.pictures import cut_out, find_patches
from weft.vision.see.regions import Pixels, distance_between, hex_colour, rgb_parts
from weft.vision.see.vectors import trace_scrap

LEAST_WIDE, LEAST_HIGH = 100, 56
PANEL_WIDE, PANEL_HIGH = 160, 110
MARGIN = 4  # pixels of paper around a chart
JOINED = 28  # pixels between parts of one chart
LARGEST_LABEL = 14.5  # pixels of type
WORDY = 14  # characters of a label under a chart, at most
MOST_LEFT = 0.12  # the part of a chart's pixels that no mark may explain
LARGEST_SCRAP = 48.0
DENSE, GRAINY = 0.5, 0.5  # of a photograph: more than the first part is drawn on, less than the second of that is flat
FEWEST_BARS = 3


@dataclass(frozen=True, slots=True)
class Explained:
    """The elements of a page after its charts were redrawn."""

    boxes: list[Box]
    texts: list[TextElement]
    pictures: list[PictureElement]


@dataclass(frozen=True, slots=True)
class _Marks:
    rules: list[RuleMark]
    bars: list[BarMark]
    strokes: list[StrokeMark]
    sectors: list[SectorMark]
    scraps: list[Shape]

    @property
    def kind(self) -> str:
        """A noun for the chart; empty if the marks do not make one."""
        if self.sectors and len(self.sectors) > 1:
            return "Ring chart" if self.sectors[0].inner else "Pie chart"
        if any(stroke.base for stroke in self.strokes):
            return "Area chart"
        bars = _aligned_bars(self.bars)
        if len(bars) >= FEWEST_BARS and (self.rules or not _is_lying(bars)):
            return "Bar chart"
        return "Line chart" if self.strokes and not self.bars[9:] else ""


def redraw_charts(
    fine: Pixels,
    ratio: int,
    background: str,
    boxes: Sequence[Box],
    texts: Sequence[TextElement],
    pictures: Sequence[PictureElement],
) -> Explained:
    """Return the elements of a page with each chart as one picture of shapes."""
    pixels = np.ascontiguousarray(fine[::ratio, ::ratio]) if ratio > 1 else fine
    left = Explained(list(boxes), list(texts), list(pictures))
    height, width = pixels.shape[:2]
    panels = [box for box in boxes if box.rect.w >= PANEL_WIDE and box.rect.h >= PANEL_HIGH and _is_plain(box)]
    for panel in sorted([*panels, Box(Rect(0, 0, width, height), background)], key=lambda box: box.rect.area):
        inner = [other.rect for other in panels if other is not panel and panel.rect.holds(other.rect, 1)]
        inner = [rect for rect in inner if rect.area < panel.rect.area]
        lines = [line for text in left.texts for line in text.lines]
        clean = _without_texts(pixels, panel, [line.ink for line in lines], inner)
        for rect in _find_clusters(clean, panel):
            left = _redraw(clean, fine, ratio, panel, rect, left)
    return left


def _is_plain(box: Box) -> bool:
    return box.gradient is None and not box.image and box.control is None


def _without_texts(pixels: Pixels, panel: Box, inks: Sequence[Rect], inner: Sequence[Rect]) -> Pixels:
    """Return a panel's pixels with its texts, its edge and the panels on it painted over."""
    height, width = pixels.shape[:2]
    edge = 2 + (max(panel.border.widths) if panel.border is not None else 0)
    clean = pixels.copy()
    paper = np.array(rgb_parts(panel.fill), np.uint8)
    rect = panel.rect.grown(-edge).within(width, height)
    for each in (*(ink for ink in inks if rect.common(ink) > 0), *inner):
        part = each.grown(2).within(width, height)
        clean[int(part.y) : math.ceil(part.bottom), int(part.x) : math.ceil(part.right)] = paper
    return clean


def _find_clusters(clean: Pixels, panel: Box) -> list[Rect]:
    """Return the places on a panel where something is drawn that may be a chart."""
    height, width = clean.shape[:2]
    edge = 3 + (max(panel.border.widths) if panel.border is not None else 0) + 0.3 * panel.radius
    rect = panel.rect.grown(-edge).within(width, height)
    left, top = int(rect.x), int(rect.y)
    part = clean[top : int(rect.bottom), left : int(rect.right)]
    if min(part.shape[:2]) < LEAST_HIGH:
        return []
    differs = distance_between(part, np.array(rgb_parts(panel.fill), np.uint8)) > 8
    found = [patch.rect for patch in find_patches(differs, JOINED, JOINED)]
    found = [each for each in found if each.w >= LEAST_HIGH and each.h >= LEAST_HIGH]
    found = [each for each in found if each.area < 0.97 * panel.rect.area]
    return [Rect(each.x + left, each.y + top, each.w, each.h).grown(MARGIN).within(width, height) for each in found]


def _redraw(clean: Pixels, fine: Pixels, ratio: int, panel: Box, rect: Rect, left: Explained) -> Explained:
    """Replace what lies on one place by a chart, if its marks make one."""
    lines = [line for text in left.texts for line in text.lines]
    inside = [line for line in lines if rect.common(line.ink) > 0.5 * line.ink.area]
    large = [line for line in inside if line.style.size > LARGEST_LABEL or len(line.text) > 3 * WORDY]
    if len(large) > 1 or sum(line.ink.area for line in inside) > 0.08 * rect.area:
        return left
    x, y = int(rect.x), int(rect.y)
    part = clean[y : math.ceil(rect.bottom), x : math.ceil(rect.right)]
    plot = make_plot(part, np.array(rgb_parts(panel.fill), np.float64))
    marks = _find_marks(plot)
    if marks is None or not marks.kind or (rect.w < LEAST_WIDE and not marks.sectors):
        return left
    labels = [text for text in left.texts if all(_is_label(line, rect, panel.rect) for line in text.lines)]
    whole = hull([rect, *(text.rect for text in labels), *(line.ink for text in labels for line in text.lines)])
    whole = _snap(whole.grown(1).within(clean.shape[1], clean.shape[0]))
    move = (x - whole.x, y - whole.y)
    drawn = _draw_marks(marks, move, plot.paper)
    shapes = (*drawn, *_draw_labels(_even_labels(labels), whole))
    number = 1 + sum(picture.kind == "chart" for picture in left.pictures)
    picture = cut_out(fine, ratio, whole, "chart", number)
    label = _describe(marks, labels)
    chart = replace(picture, shapes=shapes, label=label)
    boxes = [box for box in left.boxes if box is panel or not whole.holds(box.rect, 2)]
    pictures = [each for each in left.pictures if each.kind == "ground" or not _is_mostly_on(each.rect, whole)]
    return Explained(boxes, [text for text in left.texts if text not in labels], [*pictures, chart])


def _is_mostly_on(rect: Rect, whole: Rect) -> bool:
    return whole.common(rect) > 0.5 * rect.area


def _snap(rect: Rect) -> Rect:
    x, y = math.floor(rect.x), math.floor(rect.y)
    return Rect(x, y, math.ceil(rect.right) - x, math.ceil(rect.bottom) - y)


def _find_marks(plot: Plot) -> _Marks | None:
    """Find all marks; None if much is left that they do not explain."""
    total = int(plot.left.sum())
    if _is_photograph(plot):
        return None
    colours = find_colours(plot)
    if not total or not colours:
        return None
    sectors = find_sectors(plot, colours)
    rules = find_rules(plot, colours)
    strokes = find_strokes(plot, colours)
    rules = unmix_rules(rules, strokes)
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
    return _Marks(rules, bars, strokes, sectors, scraps) if left <= MOST_LEFT * total else None


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
            found = [
                bar
                for bar in bars
                if abs((bar.rect.x if lying else bar.rect.bottom) - level) <= 1.5
                and abs((bar.rect.h if lying else bar.rect.w) - wide) <= 1.5
            ]
            lengths = {round(bar.rect.w if lying else bar.rect.h) for bar in found}
            if len(lengths) >= FEWEST_BARS and len(found) > len(best):
                best = found
    return best


def _is_lying(bars: Sequence[BarMark]) -> bool:
    return max(bar.rect.x for bar in bars) - min(bar.rect.x for bar in bars) <= 2


def _is_label(line: TextLine, plot: Rect, panel: Rect) -> bool:
    """Whether a text belongs to a chart: on it, or short and close beside it."""
    if line.style.size > LARGEST_LABEL or not panel.holds(line.ink, 1):
        return False
    ink = line.ink
    if plot.grown(2).common(ink) > 0.5 * ink.area:
        return True
    short = len(line.text) <= WORDY and ink.w < 0.3 * plot.w
    within = plot.x - 30 <= ink.x and ink.right <= plot.right + 30
    level = plot.y - 10 <= ink.middle[1] <= plot.bottom + 10
    beside = level and (0 <= plot.x - ink.right + 4 <= 24 or 0 <= ink.x - plot.right + 4 <= 24)
    below = within and 0 <= ink.y - plot.bottom + 4 <= 24
    above = within and 0 <= plot.y - ink.bottom + 4 <= 12 and line.style.weight < 600
    return short and (beside or below or above)


def _draw_marks(marks: _Marks, move: tuple[float, float], paper: Colour) -> list[Shape]:
    """Draw rules first, then what lies on them."""
    by = ("transform", f"translate({format_number(move[0])} {format_number(move[1])})")
    shapes = [_draw_rule(rule, move) for rule in marks.rules]
    shapes += [_draw_bar(bar, move) for bar in marks.bars]
    shapes += [_draw_sector(sector, move, paper) for sector in marks.sectors]
    for stroke in marks.strokes:
        shapes += [replace(shape, attributes=(*shape.attributes, by)) for shape in _draw_stroke(stroke, paper)]
    return shapes + [replace(shape, attributes=(*shape.attributes, by)) for shape in marks.scraps]


def _draw_rule(rule: RuleMark, move: tuple[float, float]) -> Shape:
    rect = rule.rect
    return Shape("rect", (*_place(rect, move), ("fill", hex_colour(rule.colour))))


def _draw_bar(bar: BarMark, move: tuple[float, float]) -> Shape:
    fill = ("fill", hex_colour(bar.colour))
    if len(set(bar.radii)) == 1:
        bend = (("rx", format_number(bar.radii[0])),) if bar.radii[0] else ()
        return Shape("rect", (*_place(bar.rect, move), *bend, fill))
    left, top, right, bottom = (
        bar.rect.x + move[0],
        bar.rect.y + move[1],
        bar.rect.right + move[0],
        bar.rect.bottom + move[1],
    )
    one, two, three, four = bar.radii
    steps = (
        ("M", left + one, top),
        ("H", right - two),
        *_turn(two, right, top + two),
        ("V", bottom - three),
        *_turn(three, right - three, bottom),
        ("H", left + four),
        *_turn(four, left, bottom - four),
        ("V", top + one),
        *_turn(one, left + one, top),
    )
    data = "".join(f"{step[0]}{' '.join(format_number(float(each)) for each in step[1:])}" for step in steps)
    return Shape("path", (fill, ("d", f"{data}z")))


def _turn(radius: float, x: float, y: float) -> tuple[tuple[str | float, ...], ...]:
    return (("A", radius, radius, 0, 0, 1, x, y),) if radius else ()


def _place(rect: Rect, move: tuple[float, float]) -> tuple[tuple[str, str], ...]:
    values = (("x", rect.x + move[0]), ("y", rect.y + move[1]), ("width", rect.w), ("height", rect.h))
    return tuple((name, format_number(value)) for name, value in values)


def _draw_stroke(stroke: StrokeMark, paper: Colour) -> list[Shape]:
    colour = hex_colour(stroke.colour)
    data = open_path_data(stroke.segments)
    shapes: list[Shape] = []
    if stroke.base:
        first, last = float(stroke.segments[0][0][0]), float(stroke.segments[-1][-1][0])
        base = format_number(stroke.base)
        area = f"{data}L{format_number(last)} {base} {format_number(first)} {base}z"
        shapes.append(Shape("path", (("fill", colour), ("fill-opacity", f"{stroke.opacity:g}"), ("d", area))))
    line = (("fill", "none"), ("stroke", colour), ("stroke-width", format_number(stroke.width)))
    shapes.append(Shape("path", (*line, ("stroke-linejoin", "round"), ("d", data))))
    for dot in stroke.dots:
        radius = dot.radius - (stroke.width / 2 if dot.hollow else 0)
        place = (("cx", format_number(dot.x)), ("cy", format_number(dot.y)), ("r", format_number(radius)))
        ring = (("stroke", colour), ("stroke-width", format_number(stroke.width))) if dot.hollow else ()
        shapes.append(Shape("circle", (*place, ("fill", hex_colour(paper) if dot.hollow else colour), *ring)))
    return shapes


def _draw_sector(sector: SectorMark, move: tuple[float, float], paper: Colour) -> Shape:
    x, y = sector.x + move[0], sector.y + move[1]
    turn = min(sector.end - sector.start, 2 * math.pi - 0.001)
    start, end, wide = sector.start, sector.start + turn, int(turn > math.pi)

    def point(angle: float, radius: float) -> str:
        return f"{format_number(x + radius * math.cos(angle))} {format_number(y + radius * math.sin(angle))}"

    outer, inner = format_number(sector.outer), format_number(sector.inner)
    data = f"M{point(start, sector.outer)}A{outer} {outer} 0 {wide} 1 {point(end, sector.outer)}"
    if sector.inner:
        data += f"L{point(end, sector.inner)}A{inner} {inner} 0 {wide} 0 {point(start, sector.inner)}z"
    else:
        data += f"L{format_number(x)} {format_number(y)}z"
    edge = (("stroke", hex_colour(paper)), ("stroke-width", format_number(sector.gap))) if sector.gap > 0.7 else ()
    return Shape("path", (("fill", hex_colour(sector.colour)), *edge, ("d", data)))


def _even_labels(labels: Sequence[TextElement]) -> list[TextLine]:
    """Return the labels' lines in the family and weight that most of them have: few letters show neither well."""
    lines = [line for text in labels for line in text.lines]
    if not lines:
        return []
    family = Counter(line.style.family for line in lines).most_common(1)[0][0]
    weight = Counter(line.style.weight for line in lines).most_common(1)[0][0]
    size = Counter(line.style.size for line in lines).most_common(1)[0][0]
    even: list[TextLine] = []
    for line in lines:
        style = replace(line.style, family=family, weight=weight, italic=False, spacing=0.0)
        near = abs(style.size - size) <= 1.5
        even.append(replace(line, style=replace(style, size=size) if near else style))
    return even


def _draw_labels(lines: Sequence[TextLine], whole: Rect) -> list[Shape]:
    """Draw labels as text in one group, which has what they share."""
    if not lines:
        return []
    first = lines[0].style
    shared = {"font-family": FONT_STACKS[first.family], "font-size": f"{first.size:g}", "fill": first.colour}
    if first.weight != 400:
        shared["font-weight"] = str(first.weight)
    texts: list[Shape] = []
    for line in lines:
        own = {"font-size": f"{line.style.size:g}", "fill": line.style.colour}
        differs = [pair for pair in own.items() if shared[pair[0]] != pair[1]]
        place = (("x", format_number(line.rect.x - whole.x)), ("y", format_number(line.baseline - whole.y)))
        texts.append(Shape("text", (*place, *differs), line.text))
    return [Shape("g", tuple(shared.items()), children=tuple(texts))]


def _describe(marks: _Marks, labels: Sequence[TextElement]) -> str:
    """Return what a chart is, and the words at it that are no numbers."""
    words = [line.text for text in labels for line in text.lines if any(letter.isalpha() for letter in line.text)]
    named = ", ".join(dict.fromkeys(words))
    return f"{marks.kind}: {named}"[:120] if named else marks.kind
