"""Which moments of a recording to show: those that differ most, the first and the last always among them.

Each next one is the moment farthest from all that were chosen, until there are enough or nothing new is left. A moment
in the middle of a movement counts less than one at rest, so that what is shown is what a person looked at.
"""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from PIL import Image as Pillow

Look = NDArray[numpy.float32]
"""A picture, small and in grey."""

_SIDE = 48
_NEW = 0.012
"""Below this mean difference, of 1, two moments show the same."""
_MOVING = 0.5


def look_of(picture: Pillow.Image) -> Look:
    small = picture.convert("L").resize((_SIDE, _SIDE), Pillow.Resampling.BOX)
    return (numpy.asarray(small) / 255).astype(numpy.float32)


def choose(looks: Sequence[Look], count: int) -> list[int]:
    """The indexes of at most `count` moments, in order."""
    if not looks or count < 1:
        return []
    stack = numpy.stack(looks).reshape(len(looks), -1)
    weights = _stillness(stack)
    chosen = [0]
    nearest = _distances(stack, 0)
    last = len(looks) - 1
    if count > 1 and nearest[last] >= _NEW:
        chosen.append(last)
        nearest = numpy.minimum(nearest, _distances(stack, last))
    while len(chosen) < count:
        best = int(numpy.argmax(nearest * weights))
        if nearest[best] < _NEW:
            break
        chosen.append(best)
        nearest = numpy.minimum(nearest, _distances(stack, best))
    return sorted(chosen)


def _distances(stack: NDArray[numpy.float32], to: int) -> NDArray[numpy.float32]:
    """How far each moment is from one. What changes in a corner only counts too: the root lifts small areas."""
    return numpy.sqrt(numpy.square(stack - stack[to]).mean(axis=1)).astype(numpy.float32)


def _stillness(stack: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """1 for a moment like the one before it or after it, less for one in a movement."""
    steps = numpy.sqrt(numpy.square(numpy.diff(stack, axis=0)).mean(axis=1))
    still = numpy.concatenate(([True], steps < _NEW, [True]))
    calm = still[:-1] | still[1:]
    return numpy.where(calm, 1.0, _MOVING).astype(numpy.float32)
