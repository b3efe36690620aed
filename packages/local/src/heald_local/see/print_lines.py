"""Tells print from writing by hand: the letters of print stand on straight lines, and many are of one height."""

import numpy as np

from heald_pictures.regions import Mask, label_islands

HEIGHTS = (4, 40)  # pixels of a letter
MOST_WIDE = 3.0  # heights of a mark that may be a letter
FEWEST_LETTERS = 60  # of a page of print
FEWEST_ON_LINE = 10  # letters on one line
LINED = 0.6  # the part of all letters that stand on such lines


def is_print(strokes: Mask) -> bool:
    """Whether most marks of a drawing are letters that stand on lines to the pixel, as no hand writes them."""
    marks = label_islands(strokes)
    left, top, right, bottom = (marks.edges[1:, side].astype(np.int64) for side in range(4))
    wide, high = right - left, bottom - top
    letters = (high >= HEIGHTS[0]) & (high <= HEIGHTS[1]) & (wide <= MOST_WIDE * high)
    if int(letters.sum()) < FEWEST_LETTERS:
        return False
    counts = np.bincount(bottom[letters])
    return int(counts[counts >= FEWEST_ON_LINE].sum()) >= LINED * int(letters.sum())
