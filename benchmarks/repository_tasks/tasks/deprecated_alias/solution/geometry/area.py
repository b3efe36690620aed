"""Areas of shapes."""

import math
import warnings


def surface(shape, *sizes):
    """The area of a circle (radius), a rectangle (width, height) or a triangle (base, height)."""
    if shape == "circle":
        return math.pi * sizes[0] ** 2
    if shape == "rectangle":
        return sizes[0] * sizes[1]
    if shape == "triangle":
        return sizes[0] * sizes[1] / 2
    raise ValueError(f"There is no shape {shape!r}.")


def compute(shape, *sizes):
    """Deprecated: use surface."""
    warnings.warn("compute is deprecated; use surface.", DeprecationWarning, stacklevel=2)
    return surface(shape, *sizes)
