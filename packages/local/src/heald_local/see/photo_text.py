"""Finds letters on photographs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heald_local.see.ink import Ink
from heald_local.see.inpainting import fill_holes
from heald_local.see.rank_filters import largest_around
from heald_local.see.split_level import split_level
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels

BRIGHT, DARK = 214, 46  # levels of all channels of white and of black letters
ON_PHOTO = 0.9  # the part of a line from which on it is on a photograph
PILL_EDGE = 2  # pixels of a line's margin that the edge of a pill may lie in
LOWEST = 10  # pixels of the height of a line
WHOLLY = 1.25  # the cover of a pixel that has the letters' colour, before it is cut to 1: those near it count as whole
COVERED, COVERED_BY_CONTRAST = 0.6, 0.5  # the part of a pixel from which on it shows where letters end
STRONGEST = 0.7  # the quantile of the letters' pixels that show their colour
LETTERS = (0.03, 0.4)  # the part of a line that its letters cover
EDGE_ROWS = [0, 1, -2, -1]  # the rows above and below a line
COLOUR_REACH = 90.0  # how far from the letters' colour a pixel may be and still be a little covered
NARROWEST = 1.25  # the width of a line in parts of its height: two letters of a wide script
LEAST_CONTRAST = 48.0  # between letters and the picture around them
ON_EDGE = 0.12  # the part of the rows above and below a line that its letters may cover


def find_text_on_photos(pixels: Pixels, rects: Sequence[Rect], photos: Sequence[Rect]) -> list[Ink]:
    """Find possible letters on photographs, also where the edge of a pill lies in the margin of a line."""
    on = [rect for rect in rects if any(photo.common(rect) > ON_PHOTO * rect.area for photo in photos)]
    inks = [_ink(pixels, rect) or _ink(pixels, rect.grown(-PILL_EDGE)) for rect in on if _can_be_line(rect)]
    return [ink for ink in inks if ink is not None]


def _can_be_line(rect: Rect) -> bool:
    return rect.w > NARROWEST * rect.h and rect.h >= LOWEST


def _ink(pixels: Pixels, rect: Rect) -> Ink | None:
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    part = pixels[top:bottom, left:right].astype(np.float64)
    for letters in (part.min(axis=2) >= BRIGHT, part.max(axis=2) <= DARK):
        if not _can_be_glyphs(letters):
            continue
        colour, paper = np.median(part[letters], axis=0), np.median(part[~letters], axis=0)
        if float(np.abs(colour - paper).max()) < LEAST_CONTRAST:
            continue
        cover = np.clip(WHOLLY - np.abs(part - colour).max(axis=2) / COLOUR_REACH, 0, 1)
        inked = cover > COVERED
        rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
        high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        place = spanning((left + near, top + high, left + far, top + low))
        return Ink(place, cover[high:low, near:far].astype(np.float32), paper, colour)
    return _ink_by_contrast(part, left, top)


def _ink_by_contrast(part: NDArray[np.float64], left: int, top: int) -> Ink | None:
    """Separate letters of any colour from a picture that changes slowly behind them."""
    light = part.mean(axis=2)
    dark = light < split_level(light.astype(np.intp)) + 1.0
    for letters in (dark, ~dark):
        if not _can_be_glyphs(letters):
            continue
        around = largest_around(letters.astype(np.uint8), 1) > 0
        paper = fill_holes(part.astype(np.uint8), around).astype(np.float64)
        away = np.abs(part - paper).max(axis=2)
        strongest = letters & (away >= np.quantile(away[letters], STRONGEST))
        colour = np.median(part[strongest], axis=0)
        change = colour - paper
        if float(np.abs(np.median(change[letters], axis=0)).max()) < LEAST_CONTRAST:
            continue
        weight = np.maximum((change * change).sum(axis=2), 1.0)
        cover = np.clip(((part - paper) * change).sum(axis=2) / weight, 0, 1) * around
        inked = cover > COVERED_BY_CONTRAST
        rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
        if not len(rows):
            continue
        high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        place = spanning((left + near, top + high, left + far, top + low))
        return Ink(place, cover[high:low, near:far].astype(np.float32), np.median(paper[letters], axis=0), colour)
    return None


def _can_be_glyphs(mask: Mask) -> bool:
    """Whether these pixels can be the letters of a line: neither few nor most, and hardly any above and below it."""
    return LETTERS[0] <= float(mask.mean()) <= LETTERS[1] and float(mask[EDGE_ROWS].mean()) <= ON_EDGE
