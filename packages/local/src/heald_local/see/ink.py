"""Separates the ink of text from its background."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import LIGHTEST
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels, largest_channel

FAINT = 0.12  # the part of the strongest contrast from which on a pixel counts as ink
LEAST_CONTRAST = 24  # levels by which ink differs from the page
STRONGEST, STRONG = 0.985, 0.6  # the quantile of pixels that show the colour of ink, and their part of the contrast
ROUNDING = 1e-6  # levels by which equal contrasts may differ
LEAST_INK = 6  # pixels
STRONGEST_SHADOW = 0.8  # the quantile of the pixels of a shadow that show its colour
WHOLE_INK = 0.7  # the part of a pixel from which on it shows where letters and their shadow begin
COLOURFUL, MOST_COLOURFUL = 48, 0.2  # levels by which a pixel has another colour than ink, and the part of them
UNDERLINED_HIGH, UNDERLINED_WIDE = 8, 2  # pixels of a line that may be underlined, and its width in heights
RULED, ABOVE_RULE = 0.8, 0.35  # the part of a row that an underline fills at least, and the row above it at most
THICKEST_RULE = 3  # pixels of an underline
RULE_FROM = 0.62  # the part of the height of a line below which its underline lies


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """A piece of text: the area of its ink, the darkness of each pixel (0 to 1), and the two colours.

    Each is equal to itself only, so that what is measured of it can be cached.
    """

    rect: Rect
    cover: NDArray[np.float32]
    paper: NDArray[np.float64]
    colour: NDArray[np.float64]
    underlined: bool = False

    @property
    def exact(self) -> Rect:
        """The edges with fractions of pixels, from the coverage of the outermost ones."""
        sides = (self.cover[:, 0], self.cover[:, -1], self.cover[0], self.cover[-1])
        near, far, high, low = (min(max(float(side.max()), 0.0), 1.0) for side in sides)
        left, right = self.rect.x + 1 - near, self.rect.right - 1 + far
        top, bottom = self.rect.y + 1 - high, self.rect.bottom - 1 + low
        return spanning((left, top, max(right, left + 1), max(bottom, top + 1)))


def extract_ink(pixels: Pixels, page: Pixels, rect: Rect) -> Ink | None:
    """Extract the ink within a rectangle, cropped."""
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    change = pixels[top:bottom, left:right].astype(np.float64) - page[top:bottom, left:right]
    strength = largest_channel(np.abs(change))
    if not strength.size or strength.max() < LEAST_CONTRAST:
        return None
    strongest = strength >= np.quantile(strength, STRONGEST) - ROUNDING
    strongest &= strength > STRONG * strength.max()
    direction = np.median(change[strongest], axis=0)
    cover = _cover(change, direction)
    parted = _part_underline(change, strength) if _is_colourful(change, cover, direction) else None
    if parted is not None:
        change, direction = parted
        cover = _cover(change, direction)
    if _is_colourful(change, cover, direction):
        shadowed = _part_shadow(change, direction)
        if shadowed is None:
            return None
        direction, cover = shadowed
    dark = cover > FAINT
    if dark.sum() < LEAST_INK:
        return None
    ruled = _underline_row(dark)
    if ruled is not None:
        cover[ruled:] = 0
        dark[ruled:] = False
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    paper = np.median(page[top:bottom, left:right], axis=(0, 1))
    return Ink(
        spanning((left + near, top + high, left + far, top + low)),
        cover[high:low, near:far].astype(np.float32),
        paper,
        np.clip(paper + direction, 0, LIGHTEST),
        ruled is not None or parted is not None,
    )


def _part_underline(
    change: NDArray[np.float64], strength: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Part letters from an underline of another colour: what differs from the paper above it, and the letters' colour.

    None if there is no underline.
    """
    ruled = _underline_row(strength > max(FAINT * float(strength.max()), LEAST_CONTRAST))
    if not ruled:
        return None
    above = change.copy()
    above[ruled:] = 0
    strong = strength[:ruled]
    strongest = (strong >= np.quantile(strong, STRONGEST) - ROUNDING) & (strong > STRONG * strong.max())
    return above, np.median(change[:ruled][strongest], axis=0)


def _cover(change: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of each pixel a colour covers that differs from the paper by `direction`."""
    return np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)


def _part_shadow(
    change: NDArray[np.float64], direction: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Part letters from their shadow, which is a second colour to the right or below: the letters' colour and cover.

    None if there are more colours than these two.
    """
    cover = _cover(change, direction)
    off = largest_channel(np.abs(change - cover[:, :, None] * direction))
    others = off > COLOURFUL
    if others.sum() < LEAST_INK:
        return None
    strength = largest_channel(np.abs(change))
    strongest = others & (strength >= np.quantile(strength[others], STRONGEST_SHADOW))
    second = np.median(change[strongest], axis=0)
    other_cover = _cover(change, second)
    between = np.minimum(off, largest_channel(np.abs(change - other_cover[:, :, None] * second)))
    strong = strength > LEAST_CONTRAST
    if float((between[strong] > COLOURFUL).mean()) > MOST_COLOURFUL:
        return None
    sides = [(direction, cover), (second, other_cover)]
    starts = [_start(side_cover > WHOLE_INK) for _, side_cover in sides]
    if starts[0] == starts[1]:
        return None  # a glow, or a pattern of two colours
    return sides[0] if starts[0] < starts[1] else sides[1]


def _start(inked: Mask) -> int:
    """Return the sum of the first row and the first column with ink."""
    if not inked.any():
        return inked.size
    return int(np.flatnonzero(inked.any(axis=1))[0] + np.flatnonzero(inked.any(axis=0))[0])


def _is_colourful(change: NDArray[np.float64], cover: NDArray[np.float64], direction: NDArray[np.float64]) -> bool:
    """Whether there are more colours than paper, ink and what lies between, as in a picture."""
    off = largest_channel(np.abs(change - cover[:, :, None] * direction))
    strong = largest_channel(np.abs(change)) > LEAST_CONTRAST
    return float((off[strong] > COLOURFUL).mean()) > MOST_COLOURFUL if strong.any() else False


def _underline_row(dark: Mask) -> int | None:
    """Find the row where an underline begins: thin, low, and nearly as wide as the line."""
    columns = np.flatnonzero(dark.any(axis=0))
    height = len(dark)
    if height < UNDERLINED_HIGH or columns[-1] - columns[0] < UNDERLINED_WIDE * height:
        return None
    full = dark[:, columns[0] : columns[-1] + 1].mean(axis=1)
    rows = np.flatnonzero(full > RULED)
    if not len(rows) or max(len(rows), rows[-1] - rows[0]) > THICKEST_RULE or rows[0] < RULE_FROM * height:
        return None
    return int(rows[0]) if full[rows[0] - 1] < ABOVE_RULE else None
