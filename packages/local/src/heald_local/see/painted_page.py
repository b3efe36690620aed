"""Paints the boxes of a page, and marks where the screenshot differs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heald_local.see.gradients import paint_gradient
from heald_local.see.pixel_units import LIGHTEST, PIXEL_MIDDLE
from heald_pictures.colours import rgb_parts
from heald_pictures.elements import Box, Gradient
from heald_pictures.rect import Rect
from heald_pictures.regions import STRIP, Mask, Pixels, distance_between

DIFFERENT = 14  # levels by which a pixel differs from the painted page


def paint_page(width: int, height: int, background: str, boxes: Sequence[Box]) -> Pixels:
    """Paint boxes with borders and round corners, without shadows."""
    page = np.empty((height, width, 3), np.uint8)
    page[:] = rgb_parts(background)
    for box in boxes:
        if box.border is not None:
            _fill(page, box.rect, box.radius, box.border.colour)
            top, right, bottom, left = box.border.widths
            rect = box.rect
            inner = Rect(rect.x + left, rect.y + top, rect.w - left - right, rect.h - top - bottom)
            _fill(page, inner, max(box.radius - max(box.border.widths), 0), box.gradient or box.fill)
            continue
        _fill(page, box.rect, box.radius, box.gradient or box.fill)
    return page


def find_differences(pixels: Pixels, page: Pixels, slack: int = DIFFERENT) -> Mask:
    """Mark where the screenshot differs from the painted page."""
    differs = np.empty(pixels.shape[:2], np.bool_)
    for top in range(0, len(pixels), STRIP):
        part = slice(top, top + STRIP)
        differs[part] = distance_between(pixels[part], page[part]) > slack
    return differs


def _fill(page: Pixels, rect: Rect, radius: float, paint_with: str | Gradient) -> None:
    left, top = round(rect.x), round(rect.y)
    part = page[top : round(rect.bottom), left : round(rect.right)]
    height, width = part.shape[:2]
    if not height or not width:
        return
    colour = np.clip(_colours(paint_with, width, height), 0, LIGHTEST).astype(np.uint8)
    if radius < 1:
        part[:] = colour
        return
    # only the rows with corners need a mask: the others are filled at once
    bend = min(int(np.ceil(radius)), -(-height // 2))
    painted = np.broadcast_to(colour, part.shape)
    part[bend : height - bend] = painted[bend : height - bend]
    x: NDArray[np.float64] = np.arange(width, dtype=np.float64) + PIXEL_MIDDLE
    across = np.clip(radius - np.minimum(x, width - x), 0, None)[None, :]
    for rows in (slice(0, bend), slice(max(height - bend, bend), height)):
        y: NDArray[np.float64] = np.arange(rows.start, rows.stop, dtype=np.float64) + PIXEL_MIDDLE
        down = np.clip(radius - np.minimum(y, height - y), 0, None)[:, None]
        inside = across**2 + down**2 <= radius**2
        part[rows] = np.where(inside[:, :, None], painted[rows], part[rows])


def _colours(paint_with: str | Gradient, width: int, height: int) -> NDArray[np.float64]:
    if isinstance(paint_with, str):
        return np.array(rgb_parts(paint_with), np.float64)
    return paint_gradient(paint_with, width, height)
