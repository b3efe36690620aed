"""Colours as numbers and as CSS writes them, and which of two reads better."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from weft.vision.regions import Pixels


def css(colour: Iterable[float]) -> str:
    return "#" + "".join(f"{min(max(round(float(part)), 0), 255):02x}" for part in colour)


def parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def distance(one: str, two: str) -> int:
    """The largest difference in a channel."""
    return max(abs(a - b) for a, b in zip(parts(one), parts(two), strict=True))


def commonest(pixels: Pixels) -> NDArray[np.uint8]:
    """The colour of most pixels, whatever shape they come in."""
    flat = pixels.reshape(-1, 3).astype(np.int32)
    keys = (flat[:, 0] << 16) | (flat[:, 1] << 8) | flat[:, 2]
    values, counts = np.unique(keys, return_counts=True)
    best = int(values[counts.argmax()])
    return np.array([best >> 16, best >> 8 & 255, best & 255], np.uint8)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG 2: 1 to 21."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
