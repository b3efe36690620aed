"""Rank filters: the same values as Pillow's filters, at edges and on pictures of one pixel too."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from heald_local.see.rank_filters import largest_around, median_of_nine, smallest_around

SHAPES = [(1, 1), (1, 9), (2, 3), (3, 1, 3), (9, 7, 3), (65, 40), (130, 33, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_are_those_of_pillow(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, shape, dtype=np.uint8)
    picture = Image.fromarray(pixels)
    assert np.array_equal(median_of_nine(pixels), np.asarray(picture.filter(ImageFilter.MedianFilter(3))))
    for reach in range(1, 9):
        largest, smallest = ImageFilter.MaxFilter(2 * reach + 1), ImageFilter.MinFilter(2 * reach + 1)
        assert np.array_equal(largest_around(pixels, reach), np.asarray(picture.filter(largest))), reach
        assert np.array_equal(smallest_around(pixels, reach), np.asarray(picture.filter(smallest))), reach
