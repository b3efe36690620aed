"""The scale of a screenshot: how many of its pixels are one CSS pixel."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from heald_pictures.screen_scale import LARGE, WIDEST, pixel_ratio, reduction


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_the_ratio_is_that_of_the_edges_of_boxes(ratio: int) -> None:
    image = Image.new("RGB", (400, 480), "#ffffff")
    pen = ImageDraw.Draw(image)
    for number in range(5):
        pen.rectangle((31 + number, 21 + 90 * number, 371 - 7 * number, 76 + 91 * number), fill=f"#2{number}63eb")
    large = image.resize((400 * ratio, 480 * ratio), Image.Resampling.NEAREST)
    assert pixel_ratio(np.asarray(large)) == ratio


@pytest.mark.parametrize(("letter", "ratio"), [(8, 1), (16, 2)])
def test_small_letters_show_that_a_wide_page_with_even_edges_is_not_enlarged(letter: int, ratio: int) -> None:
    image = Image.new("RGB", (2000, 900), "#ffffff")
    pen = ImageDraw.Draw(image)
    for number in range(6):
        pen.rectangle((100, 20 + 140 * number, 1899, 119 + 140 * number), fill="#e0e0e0")
        for at in range(60):
            left, top = 120 + 28 * at, 44 + 140 * number
            pen.rectangle((left, top, left + letter // 2, top + letter - 1), fill="#111111")
    assert pixel_ratio(np.asarray(image)) == ratio


def test_an_empty_picture_is_at_most_as_wide_as_a_screen() -> None:
    empty = np.full((200, 2 * WIDEST, 3), 255, np.uint8)
    assert pixel_ratio(empty) == 2


def test_only_a_large_or_dense_picture_is_reduced() -> None:
    assert reduction(LARGE, 2) == 1
    assert reduction(LARGE + 1, 2) == 2
    assert reduction(1_000, 4) == 2
    assert reduction(1_000, 5) == 5
