"""Finds patches: areas of a screenshot that differ from the painted page."""

from dataclasses import dataclass

import numpy as np

from heald_local.see.pixel_units import BLOCK_AXES
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Mask, label_islands

PATCH_REACH = 3  # parts of one picture may lie this many pixels apart
LEAST = 10  # fewer unexplained pixels are noise


@dataclass(frozen=True, slots=True)
class Patch:
    """An area that boxes do not explain, and how much of it differs from the page."""

    rect: Rect
    density: float
    count: int


def find_patches(differs: Mask, across: int = PATCH_REACH, down: int = PATCH_REACH) -> list[Patch]:
    """Find areas that differ; near ones are joined."""
    height, width = differs.shape
    tall, wide = -(-height // down), -(-width // across)
    padded = np.zeros((tall * down, wide * across), np.bool_)
    padded[:height, :width] = differs
    coarse: Mask = np.asarray(padded.reshape(tall, down, wide, across).any(axis=BLOCK_AXES), np.bool_)
    groups = label_islands(coarse)
    places: list[Rect] = []
    for number in range(1, len(groups.area)):
        left, top, right, bottom = (int(edge) for edge in groups.edges[number])
        places.append(spanning((left * across, top * down, min(right * across, width), min(bottom * down, height))))
    tight = [_tighten(differs, rect) for rect in join_rects(places, PATCH_REACH)]
    return [patch for patch in tight if patch is not None]


def _tighten(differs: Mask, rect: Rect) -> Patch | None:
    left, top = int(rect.x), int(rect.y)
    part = differs[top : int(rect.bottom), left : int(rect.right)]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    count = int(part.sum())
    if not len(rows) or count < LEAST:
        return None
    edges = spanning((left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1))
    return Patch(edges, count / edges.area, count)


def join_rects(rects: list[Rect], reach: float) -> list[Rect]:
    """Join rectangles that overlap or are within reach, until none are."""
    merged = sorted(rects, key=lambda rect: rect.y)
    while True:
        result: list[Rect] = []
        for rect in merged:
            around = rect.grown(reach)
            near = next((number for number, other in enumerate(result) if _overlap(other, around)), None)
            if near is None:
                result.append(rect)
            else:
                result[near] = hull((result[near], rect))
        if len(result) == len(merged):
            return result
        merged = result


def _overlap(a: Rect, b: Rect) -> bool:
    """Whether two rectangles share some area: the innermost test of many, without a call."""
    return a.y < b.y + b.h and b.y < a.y + a.h and a.x < b.x + b.w and b.x < a.x + a.w
