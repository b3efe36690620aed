"""Text that stands on a photograph: nearly white or nearly black letters, kept as text only if a drawing proves them.

The photograph behind is mended where the letters were, so that nothing is there twice.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from weft.vision.geometry import Rect, spanning
from weft.vision.ink import Ink
from weft.vision.regions import Pixels
from weft.vision.seen import Line

BRIGHT, DARK = 214, 46
REACH = 90.0
"""How far from the letters' colour a pixel may be and still be a little covered."""
LEAST_LIKE, LEAST_SURE, LEAST_SIZE = 0.8, 0.9, 13.0


def overlaid(pixels: Pixels, rects: Sequence[Rect], photos: Sequence[Rect]) -> list[Ink]:
    """What may be letters on the photographs."""
    on = [rect for rect in rects if any(photo.common(rect) > 0.9 * rect.area for photo in photos)]
    found = [_ink(pixels, rect) for rect in on if rect.w > 1.5 * rect.h and rect.h >= 12]
    return [ink for ink in found if ink is not None]


def proven(line: Line) -> bool:
    """Whether this is certainly type, not something in the photograph that looks like it."""
    return (
        line.likeness >= LEAST_LIKE
        and line.sure >= LEAST_SURE
        and line.style.size >= LEAST_SIZE
        and sum(letter.isalpha() for letter in line.text) >= 3
    )


def mend(pixels: Pixels, lines: Sequence[Line], inks: Sequence[Ink], ratio: int) -> Pixels:
    """The picture without these letters: what they covered is filled from around it."""
    rects = {line.ink for line in lines}
    mask = np.zeros(pixels.shape[:2], np.uint8)
    for ink in inks:
        if ink.rect in rects:
            x, y = int(ink.rect.x) * ratio, int(ink.rect.y) * ratio
            part = np.kron((ink.cover > 0.06).astype(np.uint8) * 255, np.ones((ratio, ratio), np.uint8))
            mask[y : y + part.shape[0], x : x + part.shape[1]] |= part
    wide = np.asarray(Image.fromarray(mask).filter(ImageFilter.MaxFilter(3 + 2 * ratio)))
    known = wide == 0
    radius = 5 * ratio
    weight = np.maximum(_blurred(np.where(known, 255, 0), radius), 1.0) / 255
    filled = pixels.copy()
    for channel in range(3):
        around = _blurred(np.where(known, pixels[:, :, channel], 0), radius) / weight
        filled[:, :, channel] = np.where(wide > 0, np.clip(around, 0, 255), pixels[:, :, channel])
    return filled


def _blurred(values: NDArray[np.integer], radius: int) -> NDArray[np.float32]:
    return np.asarray(Image.fromarray(values.astype(np.uint8)).filter(ImageFilter.BoxBlur(radius)), np.float32)


def _ink(pixels: Pixels, rect: Rect) -> Ink | None:
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    part = pixels[top:bottom, left:right].astype(np.float64)
    for letters in (part.min(axis=2) >= BRIGHT, part.max(axis=2) <= DARK):
        if not 0.03 <= float(letters.mean()) <= 0.4:
            continue
        colour = np.median(part[letters], axis=0)
        cover = np.clip(1.25 - np.abs(part - colour).max(axis=2) / REACH, 0, 1)
        rows, columns = np.flatnonzero((cover > 0.6).any(axis=1)), np.flatnonzero((cover > 0.6).any(axis=0))
        high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        paper = np.median(part[~letters], axis=0)
        place = spanning((left + near, top + high, left + far, top + low))
        return Ink(place, cover[high:low, near:far].astype(np.float32), paper, colour)
    return None
