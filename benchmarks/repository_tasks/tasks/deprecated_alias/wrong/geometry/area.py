"""Areas of shapes."""

import math


def surface(shape, *sizes):
    """The area of a circle (radius), a rectangle (width, height) or a triangle (base, height)."""
    if shape == "circle":
        return math.pi * sizes[0] ** 2
    if shape == "rectangle":
        return sizes[0] * sizes[1]
    if shape == "triangle":
        return sizes[0] * sizes[1] / 2
    raise ValueError(f"There is no shape {shape!r}.")


compute = surface
