"""Recognises boxes that are part of an icon: its ground, or its outline."""

from collections.abc import Sequence

import numpy as np

from heald_local.see.parts import FoundPart
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

NEAR = 3.0  # pixels around a control that its drawing may reach
ROUND = 0.45  # of the height: the radius from which on a box with a border may be the disc of an icon
LEAST_GROUND = 0.5  # the part of an icon that its ground fills
MARGIN = 5  # of the width and height of a box, the outer fifths are not looked at
DRAWN, LEAST_DRAWN = 40, 0.03  # levels by which a pixel differs from the ground, and the part of them, of an icon
LARGEST_OUTLINE = 30  # pixels of an icon whose outline looks like a box
LEAST_INNER = 0.6  # the part of such an outline that its inner lines reach over


def is_icon_ground(pixels: Pixels, box: Box, parts: Sequence[FoundPart]) -> bool:
    """Whether a box is the ground of an icon, such as the disc of a logo: both are one picture."""
    icons = [part.rect for part in parts if part.name == "icon"]
    if (box.border is not None and box.radius < ROUND * box.rect.h) or not any(
        icon.grown(NEAR).holds(box.rect) and box.rect.area > LEAST_GROUND * icon.area for icon in icons
    ):
        return False
    rect = box.rect
    inner = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.int16)
    rows, columns = (slice(length // MARGIN, length - length // MARGIN) for length in inner.shape[:2])
    middle = inner[rows, columns].reshape(-1, inner.shape[-1])
    if not middle.size:
        return False
    drawn = (np.abs(middle - np.median(middle, axis=0)) > DRAWN).any(axis=1)
    return float(drawn.mean()) > LEAST_DRAWN


def is_icon_outline(box: Box, inks: Sequence[Rect], read: Sequence[Rect]) -> bool:
    """Whether a small box is the outline of an icon, such as an envelope: what fills it looks like text and is none.

    `inks` are the places that look like text, `read` those of text that was read.
    """
    if max(box.rect.w, box.rect.h) > LARGEST_OUTLINE or box.border is not None:
        return False
    around = box.rect.grown(1)
    fills = any(around.holds(rect) and rect.area >= LEAST_INNER * box.rect.area for rect in inks)
    return fills and not any(around.common(rect) for rect in read)
