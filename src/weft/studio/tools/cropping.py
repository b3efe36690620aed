"""Parts of a picture: a box moved to the edges of what is in it, and what is in it without its background."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.studio.imaging.cutting import cut_out
from weft.vision.regions import islands

Edges = tuple[int, int, int, int]
"""Left, top, right, bottom."""

_AROUND = 8
_SLACK = 16
_FLAT = 0.55
_INSIDE = 0.6
"""The part of something that must lie in a box for it to be meant."""


def fitted(whole: Image.Image, box: Edges) -> Edges:
    """A box that is only about right, moved to the edges of what is in it; as it is where the ground is not even."""
    width, height = box[2] - box[0], box[3] - box[1]
    around = _grown(box, max(_AROUND, round(0.08 * max(width, height))), whole.size)
    pixels = np.asarray(whole.crop(around).convert("RGB")).astype(np.int16)
    ring = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    ground = np.median(ring, axis=0)
    if float((np.abs(ring - ground).max(axis=1) <= _SLACK).mean()) < _FLAT:
        return box
    differs = np.abs(pixels - ground).max(axis=2) > _SLACK
    found = _meant(differs, _moved(box, -around[0], -around[1]))
    return box if found is None else _moved(found, around[0], around[1])


def freed(whole: Image.Image, box: Edges) -> Image.Image:
    """The part without its background, which is best told from what lies around the part. Raises CuttingError."""
    around = _grown(box, _AROUND, whole.size)
    free = cut_out(whole.crop(around)).picture
    return free.crop(_moved(box, -around[0], -around[1]))


def _meant(differs: NDArray[np.bool_], box: Edges) -> Edges | None:
    """The hull of everything that lies mostly in the box."""
    regions = islands(differs)
    inside = regions.labels[box[1] : box[3], box[0] : box[2]]
    shares = np.bincount(inside.ravel(), minlength=len(regions.area)) / np.maximum(regions.area, 1)
    kept = np.flatnonzero(shares >= _INSIDE)
    edges = regions.edges[kept[kept > 0]]
    if not len(edges):
        return None
    left, top = (int(side) for side in edges[:, :2].min(axis=0))
    right, bottom = (int(side) for side in edges[:, 2:].max(axis=0))
    return left, top, right, bottom


def _grown(box: Edges, by: int, size: tuple[int, int]) -> Edges:
    return max(box[0] - by, 0), max(box[1] - by, 0), min(box[2] + by, size[0]), min(box[3] + by, size[1])


def _moved(box: Edges, across: int, down: int) -> Edges:
    return box[0] + across, box[1] + down, box[2] + across, box[3] + down
