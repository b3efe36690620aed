"""Finds marks of one size at even distances, such as the stars of a rating."""

import numpy as np

from heald_local.see.colour_layers import FLAT
from heald_pictures.regions import Mask, Pixels

INKED = 0.25  # the part of the strongest contrast from which on a pixel is part of a mark
EVEN = 2  # pixels by which the widths of marks, and the distances between them, differ
COUNT = (3, 6)  # marks of a row
SQUARE = (0.75, 1.35)  # the width of a mark, in parts of its height


def find_row_marks(seen: Pixels, ground: Pixels) -> list[tuple[int, int]]:
    """Return the columns of three to six marks of one size at even distances, such as the stars of a rating."""
    differs = np.abs(seen.astype(np.int16) - ground).max(axis=2)
    inked: Mask = differs > max(INKED * float(differs.max()), FLAT)
    filled = np.flatnonzero(inked.any(axis=0))
    rows = np.flatnonzero(inked.any(axis=1))
    if not len(filled) or not len(rows):
        return []
    marks = np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1)
    spans = [(int(mark[0]), int(mark[-1]) + 1) for mark in marks]
    widths = [end - start for start, end in spans]
    steps = np.diff([start for start, _ in spans])
    high = int(rows[-1] - rows[0]) + 1
    even = max(widths) - min(widths) <= EVEN and (not len(steps) or int(np.ptp(steps)) <= EVEN)
    square = SQUARE[0] * high <= widths[0] <= SQUARE[1] * high
    if not COUNT[0] <= len(marks) <= COUNT[1] or not even or not square:
        return []
    return [(max(start - 1, 0), min(end + 1, seen.shape[1])) for start, end in spans]
