"""Finds the sheet or board on a photograph, straightens it, and removes shadows.

The photograph of a sketch has grain, so that few neighbours are equal, and a light ground with thin dark strokes. A
screenshot has neither and is never changed here.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from heald_local.see.pixel_units import LIGHTEST, SIDES
from heald_local.see.rank_filters import largest_around, median_of_nine
from heald_local.see.sheet_corners import Corners, find_corners
from heald_local.see.straightening import LONGEST, straighten
from heald_pictures.regions import Mask, Pixels, distance_between, label_islands

MOST_INK, LEAST_INK = 0.14, 0.002  # the part of a sheet that strokes cover
DARKER = 0.80  # a stroke is darker than this part of the light around it
GRAIN = 0.5  # of the neighbours of a photograph fewer than this part are equal
SKEWED, FEWEST_SKEWED = 0.5, 3  # degrees by which a side is off level or upright, and sides that are, of a photograph
SAMPLED_ROWS = 400  # rows in which neighbours are compared
SHADE_SIDE = 480  # pixels of the longer side of the picture in which shadows are measured
STROKE_REACH, LEAST_REACH, MOST_REACH = 240, 2, 7
"""Pixels around which the lightest shows the ground: one for so many pixels of the sheet's side, and some more."""
SHADE_BLUR = 6  # pixels by which the ground is smoothed
NOT_GROUND, STROKE_EDGE = 0.9, 3  # a pixel darker than this part of the ground, so far from strokes, is not ground
BLACK, CONTRAST = 0.25, 0.65  # the part of the ground's light that becomes black, and that from there to white
MARK_ROOM, LEAST_MARK = 2, 9  # pixels between the parts of a mark, and of its longer side: smaller ones are dust
PALE = 0.12  # the part of a sheet that may be neither ground nor stroke: a photograph has more


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet on a photograph, seen from the front; with an even white ground and its strokes if it has such."""

    pixels: Pixels
    strokes: Mask | None
    turned: bool  # whether it was seen from the side
    marks: Mask | None = None
    """Of a drawing without grain, the strokes before they are smoothed, which takes thin letters apart."""


def find_sheet(pixels: Pixels) -> Sheet | None:
    """Return the sheet, board or screen on a photograph; None for every picture without grain."""
    if _equal_neighbours(pixels) >= GRAIN:
        return None
    corners = find_corners(pixels)
    plain = _shrink(pixels) if corners is None else straighten(pixels, corners)
    turned = corners is not None and _is_skewed(corners)
    cleaned = _clean(plain)
    return Sheet(*cleaned, turned) if cleaned is not None else Sheet(plain, None, turned)


def clean_sheet(pixels: Pixels) -> Sheet | None:
    """Return a drawing without grain, such as one of a drawing program; None if there are not only strokes."""
    plain = _shrink(pixels)
    cleaned = _clean(plain)
    if cleaned is None:
        return None
    darkest = plain.min(axis=2)
    return Sheet(*cleaned, False, darkest < DARKER * float(np.median(darkest)))


def _is_skewed(corners: Corners) -> bool:
    """Whether at least three sides are neither level nor upright, as on no screenshot."""
    sides = [corners[(number + 1) % SIDES] - corners[number] for number in range(SIDES)]
    tilts = [float(np.degrees(np.arctan2(min(abs(side)), max(abs(side))))) for side in sides]
    return sum(tilt > SKEWED for tilt in tilts) >= FEWEST_SKEWED


def _equal_neighbours(pixels: Pixels) -> float:
    """Return the part of neighbours that are equal, on a part of the rows."""
    rows = pixels[:: max(len(pixels) // SAMPLED_ROWS, 1)]
    return float((distance_between(rows[:, 1:], rows[:, :-1]) == 0).mean())


def _shrink(pixels: Pixels) -> Pixels:
    image = Image.fromarray(pixels)
    image.thumbnail((LONGEST, LONGEST), Image.Resampling.BOX)
    return np.asarray(image)


def _clean(pixels: Pixels) -> tuple[Pixels, Mask] | None:
    """Remove shadows from a sheet; None if what is on it are not strokes."""
    height, width = pixels.shape[:2]
    small = Image.fromarray(pixels)
    small.thumbnail((SHADE_SIDE, SHADE_SIDE), Image.Resampling.BOX)
    reach = min(max(height, width) // STROKE_REACH + LEAST_REACH, MOST_REACH)
    wide = Image.fromarray(largest_around(np.asarray(small), reach)).filter(ImageFilter.GaussianBlur(SHADE_BLUR))
    if _is_dark(small, wide):
        return None
    ground = np.asarray(wide.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    smooth = median_of_nine(pixels).astype(np.float32)
    part = np.clip(smooth / np.maximum(ground, 1.0), 0, 1)
    least = part.min(axis=2)
    strokes = _without_dust(least < DARKER)
    pale = float(((least < NOT_GROUND) & ~grow_mask(strokes, STROKE_EDGE)).mean())
    if not LEAST_INK <= float(strokes.mean()) <= MOST_INK or pale > PALE:
        return None
    around = grow_mask(strokes, 1)
    white = np.where(around[:, :, None], np.clip((part - BLACK) / CONTRAST, 0, 1) * LIGHTEST, LIGHTEST)
    return white.astype(np.uint8), strokes


def _is_dark(small: Image.Image, ground: Image.Image) -> bool:
    """Whether so much of a small picture is darker than its ground that there cannot be only strokes on it."""
    dark = np.asarray(small, np.float32) < DARKER * np.asarray(ground, np.float32)
    return float(dark.any(axis=2).mean()) > 2 * MOST_INK


def grow_mask(mask: Mask, by: int) -> Mask:
    """Mark all that is within a few pixels of the mask."""
    return np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.BoxBlur(by))) > 0


def _without_dust(strokes: Mask) -> Mask:
    """Drop specks: marks of a few pixels with nothing beside them."""
    marks = label_islands(grow_mask(strokes, MARK_ROOM))
    wide, high = marks.edges[:, 2] - marks.edges[:, 0], marks.edges[:, 3] - marks.edges[:, 1]
    large = np.maximum(wide, high) >= LEAST_MARK
    large[0] = False
    return strokes & large[marks.labels]
