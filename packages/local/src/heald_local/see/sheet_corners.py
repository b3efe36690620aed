"""Finds the four corners of the sheet on a photograph."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from heald_local.see.borders import LEFT, TOP
from heald_local.see.pixel_units import ALMOST_ZERO, PIXEL_MIDDLE, SIDES
from heald_local.see.rank_filters import largest_around, smallest_around
from heald_local.see.split_level import split_level
from heald_pictures.regions import Mask, Pixels, label_islands

Corners = NDArray[np.float64]  # x and y of the corners: top left, top right, bottom right, bottom left
SMALL = 360  # the longer side of the picture in which the sheet is looked for
LEAST_SHEET = 0.25  # the part of a photograph that a sheet fills
FULL = 0.93  # how much of the area within four sides, and of the light area, both share
LEVELS = (1.0, 0.85, 0.7, 0.55, 1.15)  # a shadow makes a sheet darker: lightness, in parts of the most likely one
BETTER = 0.005  # how much better another lightness must bound the sheet
CLOSED = 3  # pixels of the widest stroke that what is around it covers
SMOOTHED = 5  # pixels of the filter that removes specks
FEWEST_POINTS = 8  # of an edge through which a line is fitted
FARTHEST = 0.08  # a corner moves at most by this part of the longer side
CORNER = 0.1  # the part of an edge next to each corner that is not used: sheets have dog-ears
OUTLIER, LEAST_OUTLIER = 2.5, 1.0  # times the median distance, and pixels, from which on a point is off the edge
OPPOSITE = (0.45, 2.2)  # the length of a side, in parts of the opposite one
EDGE_ROOM = 0.015  # between the sheet and each edge of the photograph, in parts of its longer side


def find_corners(pixels: Pixels) -> Corners | None:
    """Find the four corners of the sheet, at the lightness that parts it best from what it lies on."""
    image = Image.fromarray(pixels)
    image.thumbnail((SMALL, SMALL), Image.Resampling.BOX)
    best: Corners | None = None
    most = 0.0
    for light in _without_strokes(image):
        level = split_level(light)
        for share in LEVELS:
            bounded = _four_sides(light > level * share)
            if bounded is not None and bounded[1] > most + BETTER:
                best, most = bounded
    return best * (pixels.shape[1] / image.width) if best is not None else None


def _four_sides(mask: Mask) -> tuple[Corners, float] | None:
    """Return the corners of the largest area and how well they bound it; None if it has not four straight sides."""
    islands = label_islands(mask)
    if len(islands.area) < 2:
        return None
    sheet = islands.labels == int(islands.area[1:].argmax()) + 1
    if sheet.mean() < LEAST_SHEET:
        return None
    corners = _refine(sheet, _extreme_points(sheet))
    inside = _inside(corners, sheet.shape)
    both = int((inside & sheet).sum())
    if both < LEAST_SHEET * sheet.size or not _is_sheet_shape(corners):
        return None
    height, width = sheet.shape
    middles = (corners + np.roll(corners, -1, axis=0)) / 2
    room = np.minimum(middles, np.array([width, height]) - middles).min()
    if room < EDGE_ROOM * max(height, width):  # it fills the photograph, or this is the edge of a shadow
        return None
    fits = both / float((inside | sheet).sum())
    return (corners, fits) if fits >= FULL else None


def _without_strokes(image: Image.Image) -> list[NDArray[np.uint8]]:
    """Return the darkest channel and the lightness of the ground: what is around the thin strokes covers them."""
    closed = [
        Image.fromarray(smallest_around(largest_around(light, CLOSED), CLOSED))
        for light in (np.asarray(image).min(axis=2), np.asarray(image.convert("L")))
    ]
    return [np.asarray(ground.filter(ImageFilter.MedianFilter(SMOOTHED))) for ground in closed]


def _extreme_points(sheet: Mask) -> Corners:
    rows, columns = np.nonzero(sheet)
    both, apart = rows + columns, columns - rows
    extremes = [int(both.argmin()), int(apart.argmax()), int(both.argmax()), int(apart.argmin())]
    return np.array([[columns[at], rows[at]] for at in extremes], np.float64)


def _refine(sheet: Mask, rough: Corners) -> Corners:
    """Fit a line to the edge between each two corners, and return where the lines meet."""
    lines: list[NDArray[np.float64]] = []
    for number in range(SIDES):
        start, end = rough[number], rough[(number + 1) % SIDES]
        level = bool(abs(end[0] - start[0]) >= abs(end[1] - start[1]))
        edge = _edge_points(sheet, start, end, level, first=number in (TOP, LEFT))
        if len(edge) < FEWEST_POINTS:
            return rough
        if level:
            slope, offset = fit_line(edge[:, 0], edge[:, 1])
            lines.append(np.array([slope, -1.0, offset]))
        else:
            slope, offset = fit_line(edge[:, 1], edge[:, 0])
            lines.append(np.array([-1.0, slope, offset]))
    meets = [np.cross(lines[number - 1], lines[number]) for number in range(SIDES)]
    if min(abs(float(meet[2])) for meet in meets) < ALMOST_ZERO:
        return rough
    corners = np.array([[meet[0] / meet[2], meet[1] / meet[2]] for meet in meets])
    return corners if float(np.abs(corners - rough).max()) < FARTHEST * max(sheet.shape) else rough


def fit_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the slope and the offset of the straight line through points."""
    away = x - x.mean()
    slope = float((away * (y - y.mean())).sum()) / max(float((away * away).sum()), ALMOST_ZERO)
    return slope, float(y.mean()) - slope * float(x.mean())


def _edge_points(sheet: Mask, start: Corners, end: Corners, level: bool, first: bool) -> NDArray[np.float64]:
    """Return the outermost points of a sheet between two corners, without those next to each."""
    low, high = sorted((start[0], end[0]) if level else (start[1], end[1]))
    steps = np.arange(int(low + CORNER * (high - low)), int(high - CORNER * (high - low)))
    lines = sheet[:, steps] if level else sheet[steps].T
    filled = lines.any(axis=0)
    outer = lines.argmax(axis=0) if first else len(lines) - 1 - lines[::-1].argmax(axis=0)
    along, places = steps[filled].astype(np.float64), outer[filled].astype(np.float64)
    slope, offset = fit_line(along, places) if len(along) > FEWEST_POINTS else (0.0, 0.0)
    middle = slope * along + offset if len(along) > FEWEST_POINTS else places
    near = np.abs(places - middle) <= max(float(np.median(np.abs(places - middle))) * OUTLIER, LEAST_OUTLIER)
    both = (along[near], places[near]) if level else (places[near], along[near])
    return np.stack(both, axis=1)


def _inside(corners: Corners, shape: tuple[int, ...]) -> Mask:
    x, y = np.arange(shape[1])[None, :] + PIXEL_MIDDLE, np.arange(shape[0])[:, None] + PIXEL_MIDDLE
    inside = np.ones(shape[:2], np.bool_)
    for number in range(SIDES):
        (left, top), (right, bottom) = corners[number], corners[(number + 1) % SIDES]
        inside &= (right - left) * (y - top) - (bottom - top) * (x - left) >= 0
    return inside


def side_lengths(corners: Corners) -> list[float]:
    """Return the lengths of the sides: top, right, bottom, left."""
    return [float(np.hypot(*(corners[(number + 1) % SIDES] - corners[number]))) for number in range(SIDES)]


def _is_sheet_shape(corners: Corners) -> bool:
    """Whether opposite sides are about as long: a sheet that is seen from too far aside cannot be read."""
    sides = side_lengths(corners)
    least, most = OPPOSITE
    return all(least < sides[number] / max(sides[number + 2], 1.0) < most for number in range(2))
