"""Finds out how many pixels of a screenshot are one CSS pixel, and by how much a large one can be reduced."""

import numpy as np

from heald_pictures.regions import Pixels, label_islands

LETTER = 7.5  # the least height of most letters on a page, in CSS pixels
SMALLEST_LETTER = 5.0  # the same for a page of small type, whose edges show the ratio
LEAST_LETTERS = 24
SAMPLE = 900  # rows that are looked at for letters
WIDEST = 2_560  # the widest page, in CSS pixels: no screen that people use is much wider
RATIOS = (8, 6, 5, 4, 3, 2)
BAND = 4_000_000  # pixels that are looked at for edges: a band of rows of a large picture
LARGE = 12_000_000  # a picture of more pixels is reduced before anything else is done with it


def reduction(pixels: int, ratio: int) -> int:
    """Return the whole number by which both sides of a large picture can be divided without losing what it shows."""
    if ratio > 3 and ratio % 2 == 0:
        return ratio // 2
    return ratio if ratio > 3 or pixels > LARGE else 1


def pixel_ratio(pixels: Pixels) -> int:
    """Estimate the pixels for each CSS pixel, 1 to 8, by the edges of boxes and the height of letters.

    A picture on which neither is found, such as a photograph, counts as a page of at most `WIDEST` CSS pixels.
    """
    height, width = pixels.shape[:2]
    band = _busiest_band(pixels)
    screens = {ratio: width / ratio for ratio in RATIOS}
    likely = [
        ratio
        for ratio, screen in screens.items()
        if (350 <= screen <= 480 or screen >= 1000) and width % ratio == 0 and height >= 64 * ratio
    ]
    tall = _letter_height(band) if likely else 0.0
    # Wide pages often have all their edges at even places; their letters show that nothing is enlarged.
    legible = [ratio for ratio in likely if not tall or tall >= SMALLEST_LETTER * ratio]
    detected = next((ratio for ratio in legible if _edges_on_grid(band, ratio)), None)
    if detected is None:
        detected = next((ratio for ratio in legible if tall >= LETTER * ratio), None)
    return max(detected or 1, -(-width // WIDEST))


def _busiest_band(pixels: Pixels) -> Pixels:
    """Return the rows with the most edges, as many as `BAND` pixels have; all rows of a small picture."""
    height, width = pixels.shape[:2]
    rows = max(BAND // width, SAMPLE)
    if rows >= height:
        return pixels
    sparse = pixels[:, ::4, 1].astype(np.int16)
    busy = np.cumsum((np.abs(np.diff(sparse, axis=1)) > 60).sum(axis=1))
    top = int((busy[rows:] - busy[:-rows]).argmax()) if len(busy) > rows else 0
    return pixels[top // 120 * 120 : top // 120 * 120 + rows]  # every ratio divides 120, so the grid begins at 0


def _letter_height(pixels: Pixels) -> float:
    """Return the median height of likely letters, 0 if there are few: measured where most edges are."""
    grey = pixels[:, :, 1].astype(np.int16)
    busy = np.cumsum((np.abs(np.diff(grey, axis=1)) > 60).sum(axis=1))
    if len(busy) > SAMPLE:
        top = int((busy[SAMPLE:] - busy[:-SAMPLE]).argmax())
        grey = grey[top : top + SAMPLE]
    paper = int(np.bincount(grey.ravel()).argmax())
    marks = label_islands(np.abs(grey - paper) > 60)
    wide, high = (marks.edges[:, 2] - marks.edges[:, 0])[1:], (marks.edges[:, 3] - marks.edges[:, 1])[1:]
    letters = high[(high >= 4) & (high <= 100) & (wide <= 1.6 * high) & (wide >= 0.15 * high)]
    return float(np.median(letters)) if len(letters) >= LEAST_LETTERS else 0.0


def _edges_on_grid(pixels: Pixels, ratio: int) -> bool:
    """Whether nearly all long straight edges lie on multiples of the ratio."""
    grey = pixels[:, :, 1].astype(np.int16)
    on, off = 0, 0
    for axis in (0, 1):
        edge = np.abs(np.diff(grey, axis=axis)) > 3
        if axis:
            edge = edge.T
        long = 40 * ratio
        filled = np.cumsum(edge, axis=1, dtype=np.int32)
        straight = (filled[:, long:] - filled[:, :-long] == long).any(axis=1)
        places = np.flatnonzero(straight)
        good = int(((places + 1) % ratio == 0).sum())
        on, off = on + good, off + len(places) - good
    return on >= 6 and on >= 8 * off
