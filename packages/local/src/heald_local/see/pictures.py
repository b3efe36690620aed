"""Cuts pictures out of a screenshot."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from heald_pictures.colours import hex_colour
from heald_pictures.elements import Box, PictureElement, PictureKind
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Pixels, distance_between, label_islands

ICON = 72  # pixels of the longer side of the largest icon
FAINT, FAINT_REACH = 5, 12  # levels by which the faintest stroke differs, and pixels that it is followed


def cut_out(
    fine: Pixels, ratio: int, rect: Rect, kind: PictureKind, number: int, radius: float = 0.0
) -> PictureElement:
    """Cut out a part of the screenshot at its own resolution, as a PNG."""
    left, top = int(rect.x) * ratio, int(rect.y) * ratio
    right, bottom = round(rect.right) * ratio, round(rect.bottom) * ratio
    data = encode_png(Image.fromarray(np.ascontiguousarray(fine[top:bottom, left:right])))
    return PictureElement(rect, kind, f"{kind}-{number}", data, radius)


def encode_png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def mean_colour(picture: PictureElement) -> str:
    """Return the colour that stands for a picture before it is loaded."""
    with Image.open(io.BytesIO(picture.data), formats=("PNG",)) as image:
        return hex_colour(np.asarray(image.convert("RGB")).mean(axis=(0, 1)))


def faint_edges(pixels: Pixels, page: Pixels, rect: Rect, boxes: Sequence[Box] = ()) -> Rect:
    """Extend a small mark by the faint strokes that are connected with it, within its box."""
    height, width = pixels.shape[:2]
    if max(rect.w, rect.h) > ICON / 2:
        return rect
    around = rect.grown(FAINT_REACH).within(width, height)
    left, top = int(around.x), int(around.y)
    where = (slice(top, round(around.bottom)), slice(left, round(around.right)))
    marks = label_islands(distance_between(pixels[where], page[where]) > FAINT)
    strokes = [
        spanning((left + int(edges[0]), top + int(edges[1]), left + int(edges[2]), top + int(edges[3])))
        for edges in marks.edges[1:]
    ]
    whole = hull([rect, *(stroke for stroke in strokes if stroke.common(rect) > 0)])
    rooms = [around, *(box.rect for box in boxes if box.rect.holds(rect))]
    return whole if all(room.grown(-1).holds(whole) for room in rooms) else rect


def picture_kind(rect: Rect) -> PictureKind:
    return "icon" if max(rect.w, rect.h) <= ICON else "photo"
