"""Chooses the moments of a recording that differ most."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from PIL import Image as Pillow

Thumbnail = NDArray[numpy.float32]  # a small grey picture

_THUMBNAIL_SIDE = 48
_MIN_DIFFERENCE = 0.012  # below this, two moments count as equal
_MOVING_WEIGHT = 0.5


def make_thumbnail(picture: Pillow.Image) -> Thumbnail:
    small = picture.convert("L").resize((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), Pillow.Resampling.BOX)
    return (numpy.asarray(small) / 255).astype(numpy.float32)


def choose_moments(looks: Sequence[Thumbnail], count: int) -> list[int]:
    """Return the indexes of at most `count` moments that differ most, in order; the first is always one."""
    if not looks or count < 1:
        return []
    stack = numpy.stack(looks).reshape(len(looks), -1)
    weights = _stillness(stack)
    chosen = [0]
    nearest = _distances_to(stack, 0)
    last = len(looks) - 1
    if count > 1 and nearest[last] >= _MIN_DIFFERENCE:
        chosen.append(last)
        nearest = numpy.minimum(nearest, _distances_to(stack, last))
    while len(chosen) < count:
        best = int(numpy.argmax(nearest * weights))
        if nearest[best] < _MIN_DIFFERENCE:
            break
        chosen.append(best)
        nearest = numpy.minimum(nearest, _distances_to(stack, best))
    return sorted(chosen)


def _distances_to(stack: NDArray[numpy.float32], to: int) -> NDArray[numpy.float32]:
    """Return the distance of each moment from one. The root raises the weight of small areas."""
    return numpy.sqrt(numpy.square(stack - stack[to]).mean(axis=1)).astype(numpy.float32)


def _stillness(stack: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Return 1 for a moment that equals a neighbour, less for one in a movement."""
    steps = numpy.sqrt(numpy.square(numpy.diff(stack, axis=0)).mean(axis=1))
    still = numpy.concatenate(([True], steps < _MIN_DIFFERENCE, [True]))
    calm = still[:-1] | still[1:]
    return numpy.where(calm, 1.0, _MOVING_WEIGHT).astype(numpy.float32)
