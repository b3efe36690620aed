"""Recognises icons: finds the icon of a known set that looks exactly like a small drawing of one colour.

The sets are small data of the `heald-local` distribution: `icons.jsonl` has the shapes of each icon, `icons.bin` its
normal forms. Where they are missing nothing is recognised, and icons are traced. Candidates are the icons with the
nearest normal forms. Each is drawn at the size, place and width of strokes that fit best, and compared with the pixels.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heald_local.see import icon_sets
from heald_local.see.icon_paths import Line, read_shape
from heald_local.see.icon_plates import (
    EDGE,
    FINE,
    VIEW,
    Cover,
    Plate,
    describe,
    draw_icon,
    make_plate,
    normal_form,
)
from heald_local.see.icon_sets import Icon, IconSet
from heald_pictures.regions import Pixels

Floats = NDArray[np.float64]

LEAST_CONTRAST = 24  # levels by which an icon differs from its ground
LEAST_ALIKE = 0.86  # the product of two normal forms from which on icons are compared
MUCH_LESS = 0.06  # how much less alike than the first a candidate may be
MOST_COMPARED = 5
MOST_WRONG = 0.15  # the part of an icon's ink by which the drawing may differ
SURE = 0.08  # a difference from which on no better candidate is looked for
GOOD = 0.06  # a difference with which a whole size and place and the usual width are right
HOPELESS = 0.6  # a difference from which on no better place is looked for
MIXED, MOST_MIXED = 36, 0.08  # levels that a pixel may be off one colour, and the part of them that may be
WIDTHS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0)  # of strokes, in units of a view of 24
SNAP = 0.06  # how much more may be wrong for a size and a place of whole pixels
FULL, FEWEST_FULL = 0.97, 4  # the part of a pixel that is fully covered, and how many show the colour
LEAST_SIZE = 8  # pixels of an icon's view
UNUSUAL = 0.015  # how much less must be wrong for strokes of another width than usual
STRONG, INKED = 0.7, 0.25  # parts of the strongest contrast: of pixels that show the colour, and of ink
MOST_COVER = 1.5
"""The part of the colour that a pixel has: the colour is that of most strong pixels, not of the strongest."""
FULL_QUANTILE = 0.9  # of the strong pixels: a pixel that is fully covered
LEAST_DIVISOR = 1e-6  # parts of a pixel
SHORTEST = 0.5  # units of the lines of an icon
SHAPE_SLACK, SHAPE_PIXELS = 0.3, 3
"""The part, and pixels, by which the sides of icon and picture may be in another ratio."""
TRIED_SCALE, TRIED_MOVE = 0.02, 0.15
"""Parts of its size, and pixels, by which an icon is changed to see what that improves."""
MOST_CHANGE = 6  # times as much may be changed at once
SCALES = (0.2, 5)  # of the size that was guessed: beyond them the search is lost
DAMPING = 1e-6  # of the search: moves that change nothing stay small
AMOUNTS = (0.7, 1.6)  # the strength of the colour of a drawing, in parts of the strongest in the picture
SPOT = 9  # pixels beside each other that are compared
THINNER, THICKER = (-1, -2, -3), (1, 2, 3)  # steps of the widths that are tried
MOST_MISSING = 0.16  # the mean difference of nine pixels beside each other


@dataclass(frozen=True, slots=True)
class FoundIcon:
    """An icon of a set, the place of its view in pixels, the width of its strokes in units, its colour as a change
    of the ground, and the part of the ink that differs."""

    icon: Icon
    left: float
    top: float
    size: float
    width: float
    change: tuple[float, float, float]
    wrong: float


@dataclass(frozen=True, slots=True, eq=False)
class _Drawing:
    """The ink of a picture as parts of its strongest colour, that colour, and a plate of it."""

    cover: Cover
    plate: Plate
    direction: Floats


def recognise_icon(seen: Pixels, ground: Pixels, ratio: int = 1) -> FoundIcon | None:
    """Find the icon that looks like these pixels; None if there is none for certain."""
    icons = icon_sets.find_icon_set()
    return _recognise(icons, seen.tobytes(), ground.tobytes(), seen.shape, ratio) if icons is not None else None


@lru_cache(128)
def _recognise(icons: IconSet, seen: bytes, ground: bytes, shape: tuple[int, ...], ratio: int) -> FoundIcon | None:
    """Pages repeat icons: the same pixels are compared once."""
    drawing = _read_drawing(*(np.frombuffer(data, np.uint8).reshape(shape) for data in (seen, ground)))
    if drawing is None:
        return None
    alike = icons.compare(describe(normal_form(drawing.plate)[None])[0])
    best: _Fit | None = None
    for number in alike.nearest(MOST_COMPARED, LEAST_ALIKE, MUCH_LESS):
        fit = _fit_icon(icons.icon(number), drawing, ratio)
        if fit is not None and (best is None or fit.wrong < best.wrong):
            best = fit
        if best is not None and best.wrong <= SURE:
            break
    if best is None or best.wrong > 2 * MOST_WRONG:
        return None
    best = _try_widths(_snap(best, drawing, ratio), drawing)
    if best.wrong > MOST_WRONG or _worst_spot(best.drawn(drawing), drawing.cover) > MOST_MISSING:
        return None
    change = _strength(best.drawn(drawing), drawing.cover) * drawing.direction
    size = VIEW * FINE / best.step
    corner = EDGE * FINE
    return FoundIcon(
        best.icon,
        (corner - best.left) / best.step,
        (corner - best.top) / best.step,
        size,
        best.width,
        (float(change[0]), float(change[1]), float(change[2])),
        best.wrong,
    )


def _read_drawing(seen: Pixels, ground: Pixels) -> _Drawing | None:
    """Separate the ink from its ground; None if there is little or it has several colours."""
    change = seen.astype(np.float64) - ground
    strength = np.abs(change).max(axis=2)
    peak = float(strength.max()) if strength.size else 0.0
    if peak < LEAST_CONTRAST:
        return None
    strong = strength > STRONG * peak
    direction = np.median(change[strong], axis=0)
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, MOST_COVER)
    inked = strength > INKED * peak
    off = np.abs(change - cover[:, :, None] * direction).max(axis=2)
    if float((off[inked] > MIXED).mean()) > MOST_MIXED:
        return None
    full = max(float(np.quantile(cover[strong], FULL_QUANTILE)), LEAST_DIVISOR)
    cover = (cover / full).astype(np.float32)
    plate = make_plate(np.minimum(cover, 1))
    return _Drawing(cover, plate, full * direction) if plate is not None else None


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """An icon at a place: the corner of the picture and the side of its pixels, in pixels of the plate."""

    icon: Icon
    plate: Plate
    width: float
    left: float
    top: float
    step: float
    wrong: float
    whole: bool = False  # whether its size and place are whole pixels

    def drawn(self, drawing: _Drawing) -> Cover:
        height, width = drawing.cover.shape
        return self.plate.sample(self.left, self.top, self.step, width, height)


def _fit_icon(icon: Icon, drawing: _Drawing, ratio: int) -> _Fit | None:
    width = _estimate_width(icon, drawing) if icon.kind != "fill" else 0.0
    plate = _plate(icon, width)
    return _place(icon, plate, width, drawing, ratio) if plate is not None else None


def draw_usual(icon: Icon) -> Plate | None:
    """Draw an icon as its set shows it."""
    return _plate(icon, icon.width)


@lru_cache(64)
def _plate(icon: Icon, width: float) -> Plate | None:
    evenodd = any(name == "fill-rule" for shape in icon.shapes for name, _ in shape[1])
    return draw_icon(_read_lines(icon), icon.kind != "stroke", evenodd, width * icon.view / VIEW, icon.view)


def _estimate_width(icon: Icon, drawing: _Drawing) -> float:
    """Return the width of strokes with which the icon has as much ink as the picture."""
    if icon.kind == "both":
        return icon.width
    length, side = _measure(icon)
    ours = drawing.plate
    seen = max(ours.area[2] - ours.area[0], ours.area[3] - ours.area[1])
    inked = ours.ink / seen**2 / length
    return min(WIDTHS, key=lambda width: abs(width / (side + width) ** 2 - inked))


@lru_cache(256)
def _measure(icon: Icon) -> tuple[float, float]:
    """Return the length of all lines of an icon, and the longer side of the area that they lie in, in units."""
    lines = _read_lines(icon)
    size = VIEW / icon.view
    points = np.array([point for line in lines for point in line.points]) * size
    length = 0.0
    for line in lines:
        path = np.array((*line.points, line.points[0]) if line.closed else line.points) * size
        length += float(np.hypot(*np.diff(path, axis=0).T).sum())
    return max(length, SHORTEST), float(np.ptp(points, axis=0).max())


@lru_cache(256)
def _read_lines(icon: Icon) -> tuple[Line, ...]:
    return tuple(line for tag, attributes in icon.shapes for line in read_shape(tag, dict(attributes)))


def _place(icon: Icon, plate: Plate, width: float, drawing: _Drawing, ratio: int) -> _Fit | None:
    """Find the place and size at which the icon covers the picture best."""
    ours, theirs = drawing.plate.area, plate.area
    wide, high = ours[2] - ours[0], ours[3] - ours[1]
    across, down = theirs[2] - theirs[0], theirs[3] - theirs[1]
    slack = SHAPE_SLACK * max(wide * down, high * across) + SHAPE_PIXELS * FINE * max(wide, high)
    if min(wide, high) <= 0 or abs(wide * down - high * across) > slack:
        return None
    step = (across + down) / (wide + high)
    left = (theirs[0] + theirs[2]) / 2 - step * (ours[0] + ours[2]) / 2
    top = (theirs[1] + theirs[3]) / 2 - step * (ours[1] + ours[3]) / 2
    fit = _Fit(icon, plate, width, left, top, step, np.inf)
    if _part_wrong(fit.drawn(drawing), drawing.cover) > HOPELESS:
        return None
    size = round(VIEW * FINE / step / ratio) * ratio
    whole = _put_on_pixels(_resize(fit, drawing, size), drawing, ratio)
    return whole if whole.wrong <= GOOD else _refine(fit, drawing, True)


def _refine(fit: _Fit, drawing: _Drawing, scaled: bool, rounds: int = 2) -> _Fit:
    """Move the icon, and scale it too, by steps of Gauss and Newton; keep the best place."""
    height, width = drawing.cover.shape
    middle = (width / 2, height / 2)
    place: Floats = np.array([fit.left, fit.top, fit.step])
    best, wrong = place, np.inf
    moves = np.array([[1.0, 0, 0], [0, 1.0, 0], [-TRIED_SCALE * middle[0], -TRIED_SCALE * middle[1], TRIED_SCALE]])
    moves[:2] *= TRIED_MOVE * fit.step
    moves[2] *= fit.step / 2
    used = moves if scaled else moves[:2]
    for _ in range(rounds):
        now, place_after = _next_place(fit, place, used, drawing)
        if now < wrong:
            best, wrong = place, now
        place = place_after
        if not SCALES[0] * fit.step < place[2] < SCALES[1] * fit.step:
            break
    now = _part_wrong(_sample(fit, place, drawing), drawing.cover)
    if now < wrong:
        best, wrong = place, now
    return _Fit(fit.icon, fit.plate, fit.width, float(best[0]), float(best[1]), float(best[2]), wrong)


def _next_place(fit: _Fit, place: Floats, moves: Floats, drawing: _Drawing) -> tuple[float, Floats]:
    """Return how wrong the icon is at a place, and the place that a combination of moves improves it to."""
    drawn = _sample(fit, place, drawing)
    residual = _residual(drawn, drawing.cover)
    slopes = np.stack(
        [(_residual(_sample(fit, place + move, drawing), drawing.cover) - residual).ravel() for move in moves]
    )
    square = slopes @ slopes.T + DAMPING * np.eye(len(moves))
    weights = np.linalg.lstsq(square, -slopes @ residual.ravel(), rcond=None)[0]
    return _part_wrong(drawn, drawing.cover), np.asarray(
        place + np.clip(weights, -MOST_CHANGE, MOST_CHANGE) @ moves, np.float64
    )


def _sample(fit: _Fit, place: Floats, drawing: _Drawing) -> Cover:
    left, top, step = (float(value) for value in place)
    return fit.plate.sample(left, top, step, drawing.cover.shape[1], drawing.cover.shape[0])


def _amount(drawn: Cover, cover: Cover) -> float:
    """Return the strength of the colour with which the drawing is nearest to the picture."""
    least, most = AMOUNTS
    return min(max(float((drawn * cover).sum()) / max(float((drawn * drawn).sum()), LEAST_DIVISOR), least), most)


def _strength(drawn: Cover, cover: Cover) -> float:
    """Return the strength of the colour of what is fully covered, or that of the best drawing."""
    full = cover[drawn > FULL]
    return float(np.median(full)) if full.size >= FEWEST_FULL else _amount(drawn, cover)


def _residual(drawn: Cover, cover: Cover) -> NDArray[np.float32]:
    return _amount(drawn, cover) * drawn - cover


def _part_wrong(drawn: Cover, cover: Cover) -> float:
    amount = _amount(drawn, cover)
    return float(np.abs(amount * drawn - cover).sum()) / max(amount * float(drawn.sum()), LEAST_DIVISOR)


def _worst_spot(drawn: Cover, cover: Cover) -> float:
    """Return the largest mean difference of a few pixels beside each other: a part that one of the two lacks."""
    residual = np.pad(_residual(drawn, cover), 1)
    rows = residual[:-2] + residual[1:-1] + residual[2:]
    return float(np.abs(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]).max()) / SPOT


def _snap(fit: _Fit, drawing: _Drawing, ratio: int) -> _Fit:
    """Prefer a size and a place of whole pixels, as browsers do."""
    size = VIEW * FINE / fit.step / ratio
    if fit.wrong <= GOOD and fit.whole:
        return fit
    sized = [_resize(fit, drawing, whole * ratio) for whole in {math.floor(size), math.ceil(size)}]
    fits = [stroked for whole in sized for stroked in _with_widths(whole, (-1, 0, 1))]
    put = min((_put_on_pixels(stroked, drawing, ratio) for stroked in fits), key=lambda tried: tried.wrong)
    if put.wrong <= fit.wrong + SNAP:
        return put
    moved = _refine(min(sized, key=lambda whole: abs(whole.step - fit.step)), drawing, False, 1)
    return moved if moved.wrong <= fit.wrong + SNAP else fit


def _with_widths(fit: _Fit, steps: Sequence[int]) -> Iterator[_Fit]:
    """Yield an icon with strokes of the next thinner and thicker widths; a filled one as it is."""
    if fit.icon.kind == "fill":
        yield fit
        return
    at = WIDTHS.index(fit.width)
    for number in (at + step for step in steps if 0 <= at + step < len(WIDTHS)):
        plate = _plate(fit.icon, WIDTHS[number])
        if plate is not None:
            yield replace(fit, plate=plate, width=WIDTHS[number])


def _resize(fit: _Fit, drawing: _Drawing, size: int) -> _Fit:
    """Change the size of the view to a number of pixels, around the middle of the ink."""
    step = VIEW * FINE / max(size, LEAST_SIZE)
    left, top, right, bottom = drawing.plate.area
    change = (fit.step - step) / 2
    return replace(fit, left=fit.left + change * (left + right), top=fit.top + change * (top + bottom), step=step)


def _put_on_pixels(fit: _Fit, drawing: _Drawing, ratio: int) -> _Fit:
    """Move an icon to the nearest whole pixels."""
    corner, step = EDGE * FINE, fit.step
    left, top = (round((corner - edge) / step / ratio) * ratio for edge in (fit.left, fit.top))
    put = replace(fit, left=corner - left * step, top=corner - top * step, whole=True)
    return replace(put, wrong=_part_wrong(put.drawn(drawing), drawing.cover))


def _try_widths(fit: _Fit, drawing: _Drawing) -> _Fit:
    """Try strokes that are thinner and thicker; the usual width is preferred."""
    if fit.icon.kind == "fill" or (fit.width == fit.icon.width and fit.wrong <= GOOD):
        return fit
    best = fit
    for steps in (THINNER, THICKER):
        for tried in _with_widths(fit, steps):
            wrong = _part_wrong(tried.drawn(drawing), drawing.cover)
            less = best.wrong - wrong
            if less <= (UNUSUAL if best.width == fit.icon.width else -UNUSUAL if tried.width == fit.icon.width else 0):
                break
            best = replace(tried, wrong=wrong)
        if best is not fit:
            break
    return best
