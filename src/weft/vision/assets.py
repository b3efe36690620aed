"""What neither boxes nor text explain: photographs, drawings and icons, cut out of the screenshot as they are."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from weft.vision.geometry import Rect, hull, spanning
from weft.vision.regions import Mask, Pixels, islands
from weft.vision.seen import Box, Picture, PictureKind

REACH = 3
"""Parts of one picture may lie this many pixels apart."""
LEAST = 10
"""Fewer unexplained pixels are noise."""
ICON = 72
FAINT, FAINT_REACH = 5, 12
"""Levels by which the faintest stroke of a mark differs from the page, and pixels that it is followed."""


@dataclass(frozen=True, slots=True)
class Patch:
    """An unexplained place: where it is, and how much of it really differs from the page."""

    rect: Rect
    density: float
    count: int


def patches(differs: Mask, across: int = REACH, down: int = REACH) -> list[Patch]:
    """Unexplained places, what is near together as one; those that touch are joined until none do."""
    height, width = differs.shape
    tall, wide = -(-height // down), -(-width // across)
    padded = np.zeros((tall * down, wide * across), np.bool_)
    padded[:height, :width] = differs
    coarse: Mask = np.asarray(padded.reshape(tall, down, wide, across).any(axis=(1, 3)), np.bool_)
    groups = islands(coarse)
    found: list[Rect] = []
    for number in range(1, len(groups.area)):
        left, top, right, bottom = (int(edge) for edge in groups.edges[number])
        found.append(spanning((left * across, top * down, min(right * across, width), min(bottom * down, height))))
    tight = [_tight(differs, rect) for rect in _joined(found)]
    return [patch for patch in tight if patch is not None]


def _tight(differs: Mask, rect: Rect) -> Patch | None:
    left, top = int(rect.x), int(rect.y)
    part = differs[top : int(rect.bottom), left : int(rect.right)]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    count = int(part.sum())
    if not len(rows) or count < LEAST:
        return None
    edges = spanning((left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1))
    return Patch(edges, count / edges.area, count)


def _joined(rects: list[Rect], reach: float = REACH) -> list[Rect]:
    merged = sorted(rects, key=lambda rect: rect.y)
    while True:
        result: list[Rect] = []
        for rect in merged:
            near = next((number for number, other in enumerate(result) if other.common(rect.grown(reach)) > 0), None)
            if near is None:
                result.append(rect)
            else:
                result[near] = hull((result[near], rect))
        if len(result) == len(merged):
            return result
        merged = result


def cut_out(fine: Pixels, ratio: int, rect: Rect, kind: PictureKind, number: int, radius: float = 0.0) -> Picture:
    """The part of the screenshot, at its own resolution, as a PNG."""
    left, top = int(rect.x) * ratio, int(rect.y) * ratio
    right, bottom = round(rect.right) * ratio, round(rect.bottom) * ratio
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(fine[top:bottom, left:right])).save(out, "PNG", optimize=False)
    return Picture(rect, kind, f"{kind}-{number}", out.getvalue(), radius)


def faint_edges(pixels: Pixels, page: Pixels, rect: Rect, boxes: Sequence[Box] = ()) -> Rect:
    """A small mark with what of it is too faint to be seen as one: thin light strokes that hang together with it.

    It does not reach the edge of a box that it is on.
    """
    height, width = pixels.shape[:2]
    if max(rect.w, rect.h) > ICON / 2:
        return rect
    around = rect.grown(FAINT_REACH).within(width, height)
    left, top = int(around.x), int(around.y)
    where = (slice(top, round(around.bottom)), slice(left, round(around.right)))
    marks = islands(np.abs(pixels[where].astype(np.int16) - page[where]).max(axis=2) > FAINT)
    found = [
        spanning((left + int(edges[0]), top + int(edges[1]), left + int(edges[2]), top + int(edges[3])))
        for edges in marks.edges[1:]
    ]
    whole = hull([rect, *(each for each in found if each.common(rect) > 0)])
    rooms = [around, *(box.rect for box in boxes if box.rect.holds(rect))]
    return whole if all(room.grown(-1).holds(whole) for room in rooms) else rect


def kind_of(rect: Rect) -> PictureKind:
    return "icon" if max(rect.w, rect.h) <= ICON else "photo"


def joined(rects: list[Rect]) -> list[Rect]:
    """Those that overlap as one, until none do."""
    return _joined(rects, 0)
