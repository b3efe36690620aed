"""Moves a rough box to the edges of its content, and cuts a background away."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald_pictures.regions import label_islands
from heald_studio.imaging.cutout import cut_out

Edges = tuple[int, int, int, int]  # left, top, right, bottom

_MARGIN = 8
_SLACK = 16
_MIN_EVEN = 0.55
_MIN_INSIDE = 0.6  # the least part of an island inside the box


def trim_box(whole: Image.Image, box: Edges) -> Edges:
    """Move a rough box to the edges of its content; unchanged where the background is not even."""
    width, height = box[2] - box[0], box[3] - box[1]
    around = _grow_box(box, max(_MARGIN, round(0.08 * max(width, height))), whole.size)
    pixels = np.asarray(whole.crop(around).convert("RGB")).astype(np.int16)
    ring = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    ground = np.median(ring, axis=0)
    if float((np.abs(ring - ground).max(axis=1) <= _SLACK).mean()) < _MIN_EVEN:
        return box
    differs = np.abs(pixels - ground).max(axis=2) > _SLACK
    trimmed = _find_hull(differs, _move_box(box, -around[0], -around[1]))
    return box if trimmed is None else _move_box(trimmed, around[0], around[1])


def cut_background(whole: Image.Image, box: Edges) -> Image.Image:
    """Cut a part out without its background, which is measured around the part. Raises CuttingError."""
    around = _grow_box(box, _MARGIN, whole.size)
    free = cut_out(whole.crop(around)).picture
    return free.crop(_move_box(box, -around[0], -around[1]))


def _find_hull(differs: NDArray[np.bool_], box: Edges) -> Edges | None:
    """Return the hull of all islands that lie mostly inside the box."""
    regions = label_islands(differs)
    inside = regions.labels[box[1] : box[3], box[0] : box[2]]
    shares = np.bincount(inside.ravel(), minlength=len(regions.area)) / np.maximum(regions.area, 1)
    chosen = np.flatnonzero(shares >= _MIN_INSIDE)
    edges = regions.edges[chosen[chosen > 0]]
    if not len(edges):
        return None
    left, top = (int(side) for side in edges[:, :2].min(axis=0))
    right, bottom = (int(side) for side in edges[:, 2:].max(axis=0))
    return left, top, right, bottom


def _grow_box(box: Edges, by: int, size: tuple[int, int]) -> Edges:
    return max(box[0] - by, 0), max(box[1] - by, 0), min(box[2] + by, size[0]), min(box[3] + by, size[1])


def _move_box(box: Edges, across: int, down: int) -> Edges:
    return box[0] + across, box[1] + down, box[2] + across, box[3] + down
