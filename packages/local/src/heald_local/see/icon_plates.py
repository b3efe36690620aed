"""Draws icons finely, and samples the drawing at any size and place as a browser would show it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from heald_local.see.icon_paths import Line
from heald_local.see.pixel_units import ALMOST_ZERO

FINE = 7  # pixels of a plate for each unit
VIEW = 24  # units of an icon's view
EDGE = 1  # units around it
SIDE = 12  # pixels of a normal form
ROOM = 11  # pixels of it that the ink may fill
LEAST_COVER = 0.12  # the part of a pixel from which on it is ink
LEAST_NORM = 1e-6  # the length of the vector of an empty form
FEWEST_CORNERS = 3  # of an area that can be filled
SPREAD = 0.45  # pixels by which Pillow draws shapes too large on each side
SHIFT = 0.25  # pixels by which it draws them too far right and down

Cover = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A drawing as sums of its ink above and before each point, and the area of the ink: left, top, right, bottom."""

    sums: NDArray[np.float32]
    area: tuple[float, float, float, float]
    ink: float

    def sample(self, left: float, top: float, step: float, width: int, height: int) -> Cover:
        """Return the part that is covered of each of the squares with sides of `step` from a corner on."""
        across = np.clip(left + step * np.arange(width + 1), 0, self.sums.shape[1] - 1)
        down = np.clip(top + step * np.arange(height + 1), 0, self.sums.shape[0] - 1)
        x, y = (
            np.minimum(across.astype(np.intp), self.sums.shape[1] - 2),
            np.minimum(down.astype(np.intp), len(self.sums) - 2),
        )
        u, v = (across - x).astype(np.float32), (down - y).astype(np.float32)[:, None]
        rows, columns = y[:, None], x[None]
        upper = self.sums[rows, columns] * (1 - u) + self.sums[rows, columns + 1] * u
        lower = self.sums[rows + 1, columns] * (1 - u) + self.sums[rows + 1, columns + 1] * u
        grid = upper * (1 - v) + lower * v
        bands = grid[1:] - grid[:-1]
        return np.asarray((bands[:, 1:] - bands[:, :-1]) / np.float32(step * step), np.float32)


def make_plate(cover: Cover) -> Plate | None:
    """Make the plate of a drawing; None if it is empty."""
    dark = cover > LEAST_COVER
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    if not len(rows):
        return None
    high, low, near, far = int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])
    inner = cover[high : low + 1, near : far + 1]
    sides = (float(inner[:, 0].max()), float(inner[0].max()), float(inner[:, -1].max()), float(inner[-1].max()))
    area = (near + 1 - sides[0], high + 1 - sides[1], far + sides[2], low + sides[3])
    sums = np.zeros((cover.shape[0] + 1, cover.shape[1] + 1), np.float32)
    np.cumsum(np.cumsum(cover, axis=0, dtype=np.float32), axis=1, out=sums[1:, 1:])
    return Plate(sums, area, float(sums[-1, -1]))


def normal_form(plate: Plate) -> Cover:
    """Return the ink in the middle of a small square that its longer side fills."""
    left, top, right, bottom = plate.area
    step = max(right - left, bottom - top) / ROOM
    wide = SIDE * step
    return plate.sample((left + right - wide) / 2, (top + bottom - wide) / 2, step, SIDE, SIDE)


def describe(forms: Cover) -> NDArray[np.float32]:
    """Return the vector of each normal form: smoothed, without its mean, of length 1."""
    padded = np.pad(forms, ((0, 0), (1, 1), (1, 1)))
    soft = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    soft = soft[:, :, :-2] + 2 * soft[:, :, 1:-1] + soft[:, :, 2:]
    flat = soft.reshape(len(forms), -1)
    flat -= flat.mean(axis=1, keepdims=True)
    return (flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), LEAST_NORM)).astype(np.float32)


def draw_icon(lines: Sequence[Line], filled: bool, evenodd: bool, width: float, view: float = VIEW) -> Plate | None:
    """Draw an icon: its lines with strokes of a width in units, filled or both."""
    scale = FINE * VIEW / view
    side = FINE * (VIEW + 2 * EDGE)
    cover = np.zeros((side, side), np.bool_)
    if filled:
        cover |= _fill(lines, evenodd, scale, side)
    if width:
        cover |= _stroke(lines, width * scale, scale, side)
    return make_plate(cover.astype(np.float32))


def _fill(lines: Sequence[Line], evenodd: bool, scale: float, side: int) -> NDArray[np.bool_]:
    winding = np.zeros((side, side), np.int16)
    for line in lines:
        if len(line.points) < FEWEST_CORNERS:
            continue
        points = [_place(point, scale) for point in line.points]
        part = Image.new("1", (side, side))
        ImageDraw.Draw(part).polygon(points, fill=1)
        inside = np.asarray(part)
        winding += inside.astype(np.int16) if evenodd or _turns_right(line) else -inside.astype(np.int16)
    return winding % 2 != 0 if evenodd else winding != 0


def _turns_right(line: Line) -> bool:
    points = np.array(line.points)
    after = np.roll(points, -1, axis=0)
    return float((points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]).sum()) > 0


def _stroke(lines: Sequence[Line], width: float, scale: float, side: int) -> NDArray[np.bool_]:
    """Draw lines with round ends and corners."""
    image = Image.new("1", (side, side))
    draw = ImageDraw.Draw(image)
    reach = width / 2 - SPREAD
    for line in lines:
        points = np.array([_place(point, scale) for point in line.points])
        after = np.roll(points, -1, axis=0) if line.closed else points[1:]
        for (x0, y0), (x1, y1) in zip(points.tolist(), after.tolist(), strict=False):
            size = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** (1 / 2), ALMOST_ZERO)
            u, v = reach * (y1 - y0) / size, reach * (x0 - x1) / size
            draw.polygon([(x0 + u, y0 + v), (x1 + u, y1 + v), (x1 - u, y1 - v), (x0 - u, y0 - v)], fill=1)
        for x, y in points.tolist():
            draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=1)
    return np.asarray(image)


def _place(point: tuple[float, float], scale: float) -> tuple[float, float]:
    return point[0] * scale + EDGE * FINE - SHIFT, point[1] * scale + EDGE * FINE - SHIFT
