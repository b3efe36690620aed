"""Finds the sheet or board on a photograph, straightens it, and removes shadows.

The photograph of a sketch has grain, so that few neighbours are equal, and a light ground with thin dark strokes. A
screenshot has neither and is never changed here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from weft.vision.see.rank_filters import largest_around, median_of_nine, smallest_around
from weft.vision.see.regions import Mask, Pixels, distance_between, label_islands

Corners = NDArray[np.float64]  # x and y of the corners: top left, top right, bottom right, bottom left

SMALL = 360  # the longer side of the picture in which the sheet is looked for
LEAST_SHEET = 0.25  # the part of a photograph that a sheet fills
FULL = 0.93  # how much of the area within four sides, and of the light area, both share
LEVELS = (1.0, 0.85, 0.7, 0.55, 1.15)  # a shadow makes a sheet darker: lightness, in parts of the most likely one
EDGE_ROOM = 0.015  # between the sheet and each edge of the photograph, in parts of its longer side
INSET = 0.012  # of the sheet's sides: the edge itself and its shadow are cut off
MOST_INK, LEAST_INK = 0.14, 0.002  # the part of a sheet that strokes cover
DARKER = 0.80  # a stroke is darker than this part of the light around it
GRAIN = 0.5  # of the neighbours of a photograph fewer than this part are equal
SKEWED = 0.5  # degrees
LONGEST = 1600  # the longer side of a straightened sheet
PALE = 0.12  # the part of a sheet that may be neither ground nor stroke: a photograph has more


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet on a photograph, seen from the front; with an even white ground and its strokes if it has such."""

    pixels: Pixels
    strokes: Mask | None
    turned: bool  # whether it was seen from the side


def find_sheet(pixels: Pixels) -> Sheet | None:
    """Return the sheet, board or screen on a photograph; None for every picture without grain."""
    if _equal_neighbours(pixels) >= GRAIN:
        return None
    corners = _find_corners(pixels)
    plain = _shrink(pixels) if corners is None else _straighten(pixels, corners)
    turned = corners is not None and _is_skewed(corners)
    found = _clean(plain)
    return Sheet(found[0], found[1], turned) if found is not None else Sheet(plain, None, turned)


def clean_sheet(pixels: Pixels) -> Sheet | None:
    """Return a drawing without grain, such as one of a drawing program; None if there are not only strokes."""
    found = _clean(_shrink(pixels))
    return Sheet(found[0], found[1], False) if found is not None else None


def _is_skewed(corners: Corners) -> bool:
    """Whether at least three sides are neither level nor upright, as on no screenshot."""
    sides = [corners[(number + 1) % 4] - corners[number] for number in range(4)]
    tilts = [float(np.degrees(np.arctan2(min(abs(side)), max(abs(side))))) for side in sides]
    return sum(tilt > SKEWED for tilt in tilts) >= 3


def _equal_neighbours(pixels: Pixels) -> float:
    """Return the part of neighbours that are equal, on a part of the rows."""
    rows = pixels[:: max(len(pixels) // 400, 1)]
    return float((distance_between(rows[:, 1:], rows[:, :-1]) == 0).mean())


def _shrink(pixels: Pixels) -> Pixels:
    image = Image.fromarray(pixels)
    image.thumbnail((LONGEST, LONGEST), Image.Resampling.BOX)
    return np.asarray(image)


def _find_corners(pixels: Pixels) -> Corners | None:
    """Find the four corners of the sheet, at the lightness that parts it best from what it lies on."""
    image = Image.fromarray(pixels)
    image.thumbnail((SMALL, SMALL), Image.Resampling.BOX)
    best: Corners | None = None
    most = 0.0
    for light in _without_strokes(image):
        level = _split_level(light)
        for share in LEVELS:
            found = _four_sides(light > level * share)
            if found is not None and found[1] > most + 0.005:
                best, most = found
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
    found = [
        Image.fromarray(smallest_around(largest_around(each, 3), 3))
        for each in (np.asarray(image).min(axis=2), np.asarray(image.convert("L")))
    ]
    return [np.asarray(each.filter(ImageFilter.MedianFilter(5))) for each in found]


def _split_level(light: NDArray[np.uint8]) -> float:
    """Return the lightness that parts the pixels into the two most different groups (Otsu 1979)."""
    counts = np.bincount(light.ravel(), minlength=256).astype(np.float64)
    below, sums = np.cumsum(counts), np.cumsum(counts * np.arange(256))
    above = below[-1] - below
    apart = sums / np.maximum(below, 1) - (sums[-1] - sums) / np.maximum(above, 1)
    return float((below * above * apart**2).argmax())


def _extreme_points(sheet: Mask) -> Corners:
    rows, columns = np.nonzero(sheet)
    both, apart = rows + columns, columns - rows
    chosen = [int(both.argmin()), int(apart.argmax()), int(both.argmax()), int(apart.argmin())]
    return np.array([[columns[each], rows[each]] for each in chosen], np.float64)


def _refine(sheet: Mask, rough: Corners) -> Corners:
    """Fit a line to the edge between each two corners, and return where the lines meet."""
    lines: list[NDArray[np.float64]] = []
    for number in range(4):
        start, end = rough[number], rough[(number + 1) % 4]
        level = bool(abs(end[0] - start[0]) >= abs(end[1] - start[1]))
        edge = _edge_points(sheet, start, end, level, first=number in (0, 3))
        if len(edge) < 8:
            return rough
        if level:
            slope, offset = fit_line(edge[:, 0], edge[:, 1])
            lines.append(np.array([slope, -1.0, offset]))
        else:
            slope, offset = fit_line(edge[:, 1], edge[:, 0])
            lines.append(np.array([-1.0, slope, offset]))
    meets = [np.cross(lines[number - 1], lines[number]) for number in range(4)]
    if min(abs(float(each[2])) for each in meets) < 1e-9:
        return rough
    corners = np.array([[each[0] / each[2], each[1] / each[2]] for each in meets])
    return corners if float(np.abs(corners - rough).max()) < 0.08 * max(sheet.shape) else rough


def fit_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the slope and the offset of the straight line through points."""
    away = x - x.mean()
    slope = float((away * (y - y.mean())).sum()) / max(float((away * away).sum()), 1e-9)
    return slope, float(y.mean()) - slope * float(x.mean())


def _edge_points(sheet: Mask, start: Corners, end: Corners, level: bool, first: bool) -> NDArray[np.float64]:
    """Return the outermost points of a sheet between two corners, without the tenth next to each."""
    low, high = sorted((start[0], end[0]) if level else (start[1], end[1]))
    steps = np.arange(int(low + 0.1 * (high - low)), int(high - 0.1 * (high - low)))
    lines = sheet[:, steps] if level else sheet[steps].T
    filled = lines.any(axis=0)
    outer = lines.argmax(axis=0) if first else len(lines) - 1 - lines[::-1].argmax(axis=0)
    kept, places = steps[filled].astype(np.float64), outer[filled].astype(np.float64)
    slope, offset = fit_line(kept, places) if len(kept) > 8 else (0.0, 0.0)
    middle = slope * kept + offset if len(kept) > 8 else places
    near = np.abs(places - middle) <= max(float(np.median(np.abs(places - middle))) * 2.5, 1.0)
    both = (kept[near], places[near]) if level else (places[near], kept[near])
    return np.stack(both, axis=1)


def _inside(corners: Corners, shape: tuple[int, ...]) -> Mask:
    x, y = np.arange(shape[1])[None, :] + 0.5, np.arange(shape[0])[:, None] + 0.5
    inside = np.ones(shape[:2], np.bool_)
    for number in range(4):
        (left, top), (right, bottom) = corners[number], corners[(number + 1) % 4]
        inside &= (right - left) * (y - top) - (bottom - top) * (x - left) >= 0
    return inside


def _is_sheet_shape(corners: Corners) -> bool:
    """Whether opposite sides are about as long: a sheet that is seen from too far aside cannot be read."""
    sides = [float(np.hypot(*(corners[(number + 1) % 4] - corners[number]))) for number in range(4)]
    return all(0.45 < sides[number] / max(sides[number + 2], 1.0) < 2.2 for number in range(2))


def _straighten(pixels: Pixels, corners: Corners) -> Pixels:
    """Return the sheet as if it were seen from the front."""
    top, right, bottom, left = (float(np.hypot(*(corners[(n + 1) % 4] - corners[n]))) for n in range(4))
    middle = corners.mean(axis=0)
    inner = middle + (corners - middle) * (1 - 2 * INSET)
    wide, high = max(top, bottom), max(left, right)
    scale = min(LONGEST / max(wide, high), 1.0)
    width, height = max(round(wide * scale), 8), max(round(high * scale), 8)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    turn = Image.Transform.PERSPECTIVE
    factors = tuple(float(each) for each in _perspective(target, inner))
    shrunk = Image.fromarray(pixels).filter(ImageFilter.BoxBlur(max(1 / scale - 1, 0) / 2))
    return np.asarray(shrunk.transform((width, height), turn, factors, Image.Resampling.BICUBIC))


def _perspective(target: Corners, source: Corners) -> NDArray[np.float64]:
    """Return the eight factors that map points of the target to points of the source."""
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(target, source, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    return np.linalg.solve(np.array(rows, np.float64), source.ravel()).astype(np.float64)


def _clean(pixels: Pixels) -> tuple[Pixels, Mask] | None:
    """Remove shadows from a sheet; None if what is on it are not strokes."""
    height, width = pixels.shape[:2]
    small = Image.fromarray(pixels)
    small.thumbnail((480, 480), Image.Resampling.BOX)
    lightest = largest_around(np.asarray(small), min(max(height, width) // 240 + 2, 7))
    wide = Image.fromarray(lightest).filter(ImageFilter.GaussianBlur(6))
    if _is_dark(small, wide):
        return None
    ground = np.asarray(wide.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    smooth = median_of_nine(pixels).astype(np.float32)
    part = np.clip(smooth / np.maximum(ground, 1.0), 0, 1)
    least = part.min(axis=2)
    strokes = _without_dust(least < DARKER)
    pale = float(((least < 0.9) & ~grow_mask(strokes, 3)).mean())
    if not LEAST_INK <= float(strokes.mean()) <= MOST_INK or pale > PALE:
        return None
    around = grow_mask(strokes, 1)
    white = np.where(around[:, :, None], np.clip((part - 0.25) / 0.65, 0, 1) * 255, 255)
    return white.astype(np.uint8), strokes


def _is_dark(small: Image.Image, ground: Image.Image) -> bool:
    """Whether so much of a small picture is darker than its ground that there cannot be only strokes on it."""
    dark = np.asarray(small, np.float32) < DARKER * np.asarray(ground, np.float32)
    return float(dark.any(axis=2).mean()) > 2 * MOST_INK


def grow_mask(mask: Mask, by: int) -> Mask:
    """Mark all that is within a few pixels of the mask."""
    return np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.BoxBlur(by))) > 0


def _without_dust(strokes: Mask) -> Mask:
    """Drop specks: marks of a few pixels with nothing beside them."""
    marks = label_islands(grow_mask(strokes, 2))
    wide, high = marks.edges[:, 2] - marks.edges[:, 0], marks.edges[:, 3] - marks.edges[:, 1]
    kept = np.maximum(wide, high) >= 9
    kept[0] = False
    return strokes & kept[marks.labels]
