"""The page as the boxes explain it, painted back into pixels: what differs from it is text, a picture, or noise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.vision.colours import parts
from weft.vision.geometry import Rect
from weft.vision.regions import STRIP, Mask, Pixels
from weft.vision.seen import Box, Gradient

DIFFERENT = 14


def paint(width: int, height: int, background: str, boxes: Sequence[Box]) -> Pixels:
    """Boxes in their order, borders and round corners included, shadows left out."""
    page = np.empty((height, width, 3), np.uint8)
    page[:] = parts(background)
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


def unexplained(pixels: Pixels, page: Pixels, slack: int = DIFFERENT) -> Mask:
    """Where the screenshot is not what the boxes say."""
    differs = np.empty(pixels.shape[:2], np.bool_)
    for top in range(0, len(pixels), STRIP):
        part = slice(top, top + STRIP)
        differs[part] = np.abs(pixels[part].astype(np.int16) - page[part]).max(axis=2) > slack
    return differs


def _fill(page: Pixels, rect: Rect, radius: float, paint_with: str | Gradient) -> None:
    left, top = round(rect.x), round(rect.y)
    part = page[top : round(rect.bottom), left : round(rect.right)]
    height, width = part.shape[:2]
    if not height or not width:
        return
    colour = _colours(paint_with, width, height)
    if radius < 1:
        part[:] = colour
        return
    x: NDArray[np.float64] = np.arange(width, dtype=np.float64) + 0.5
    y: NDArray[np.float64] = np.arange(height, dtype=np.float64) + 0.5
    across = np.clip(radius - np.minimum(x, width - x), 0, None)[None, :]
    down = np.clip(radius - np.minimum(y, height - y), 0, None)[:, None]
    inside = across**2 + down**2 <= radius**2
    part[inside] = np.broadcast_to(colour, part.shape)[inside]


def _colours(paint_with: str | Gradient, width: int, height: int) -> NDArray[np.float64]:
    if isinstance(paint_with, str):
        return np.array(parts(paint_with), np.float64)
    turn = np.radians(paint_with.angle)
    across, down = float(np.sin(turn)), float(-np.cos(turn))
    length = abs(width * across) + abs(height * down)
    x, y = np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2
    along = np.clip((x[None, :] * across + y[:, None] * down) / length + 0.5, 0, 1)[:, :, None]
    start, end = np.array(parts(paint_with.start), np.float64), np.array(parts(paint_with.end), np.float64)
    return np.asarray(start + (end - start) * along)
