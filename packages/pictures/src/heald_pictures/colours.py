"""Colours: as text, their distances, their contrast, and the most common one of an area."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from heald_pictures.regions import Pixels, distance_between

MANY, SAMPLE = 8_192, 1_024  # pixels: the colour of most of a large area is found by some of them


def hex_colour(colour: Iterable[float]) -> str:
    return "#" + "".join(f"{min(max(round(float(part)), 0), 255):02x}" for part in colour)


def rgb_parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def colour_distance(first: str, second: str) -> int:
    """Return the largest difference in a channel."""
    return max(abs(a - b) for a, b in zip(rgb_parts(first), rgb_parts(second), strict=True))


def dominant_colour(pixels: Pixels) -> NDArray[np.uint8]:
    """Return the most common colour."""
    flat = pixels.reshape(-1, 3)
    if len(flat) > MANY:
        likely = _commonest(flat[:: len(flat) // SAMPLE])
        if 2 * np.count_nonzero(distance_between(flat, likely) == 0) > len(flat):
            return likely
    return _commonest(flat)


def _commonest(flat: Pixels) -> NDArray[np.uint8]:
    wide = flat.astype(np.int32)
    values, counts = np.unique((wide[:, 0] << 16) | (wide[:, 1] << 8) | wide[:, 2], return_counts=True)
    best = int(values[counts.argmax()])
    return np.array([best >> 16, best >> 8 & 255, best & 255], np.uint8)


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2 defines it."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in rgb_parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of WCAG 2: 1 to 21."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
