"""Traces icons of one colour to SVG paths."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw

from weft.vision.elements import PictureElement
from weft.vision.see.ink import extract_ink
from weft.vision.see.pictures import ICON
from weft.vision.see.regions import Pixels, hex_colour

LEVEL = 0.5  # the part of a pixel that a shape covers where its edge is
TOLERANCE = 0.12  # pixels that a point may be off the line between its neighbours before it is kept
MOST_WRONG = 0.22  # the part of an icon's ink that its path may get wrong
MOST_POINTS = 600
LONGEST_ROW = 200.0  # pixels of a row of marks
FINE = 4  # how much larger a path is drawn to compare it

Point = tuple[float, float]
Loop = list[Point]


def trace_icon(picture: PictureElement, fine: Pixels, page: Pixels, ratio: int) -> PictureElement:
    """Return an icon with its path, if it has one colour and the path looks like it; else the picture as it is.

    `fine` is the screenshot at its own resolution, `page` the page without the icon at one pixel for each CSS pixel.
    """
    rect = picture.rect
    rated = picture.kind == "unread" and 3 * rect.h <= rect.w <= LONGEST_ROW and rect.h <= ICON
    if not rated and (picture.kind != "icon" or max(rect.w, rect.h) > ICON):
        return picture
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    seen = fine[top * ratio : bottom * ratio, left * ratio : right * ratio]
    ground = page[top:bottom, left:right].repeat(ratio, axis=0).repeat(ratio, axis=1)
    if seen.shape != ground.shape or int(np.ptp(ground.reshape(-1, 3), axis=0).max()) > 6:
        return picture
    height, width = seen.shape[:2]
    ink = extract_ink(seen, ground, replace(rect, x=0, y=0, w=width, h=height))
    if ink is None or ink.underlined:
        return picture
    cover = np.zeros((height, width), np.float32)
    x, y = int(ink.rect.x), int(ink.rect.y)
    cover[y : y + ink.cover.shape[0], x : x + ink.cover.shape[1]] = ink.cover
    if rated and not is_row_of_marks(cover):
        return picture
    if rated:
        picture = replace(picture, kind="icon", name=picture.name.replace("unread", "icon"))
    loops = [simplify_loop(loop) for loop in trace_loops(cover)]
    loops = [loop for loop in loops if len(loop) >= 3]
    if not loops or sum(map(len, loops)) > (2 if rated else 1) * MOST_POINTS or _part_wrong(cover, loops) > MOST_WRONG:
        return picture
    data = " ".join(_path_data(loop, ratio) for loop in loops)
    wide, high = right - left, bottom - top
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">'
        f'<path fill="{hex_colour(ink.colour)}" fill-rule="evenodd" d="{data}"/></svg>\n'
    )
    return replace(picture, vector=svg)


def is_row_of_marks(cover: NDArray[np.float32]) -> bool:
    """Whether a picture shows three to six marks of one size at even distances, such as the stars of a rating."""
    filled = np.flatnonzero(cover.max(axis=0) > LEVEL / 2)
    rows = np.flatnonzero(cover.max(axis=1) > LEVEL / 2)
    if not len(filled) or not len(rows):
        return False
    marks = np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1)
    widths = [int(mark[-1] - mark[0]) + 1 for mark in marks]
    starts = [int(mark[0]) for mark in marks]
    steps = np.diff(starts)
    high = int(rows[-1] - rows[0]) + 1
    even = max(widths) - min(widths) <= 2 and (not len(steps) or int(np.ptp(steps)) <= 2)
    return 3 <= len(marks) <= 6 and even and 0.75 * high <= widths[0] <= 1.35 * high


def trace_loops(cover: NDArray[np.float32]) -> list[Loop]:
    """Trace the closed edges of a shape by marching squares, in pixels from the corner of the picture."""
    values = np.pad(cover.astype(np.float64), 1)
    inside = values >= LEVEL
    after: dict[Point, list[Point]] = {}
    rows, columns = np.nonzero(
        inside[:-1, :-1] ^ inside[:-1, 1:] | inside[:-1, :-1] ^ inside[1:, :-1] | inside[:-1, :-1] ^ inside[1:, 1:]
    )
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        for start, end in _cell_edges(values[row : row + 2, column : column + 2]):
            begin = (column + start[0], row + start[1])
            after.setdefault(begin, []).append((column + end[0], row + end[1]))
    loops: list[Loop] = []
    while after:
        first = next(iter(after))
        loop, at = [first], first
        while at in after:
            following = after[at].pop()
            if not after[at]:
                del after[at]
            at = following
            if at == first:
                break
            loop.append(at)
        loops.append([(x - 0.5, y - 0.5) for x, y in loop])
    return loops


def _cell_edges(cell: NDArray[np.float64]) -> list[tuple[Point, Point]]:
    """Return the edges in a square of four pixels' middles, each with the shape on its left."""
    a, b, c, d = float(cell[0, 0]), float(cell[0, 1]), float(cell[1, 1]), float(cell[1, 0])
    over, beside = (_crossing(a, b), 0.0), (1.0, _crossing(b, c))
    under, before = (_crossing(d, c), 1.0), (0.0, _crossing(a, d))
    match (a >= LEVEL, b >= LEVEL, c >= LEVEL, d >= LEVEL):
        case (True, False, False, False):
            return [(over, before)]
        case (False, True, False, False):
            return [(beside, over)]
        case (False, False, True, False):
            return [(under, beside)]
        case (False, False, False, True):
            return [(before, under)]
        case (True, True, False, False):
            return [(beside, before)]
        case (False, True, True, False):
            return [(under, over)]
        case (False, False, True, True):
            return [(before, beside)]
        case (True, False, False, True):
            return [(over, under)]
        case (False, True, True, True):
            return [(before, over)]
        case (True, False, True, True):
            return [(over, beside)]
        case (True, True, False, True):
            return [(beside, under)]
        case (True, True, True, False):
            return [(under, before)]
        case (True, False, True, False):
            return [(over, before), (under, beside)]
        case (False, True, False, True):
            return [(beside, over), (before, under)]
        case _:
            return []


def _crossing(one: float, two: float) -> float:
    """Return where the level lies between two pixels, from 0 to 1, rounded so that neighbours agree."""
    return round((LEVEL - one) / (two - one), 3) if one != two else 0.5


def simplify_loop(loop: Loop) -> Loop:
    """Drop points that lie on the line between others (Ramer 1972, Douglas and Peucker 1973)."""
    if len(loop) < 4:
        return loop
    points = np.array(loop)
    far = int(np.hypot(*(points - points[0]).T).argmax())
    kept = {0, far}
    open_parts = [(0, far), (far, len(loop))]
    whole = np.concatenate((points, points[:1]))
    while open_parts:
        start, end = open_parts.pop()
        if end - start < 2:
            continue
        first, last = whole[start], whole[end]
        along = last - first
        away = whole[start + 1 : end] - first
        size = float(np.hypot(*along))
        off = np.abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / size if size else np.hypot(*away.T)
        worst = int(off.argmax())
        if float(off[worst]) > TOLERANCE:
            middle = start + 1 + worst
            kept.add(middle)
            open_parts += [(start, middle), (middle, end)]
    return [loop[number] for number in sorted(kept)]


def _part_wrong(cover: NDArray[np.float32], loops: list[Loop]) -> float:
    """Return the part of the ink by which the drawn path differs."""
    height, width = cover.shape
    whole = Image.new("1", (width * FINE, height * FINE))
    for loop in loops:
        part = Image.new("1", whole.size)
        ImageDraw.Draw(part).polygon([(x * FINE - 0.5, y * FINE - 0.5) for x, y in loop], fill=1)
        whole = ImageChops.logical_xor(whole, part)
    drawn = np.asarray(whole, np.float32).reshape(height, FINE, width, FINE).mean(axis=(1, 3))
    return float(np.abs(drawn - cover).sum() / max(float(cover.sum()), 1.0))


def _path_data(loop: Loop, ratio: int) -> str:
    points = [f"{_number(x / ratio)} {_number(y / ratio)}" for x, y in loop]
    return f"M{points[0]}L{' '.join(points[1:])}Z"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
