"""Colours: the most common one of an area, and the contrast of WCAG 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald_pictures.colours import colour_distance, contrast, dominant_colour, hex_colour, rgb_parts


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_the_commonest_colour_of_a_large_area_is_counted(share: int, seed: int) -> None:
    colours = np.array([[9, 9, 9], [200, 0, 0], [0, 0, 200]], np.uint8)
    chance = np.array([share, 5.0, 4.5]) / (share + 9.5)
    chosen = np.random.default_rng(seed).choice(3, 20_000, p=chance)
    area = np.sort(chosen) if seed % 2 else chosen  # in order, or mixed
    commonest = colours[np.bincount(chosen, minlength=3).argmax()]
    assert (dominant_colour(colours[area].reshape(100, 200, 3)) == commonest).all()


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#ffffff") == 1
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_a_colour_is_written_and_read() -> None:
    assert hex_colour((255, 127.6, -3)) == "#ff8000"
    assert rgb_parts("#ff8000") == (255, 128, 0)
    assert colour_distance("#ff8000", "#fe8004") == 4
