"""Recognises frames, crosses, discs and strokes that are drawn by hand."""

from dataclasses import dataclass

import numpy as np

from heald_local.see.paper import grow_mask
from heald_local.see.pixel_units import PIXEL_MIDDLE
from heald_local.see.sheet_corners import fit_line
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Regions, label_islands

MOST_NESTED = 6  # shapes that lie in each other
STROKE_ROOM = 2  # pixels between strokes of one drawing
LEAST_SHAPES, LEAST_BEND = 3, 0.45  # of a sketch: shapes, and pixels that the middle one strays from straight lines
LEAST_FRAME = 30  # pixels of the shorter side of a frame
SIDE = 0.68  # the part of each side of a frame that is drawn
BENT = 0.13  # how far a side strays, in parts of the shorter side of its frame
THICK = 12  # pixels of the thickest line
LEAST_LEVEL = 48  # pixels of a level stroke
LEAST_COLUMNS = 16  # of a line whose bend is measured
FLATTEST, FLATTEST_SHARE = 20, 0.06  # a stroke strays by at most so many pixels, or this part of its length
UNBROKEN = 0.9  # the part of a stroke that has no gaps, and that is not thicker than a line
LEAST_REACH, REACH_SHARE, MOST_REACH = 14, 0.22, 28
"""Pixels that a side may stray: at least the first, unless it is more than this part of the shorter side; at most."""
RING = 1.5  # the width of the ring that is removed with a frame, in reaches
CROSS_ROOM = 0.04  # how far from the diagonal it may be drawn, in parts of the shorter side
CROSS_FROM, CROSS_SPAN, CROSS_STEPS = 0.12, 0.76, 60  # the part of a diagonal that is looked at, and at how many places
DISC_SHAPE = (0.75, 1.33)  # the width of a disc, in parts of its height
DISC_EDGE, DISC_DRAWN = 0.95, 0.8  # radii at which its line runs, and the part of its pixels that lie there
DISC_TURNS, DISC_CLOSED = 24, 21  # parts of a turn, and how many of them are drawn
LEAST_UPRIGHT = 110  # pixels of an upright stroke: shorter ones are letters
SMALL_FRAME, SMALL_SIDE, MOST_INSIDE = 60, 0.85, 0.25
"""A frame with a shorter side below the first may be letters: its sides must be drawn nearly whole, and little else."""
DIAGONAL = 0.65  # the part of both diagonals of a cross that is drawn
ROUND = 0.13  # how far the line of a disc strays from a circle, in parts of its radius


@dataclass(frozen=True, slots=True)
class Shapes:
    """The recognised shapes: frames, crosses in them, discs, long strokes; and the strokes that are left."""

    frames: list[Rect]
    crossed: list[Rect]
    discs: list[Rect]
    strokes: list[Rect]
    rest: Mask


def find_drawn_shapes(strokes: Mask) -> Shapes | None:
    """Return the shapes of a sketch; None if there are few, or if they are too straight to be drawn by hand."""
    shapes = _find_shapes(strokes)
    bent = [_bend(strokes, rect) for rect in (*shapes.frames, *shapes.strokes, *shapes.discs)]
    return shapes if len(bent) >= LEAST_SHAPES and float(np.median(bent)) >= LEAST_BEND else None


def _find_shapes(strokes: Mask) -> Shapes:
    """Recognise the outermost shapes, remove their lines, and go on with what is in them."""
    shapes = Shapes([], [], [], [], strokes.copy())
    for _ in range(MOST_NESTED):
        marks = label_islands(grow_mask(shapes.rest, STROKE_ROOM))
        numbers = [number for number in range(1, len(marks.area)) if _recognise(shapes, marks, number)]
        if not numbers:
            break
    return shapes


def _bend(strokes: Mask, rect: Rect) -> float:
    """Return how far the upper or left line of a shape strays from a straight one, in pixels."""
    part = strokes[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)]
    if rect.h > rect.w:
        part = part.T
    reach = len(part) if len(part) < LEAST_FRAME else _reach(rect.h, rect.w)
    band = part[:reach]
    count = band.sum(axis=0)
    columns = np.flatnonzero(count)
    columns = columns[(columns > reach) & (columns < part.shape[1] - reach)]
    if len(columns) < LEAST_COLUMNS:
        return 0.0
    middle = (band * np.arange(reach)[:, None]).sum(axis=0)[columns] / count[columns]
    slope, offset = fit_line(columns.astype(np.float64), middle)
    off = np.asarray(middle - slope * columns - offset, np.float64)
    return float(np.sqrt(np.mean(off * off)))


def _recognise(shapes: Shapes, marks: Regions, number: int) -> bool:
    """Recognise one connected drawing; whether it was a shape, whose lines are then removed."""
    left, top, right, bottom = (int(edge) for edge in marks.edges[number])
    rect = spanning((left, top, right, bottom))
    drawn = marks.mask(number) & shapes.rest[top:bottom, left:right]
    if not drawn.any():
        return False
    if _is_stroke(drawn):
        shapes.strokes.append(rect)
    elif min(rect.w, rect.h) < LEAST_FRAME:
        return False
    elif _is_disc(drawn):
        shapes.discs.append(rect)
    elif _is_frame(drawn):
        shapes.frames.append(rect)
        if min(rect.w, rect.h) >= 2 * LEAST_FRAME and _is_crossed(drawn):
            shapes.crossed.append(rect)
        else:
            ring = drawn & _ring(drawn.shape, round(RING * _reach(rect.h, rect.w)))
            shapes.rest[top:bottom, left:right] &= ~ring
            return True
    else:
        return False
    shapes.rest[top:bottom, left:right] &= ~drawn
    return True


def _is_stroke(drawn: Mask) -> bool:
    """Whether a drawing is one long line: thin everywhere, and without gaps."""
    lengthwise = drawn if drawn.shape[1] >= drawn.shape[0] else drawn.T
    short, long = lengthwise.shape
    least = LEAST_LEVEL if lengthwise is drawn else LEAST_UPRIGHT
    if long < least or short > max(FLATTEST, FLATTEST_SHARE * long):
        return False
    filled = lengthwise.any(axis=0)
    spread = short - lengthwise.argmax(axis=0) - lengthwise[::-1].argmax(axis=0)
    return float(filled.mean()) > UNBROKEN and float((spread[filled] <= THICK).mean()) > UNBROKEN


def _reach(height: float, width: float) -> int:
    """Return how far the sides of a frame may stray inward."""
    short = min(height, width)
    return max(int(min(max(BENT * short, LEAST_REACH), REACH_SHARE * short, MOST_REACH)), 2)


def _is_frame(drawn: Mask) -> bool:
    """Whether each side is drawn, though not straight."""
    height, width = drawn.shape
    reach = _reach(height, width)
    sides = (
        drawn[:reach, reach:-reach].any(axis=0),
        drawn[-reach:, reach:-reach].any(axis=0),
        drawn[reach:-reach, :reach].any(axis=1),
        drawn[reach:-reach, -reach:].any(axis=1),
    )
    small = min(height, width) < SMALL_FRAME
    if small and drawn[reach:-reach, reach:-reach].sum() > MOST_INSIDE * drawn.sum():
        return False
    return all(side.size > 0 and float(side.mean()) >= (SMALL_SIDE if small else SIDE) for side in sides)


def _ring(shape: tuple[int, ...], by: int) -> Mask:
    ring = np.ones(shape[:2], np.bool_)
    ring[by:-by, by:-by] = False
    return ring


def _is_crossed(drawn: Mask) -> bool:
    """Whether both diagonals are drawn."""
    height, width = drawn.shape
    by = max(round(CROSS_ROOM * min(height, width)), 2)

    def is_drawn(column: int, row: int) -> bool:
        return bool(drawn[max(row - by, 0) : row + by + 1, max(column - by, 0) : column + by + 1].any())

    along = [CROSS_FROM + CROSS_SPAN * step / (CROSS_STEPS - 1) for step in range(CROSS_STEPS)]
    falling = sum(is_drawn(int(part * width), int(part * height)) for part in along) / len(along)
    rising = sum(is_drawn(int(part * width), int((1 - part) * height)) for part in along) / len(along)
    return min(falling, rising) >= DIAGONAL


def _is_disc(drawn: Mask) -> bool:
    """Whether a drawing is one line around a middle."""
    height, width = drawn.shape
    narrowest, widest = DISC_SHAPE
    if not narrowest < width / height < widest:
        return False
    rows, columns = np.nonzero(drawn)
    x, y = columns + PIXEL_MIDDLE, rows + PIXEL_MIDDLE
    away = np.hypot(x / width - 1 / 2, y / height - 1 / 2) * 2
    angles = np.arctan2(y - height / 2, x - width / 2)
    around = np.unique(((angles + np.pi) / (2 * np.pi) * DISC_TURNS).astype(np.intp) % DISC_TURNS)
    outer = np.abs(away - DISC_EDGE) < ROUND
    return float(outer.mean()) > DISC_DRAWN and len(around) >= DISC_CLOSED
