"""Puts the parts of a page that do not reach its edges into centred columns, so that they need no margins of their own.

A landmark or section whose parts all keep away from the edges becomes such a column; in others, each run of these parts
gets a container. Bands and pictures that reach an edge stay as wide as the page.
"""

from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_pictures.rect import Rect, hull

_EDGE = 4.0  # pixels from the edge of the page within which a part reaches it
_SLIP = 1.6  # pixels by which the edges of one column may differ; that of its largest part counts
_NEAR = 64.0  # pixels by which a run may begin inside of the page's column and still be in it
_DEEPEST = 0.2  # of the page, by which a column may begin inside of it
_LEAST_COLUMN = 48.0  # pixels; a row that is nearer to the edge fills the page
_LANDMARKS = frozenset({"header", "main", "footer", "section"})


def centre_columns(body: Part, width: float, column: float) -> Part:
    """Return the page with centred columns. `column` is the left edge of the column that most of the page keeps."""
    return replace(body, children=tuple(_centre(child, width, column) for child in body.children))


def find_narrower(part: Part, width: float) -> list[Rect]:
    """Return the rectangles in a part that do not span the page."""
    rects: list[Rect] = []
    for child in part.children:
        if child.rect.w < width - 2:
            rects.append(child.rect)
        elif child.children:
            rects += find_narrower(child, width)
    return rects


def _centre(part: Part, width: float, column: float) -> Part:
    if part.kind == "row" and part.box is None and part.tag in _LANDMARKS and _is_in_column(part.rect, width, column):
        return replace(part, rect=Rect(column, part.rect.y, width - 2 * column, part.rect.h))
    if not _is_wide_stack(part, width) or part.tag not in _LANDMARKS:
        return part
    if not _reaches_edge(part, width):
        return _narrow(part, width, _edge([part], width, column))
    children: list[Part] = []
    run: list[Part] = []
    for child in (*part.children, None):
        if child is not None and not _reaches_edge(child, width) and not _is_wide_stack(child, width):
            run.append(child)
            continue
        children += [_container(run, width, column)] if run else []
        run = []
        children += [_centre(child, width, column)] if child is not None else []
    return replace(part, children=tuple(children))


def _is_in_column(rect: Rect, width: float, column: float) -> bool:
    """Whether a row begins where the column of the page does, and ends in it."""
    return column >= _LEAST_COLUMN and abs(rect.x - column) <= _SLIP and rect.right <= width - column + _SLIP


def _is_wide_stack(part: Part, width: float) -> bool:
    return part.kind == "stack" and part.box is None and part.rect.w >= width - 2 and bool(part.children)


def _reaches_edge(part: Part, width: float) -> bool:
    if _is_wide_stack(part, width):
        return any(_reaches_edge(child, width) for child in part.children)
    return part.rect.x < _EDGE or part.rect.right > width - _EDGE


def _edge(parts: Sequence[Part], width: float, column: float) -> float:
    """Return the left edge of the centred column around some parts."""
    rects = [part.rect for part in parts if part.rect.w < width - 2]
    rects += [rect for part in parts if part.rect.w >= width - 2 for rect in find_narrower(part, width)]
    if not rects:
        return 0.0
    edges = [(min(rect.x, width - rect.right), rect.area) for rect in rects]
    least = min(edge for edge, _ in edges)
    edge = max((area, edge) for edge, area in edges if edge <= least + _SLIP)[1]
    if column >= _EDGE and column + _SLIP < edge <= column + _NEAR:
        return column
    return min(edge, max(column, _DEEPEST * width))


def _narrow(part: Part, width: float, edge: float) -> Part:
    """Give a part, and those in it that are as wide as the page, the width of a column."""
    if not _is_wide_stack(part, width):
        return part
    rect = Rect(edge, part.rect.y, width - 2 * edge, part.rect.h)
    return replace(part, rect=rect, children=tuple(_narrow(child, width, edge) for child in part.children))


def _container(run: Sequence[Part], width: float, column: float) -> Part:
    edge = _edge(run, width, column)
    around = hull(part.rect for part in run)
    rect = Rect(edge, around.y, width - 2 * edge, around.h)
    return Part("stack", rect, tuple(run), name="container")
