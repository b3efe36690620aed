"""Finds charts and redraws them as vector graphics: bars, lines, areas, pies and rings, with their labels as text."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heald_local.see.chart_marks import ChartMarks, find_marks
from heald_local.see.chart_shapes import draw_labels, draw_marks, even_labels
from heald_local.see.font_weights import LEAST_BOLD
from heald_local.see.patches import find_patches
from heald_local.see.pictures import cut_out
from heald_local.see.plot import make_plot
from heald_pictures.colours import rgb_parts
from heald_pictures.elements import Box, PictureElement, TextElement, TextLine
from heald_pictures.rect import Rect, hull
from heald_pictures.regions import Pixels, distance_between

LEAST_WIDE, LEAST_HIGH = 100, 56  # pixels of a chart
PANEL_WIDE, PANEL_HIGH = 160, 110  # pixels of a box that may hold one
MARGIN = 4  # pixels of paper around a chart
JOINED = 28  # pixels between parts of one chart
LARGEST_LABEL = 14.5  # pixels of type
WORDY = 14  # characters of a label under a chart, at most
WORDY_INSIDE = 3 * WORDY  # characters of a label on a chart, at most
SEEN = 8  # levels by which something differs from the paper
TEXT_ROOM, CLUSTER_ROOM = 2, 3  # pixels at the edge of a panel that are not its inside: for texts, and for charts
BEND_ROOM = 0.3  # the same for round corners, in parts of the radius
WHOLE_PANEL = 0.97  # something that fills this part of a panel is its ground
ON = 0.5  # the part of a text or picture from which on it lies on a chart
MOST_TEXT = 0.08  # the part of a chart that texts cover
MOST_LARGE = 1  # texts on a chart that are not labels, such as the sum in a ring
LABEL_WIDTH = 0.3  # the part of a chart's width that a label beside it has, at most
LABEL_OUTSIDE, LABEL_LEVEL = 30, 10  # pixels by which labels below and beside a chart may reach over its ends
LABEL_OVERLAP = 4  # pixels by which a label may reach into the chart that it is beside
LABEL_AWAY, LABEL_ABOVE = 24, 12  # pixels from a chart to a label beside or below, and above it
LONGEST_NAME = 120  # characters
GRID_SPAN = 0.6  # the part of a chart that a line of its grid spans
FEWEST_STEPS, UNEVEN = 2, 0.2  # between the lines of a grid, and the part by which they differ
FEWEST_LONE_BARS, FEWEST_DOTS = 5, 3  # of a chart without labels: bars, and points on one line
FEWEST_TICKS, FEWEST_NAMES = 2, 3  # amounts, and other labels, in one row or one column
NAME_ENDS, FEWEST_FIELDS = (":", "*"), 2  # ends of the name of a field, and such names beside what is a form
NAMES_SPAN = 0.4  # the part of a chart's width that a row of names spans: words of a menu stand close together
SAME_TICK = 4.0  # pixels by which such labels may be off
AMOUNT = re.compile(r"[-−–+$€£¥]?\s?\d[\d.,\s]*\s?(?:%|[kKmMbB]|ms|s|h|[$€£¥])?")


@dataclass(frozen=True, slots=True)
class Explained:
    """The elements of a page after its charts were redrawn."""

    boxes: list[Box]
    texts: list[TextElement]
    pictures: list[PictureElement]


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
    elements = Explained(list(boxes), list(texts), list(pictures))
    height, width = pixels.shape[:2]
    panels = [box for box in boxes if box.rect.w >= PANEL_WIDE and box.rect.h >= PANEL_HIGH and _is_plain(box)]
    for panel in sorted([*panels, Box(Rect(0, 0, width, height), background)], key=lambda box: box.rect.area):
        inner = [
            other.rect
            for other in panels
            if other is not panel and panel.rect.holds(other.rect, 1) and other.rect.area < panel.rect.area
        ]
        inks = [line.ink for text in elements.texts for line in text.lines]
        clean = _without_texts(pixels, panel, inks, inner)
        for rect in _find_clusters(clean, panel):
            elements = _redraw(clean, fine, ratio, panel, rect, elements)
    return elements


def _is_plain(box: Box) -> bool:
    return box.gradient is None and not box.image and box.control is None


def _without_texts(pixels: Pixels, panel: Box, inks: Sequence[Rect], inner: Sequence[Rect]) -> Pixels:
    """Return a panel's pixels with its texts, its edge and the panels on it painted over."""
    height, width = pixels.shape[:2]
    edge = TEXT_ROOM + (max(panel.border.widths) if panel.border is not None else 0)
    clean = pixels.copy()
    paper = np.array(rgb_parts(panel.fill), np.uint8)
    rect = panel.rect.grown(-edge).within(width, height)
    for covered in (*(ink for ink in inks if rect.common(ink) > 0), *inner):
        part = covered.grown(TEXT_ROOM).within(width, height)
        clean[int(part.y) : math.ceil(part.bottom), int(part.x) : math.ceil(part.right)] = paper
    return clean


def _find_clusters(clean: Pixels, panel: Box) -> list[Rect]:
    """Return the places on a panel where something is drawn that may be a chart."""
    height, width = clean.shape[:2]
    edge = CLUSTER_ROOM + (max(panel.border.widths) if panel.border is not None else 0) + BEND_ROOM * panel.radius
    rect = panel.rect.grown(-edge).within(width, height)
    left, top = int(rect.x), int(rect.y)
    part = clean[top : int(rect.bottom), left : int(rect.right)]
    if min(part.shape[:2]) < LEAST_HIGH:
        return []
    differs = distance_between(part, np.array(rgb_parts(panel.fill), np.uint8)) > SEEN
    places = [patch.rect for patch in find_patches(differs, JOINED, JOINED)]
    return [
        Rect(place.x + left, place.y + top, place.w, place.h).grown(MARGIN).within(width, height)
        for place in places
        if min(place.w, place.h) >= LEAST_HIGH and place.area < WHOLE_PANEL * panel.rect.area
    ]


def _redraw(clean: Pixels, fine: Pixels, ratio: int, panel: Box, rect: Rect, elements: Explained) -> Explained:
    """Replace what lies on one place by a chart, if its marks make one."""
    lines = [line for text in elements.texts for line in text.lines]
    inside = [line for line in lines if rect.common(line.ink) > ON * line.ink.area]
    large = [line for line in inside if line.style.size > LARGEST_LABEL or len(line.text) > WORDY_INSIDE]
    if len(large) > MOST_LARGE or sum(line.ink.area for line in inside) > MOST_TEXT * rect.area:
        return elements
    unread = [other.rect for other in elements.pictures if other.kind == "unread"]
    if any(_is_mostly_on(line, rect) and line.w > LABEL_WIDTH * rect.w for line in unread):
        return elements
    x, y = int(rect.x), int(rect.y)
    part = clean[y : math.ceil(rect.bottom), x : math.ceil(rect.right)]
    plot = make_plot(part, np.array(rgb_parts(panel.fill), np.float64))
    marks = find_marks(plot)
    if marks is None or not marks.kind or (rect.w < LEAST_WIDE and not marks.sectors):
        return elements
    labels = [text for text in elements.texts if all(_is_label(line, rect, panel.rect) for line in text.lines)]
    if not marks.sectors and (_is_form(elements.boxes, labels, rect) or not _has_scale(marks, labels, rect)):
        return elements
    reach = hull([rect, *(text.rect for text in labels), *(line.ink for text in labels for line in text.lines)])
    whole = _snap(reach.grown(1).within(clean.shape[1], clean.shape[0]))
    move = (x - whole.x, y - whole.y)
    drawn = draw_marks(marks, move, plot.paper)
    shapes = (*drawn, *draw_labels(even_labels(labels), whole))
    number = 1 + sum(picture.kind == "chart" for picture in elements.pictures)
    picture = cut_out(fine, ratio, whole, "chart", number)
    label = _describe(marks, labels)
    chart = replace(picture, shapes=shapes, label=label)
    boxes = [box for box in elements.boxes if box is panel or not whole.holds(box.rect, 2)]
    pictures = [other for other in elements.pictures if other.kind == "ground" or not _is_mostly_on(other.rect, whole)]
    return Explained(boxes, [text for text in elements.texts if text not in labels], [*pictures, chart])


def _is_mostly_on(rect: Rect, whole: Rect) -> bool:
    return whole.common(rect) > ON * rect.area


def _snap(rect: Rect) -> Rect:
    x, y = math.floor(rect.x), math.floor(rect.y)
    return Rect(x, y, math.ceil(rect.right) - x, math.ceil(rect.bottom) - y)


def _is_label(line: TextLine, plot: Rect, panel: Rect) -> bool:
    """Whether a text belongs to a chart: on it, or short and close beside it."""
    if line.style.size > LARGEST_LABEL or not panel.holds(line.ink, 1):
        return False
    ink = line.ink
    if plot.grown(TEXT_ROOM).common(ink) > ON * ink.area:
        return True
    short = len(line.text) <= WORDY and ink.w < LABEL_WIDTH * plot.w
    within = plot.x - LABEL_OUTSIDE <= ink.x and ink.right <= plot.right + LABEL_OUTSIDE
    level = plot.y - LABEL_LEVEL <= ink.middle[1] <= plot.bottom + LABEL_LEVEL
    before, after = plot.x - ink.right + LABEL_OVERLAP, ink.x - plot.right + LABEL_OVERLAP
    beside = level and (0 <= before <= LABEL_AWAY or 0 <= after <= LABEL_AWAY)
    below = within and 0 <= ink.y - plot.bottom + LABEL_OVERLAP <= LABEL_AWAY
    above = within and 0 <= plot.y - ink.bottom + LABEL_OVERLAP <= LABEL_ABOVE and line.style.weight < LEAST_BOLD
    return short and (beside or below or above)


def _is_form(boxes: Sequence[Box], labels: Sequence[TextElement], plot: Rect) -> bool:
    """Whether fields look like bars: a control lies among them, or their names end in a colon."""
    names = [line.text.strip() for text in labels for line in text.lines]
    has_control = any(box.control is not None and plot.holds(box.rect) for box in boxes)
    return has_control or sum(name.endswith(NAME_ENDS) for name in names) >= FEWEST_FIELDS


def _has_scale(marks: ChartMarks, labels: Sequence[TextElement], plot: Rect) -> bool:
    """Whether there is a sign that marks show data: a grid, many bars, points on a line, or the labels of an axis.

    Lines of letters, frames of fields and rows of words are marks too.
    """
    level = [rule.rect.y for rule in marks.rules if rule.rect.w >= GRID_SPAN * plot.w]
    upright = [rule.rect.x for rule in marks.rules if rule.rect.h >= GRID_SPAN * plot.h]
    if _is_grid(level) or _is_grid(upright) or len(marks.aligned_bars) >= FEWEST_LONE_BARS:
        return True
    if any(len(stroke.dots) >= FEWEST_DOTS for stroke in marks.strokes):
        return True
    lines = [line for text in labels for line in text.lines]
    numbers = [line.ink for line in lines if AMOUNT.fullmatch(line.text.strip())]
    for inks, fewest, span in ((numbers, FEWEST_TICKS, 0.0), ([line.ink for line in lines], FEWEST_NAMES, NAMES_SPAN)):
        columns = Counter(round(edge / SAME_TICK) for ink in inks for edge in {ink.x, ink.right})
        rows: dict[int, list[Rect]] = {}
        for ink in inks:
            rows.setdefault(round(ink.middle[1] / SAME_TICK), []).append(ink)
        if max(columns.values(), default=0) >= fewest:
            return True
        if any(len(row) >= fewest and hull(row).w >= span * plot.w for row in rows.values()):
            return True
    return False


def _is_grid(places: Sequence[float]) -> bool:
    """Whether lines stand at even distances, as those of a grid do; the edges of boxes do not."""
    ordered = sorted(places)
    steps = [after - before for before, after in itertools.pairwise(ordered) if after - before > SAME_TICK]
    return len(steps) >= FEWEST_STEPS and max(steps) - min(steps) <= UNEVEN * max(steps)


def _describe(marks: ChartMarks, labels: Sequence[TextElement]) -> str:
    """Return what a chart is, and the words at it that are not numbers."""
    words = [line.text for text in labels for line in text.lines if any(letter.isalpha() for letter in line.text)]
    named = ", ".join(dict.fromkeys(words))
    return f"{marks.kind}: {named}"[:LONGEST_NAME] if named else marks.kind
