"""Draws the marks and labels of a chart as SVG shapes."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from heald_local.see.chart_bars import BarMark
from heald_local.see.chart_marks import ChartMarks
from heald_local.see.chart_rules import RuleMark
from heald_local.see.chart_sectors import SectorMark
from heald_local.see.chart_strokes import StrokeMark
from heald_local.see.font_weights import REGULAR
from heald_local.see.path_data import format_number, open_path_data
from heald_local.see.plot import Colour
from heald_pictures.colours import hex_colour
from heald_pictures.elements import Shape, TextElement, TextLine
from heald_pictures.fonts import FONT_STACKS
from heald_pictures.rect import Rect

OPEN = 0.001  # radians that a whole turn lacks: an arc that ends where it begins is not drawn
LEAST_GAP = 0.7  # pixels between sectors, from which on it is drawn
SAME_SIZE = 1.5  # pixels by which labels of one size seem to differ


def draw_marks(marks: ChartMarks, move: tuple[float, float], paper: Colour) -> list[Shape]:
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
    upper_left, upper_right, lower_right, lower_left = bar.radii
    steps = (
        ("M", left + upper_left, top),
        ("H", right - upper_right),
        *_turn(upper_right, right, top + upper_right),
        ("V", bottom - lower_right),
        *_turn(lower_right, right - lower_right, bottom),
        ("H", left + lower_left),
        *_turn(lower_left, left, bottom - lower_left),
        ("V", top + upper_left),
        *_turn(upper_left, left + upper_left, top),
    )
    data = "".join(f"{step[0]}{' '.join(format_number(float(number)) for number in step[1:])}" for step in steps)
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
    turn = min(sector.end - sector.start, 2 * math.pi - OPEN)
    start, end, wide = sector.start, sector.start + turn, int(turn > math.pi)

    def point(angle: float, radius: float) -> str:
        return f"{format_number(x + radius * math.cos(angle))} {format_number(y + radius * math.sin(angle))}"

    outer, inner = format_number(sector.outer), format_number(sector.inner)
    data = f"M{point(start, sector.outer)}A{outer} {outer} 0 {wide} 1 {point(end, sector.outer)}"
    if sector.inner:
        data += f"L{point(end, sector.inner)}A{inner} {inner} 0 {wide} 0 {point(start, sector.inner)}z"
    else:
        data += f"L{format_number(x)} {format_number(y)}z"
    edge = (
        (("stroke", hex_colour(paper)), ("stroke-width", format_number(sector.gap))) if sector.gap > LEAST_GAP else ()
    )
    return Shape("path", (("fill", hex_colour(sector.colour)), *edge, ("d", data)))


def even_labels(labels: Sequence[TextElement]) -> list[TextLine]:
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
        near = abs(style.size - size) <= SAME_SIZE
        even.append(replace(line, style=replace(style, size=size) if near else style))
    return even


def draw_labels(lines: Sequence[TextLine], whole: Rect) -> list[Shape]:
    """Draw labels as text in one group, which has what they share."""
    if not lines:
        return []
    first = lines[0].style
    shared = {"font-family": FONT_STACKS[first.family], "font-size": f"{first.size:g}", "fill": first.colour}
    if first.weight != REGULAR:
        shared["font-weight"] = str(first.weight)
    texts: list[Shape] = []
    for line in lines:
        style = {"font-size": f"{line.style.size:g}", "fill": line.style.colour}
        differs = [pair for pair in style.items() if shared[pair[0]] != pair[1]]
        place = (("x", format_number(line.rect.x - whole.x)), ("y", format_number(line.baseline - whole.y)))
        texts.append(Shape("text", (*place, *differs), line.text))
    return [Shape("g", tuple(shared.items()), children=tuple(texts))]
