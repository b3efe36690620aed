"""Measures the shadow of a box: darkening that fades outward."""

import numpy as np
from numpy.typing import NDArray

from heald_local.see.borders import TOP, side_strip
from heald_local.see.pixel_units import SIDES
from heald_pictures.colours import rgb_parts
from heald_pictures.elements import Shadow
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

REACH = 40  # pixels that a shadow is followed
LEAST_WIDE, LEAST_HIGH = 24, 16  # pixels of a box that may have a shadow
LEAST_BELOW, LEAST_PEAK = 2, 2  # pixels that it reaches below the box, and levels by which it is darker there
BLUR = 1.15  # the blur of a shadow, for each pixel that it is seen to reach
LEAST_BLUR = 2.0  # pixels
OPACITY, MOST_OPACITY = 1.7, 0.5  # its opacity, for each part of the ground's light that it lacks at the box's edge
LEAST_LIGHT = 16.0  # levels: a ground that is darker counts as this light
CORNER = 0.3  # the part of the longer side at each end of a side that is not looked at: a shadow is weaker there
LEAST_DARKER = 0.6  # levels by which a shadow is darker than the ground
SLACK = 0.5  # levels by which it may grow darker from one pixel to the next
STEEP, STEEP_SHARE, STEEP_FROM = 12.0, 0.5, 2
"""Levels, and the part of its darkness, that a line loses at its end. A shadow does not, after the first pixels."""
EVEN_FROM, EVEN = 3, 1.5  # an area that loses fewer levels than this over more pixels is another ground


def measure_shadow(pixels: Pixels, rect: Rect, radius: float, under: str) -> Shadow | None:
    """Measure a shadow: darkening that fades outward, from the middle of each side."""
    if rect.w < LEAST_WIDE or rect.h < LEAST_HIGH:
        return None
    base = np.array(rgb_parts(under), np.float64)
    reach: list[float] = []
    peak = 0.0
    for side in range(SIDES):
        fades = _fades(pixels, rect, side, base, radius)
        reach.append(float(len(fades)))
        if side != TOP:
            peak = max(peak, float(fades[0]) if len(fades) else 0.0)
    top, right, bottom, left = reach
    if bottom < LEAST_BELOW or peak < LEAST_PEAK or min(left, right) < 1:
        return None
    blur = (left + right) / 2 * BLUR
    down = max((bottom - top) / 2, 0.0)
    brightness = max(float(base.mean()), LEAST_LIGHT)
    alpha = min(peak / brightness * OPACITY, MOST_OPACITY)
    return Shadow(0.0, round(down), round(max(blur, LEAST_BLUR)), round(alpha, 2))


def _fades(pixels: Pixels, rect: Rect, side: int, base: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return how much darker than `base` each step outward is, while it falls; empty if it is not a shadow."""
    steps: list[float] = []
    for away in range(1, REACH):
        strip = side_strip(pixels, rect, side, away, int(max(rect.w, rect.h) * CORNER + radius))
        if strip is None or not len(strip):
            break
        darker = float((base - np.median(strip.reshape(-1, strip.shape[-1]), axis=0)).mean())
        if darker < LEAST_DARKER or (steps and darker > steps[-1] + SLACK):
            break
        if steps and steps[-1] - darker > max(STEEP, STEEP_SHARE * steps[-1]) and away > STEEP_FROM:
            return np.empty(0)
        steps.append(darker)
    if len(steps) >= REACH - 2 or (len(steps) > EVEN_FROM and steps[0] - steps[-1] < EVEN):
        return np.empty(0)
    return np.array(steps)
