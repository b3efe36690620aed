"""The gaps in a line of text are the columns of the picture that no letter covers; signs stand beside it."""

import numpy as np

from heald_pictures.elements import TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_studio.causes.ink_gaps import InkGap, InkSign, find_gaps, find_signs
from heald_studio.score.page_image import Pixels

STYLE = TextStyle("sans", 16, 400, False, "#000000")


def picture(ground: int, ink: int, ratio: int = 1) -> Pixels:
    """Three blocks of ink in a line from 10 to 40, with an underline below the baseline at 22."""
    pixels = np.full((40 * ratio, 60 * ratio, 3), ground, np.uint8)
    for left, right in ((10, 18), (20, 28), (34, 40)):
        pixels[10 * ratio : 22 * ratio, left * ratio : right * ratio] = ink
    pixels[24 * ratio : 25 * ratio, 10 * ratio : 40 * ratio] = ink
    return pixels


def line(height: float = 28) -> TextLine:
    return TextLine("abc", Rect(10, 10, 30, 15), Rect(10, 4, 30, height), STYLE, 22, 1.0)


def test_gaps_are_between_the_letters_and_not_closed_by_an_underline() -> None:
    assert find_gaps(picture(255, 0), line(), 1) == (InkGap(18, 20), InkGap(28, 34))
    assert find_gaps(picture(20, 230), line(), 1) == (InkGap(18, 20), InkGap(28, 34))


def test_gaps_are_in_css_pixels() -> None:
    assert find_gaps(picture(255, 0, ratio=2), line(), 2) == (InkGap(18, 20), InkGap(28, 34))


def test_a_line_that_is_hardly_seen_has_no_gaps() -> None:
    assert find_gaps(picture(255, 240), line(), 1) == ()
    assert find_gaps(np.zeros((5, 5, 3), np.uint8), line(), 1) == ()


def test_a_narrow_sign_beside_a_line_is_found_and_a_wide_shape_is_not() -> None:
    pixels = picture(255, 0)
    pixels[12:20, 2:6] = 0
    pixels[12:20, 44:60] = 0
    assert find_signs(pixels, line(height=14), 1) == (InkSign(2, 6), None)


def test_what_is_far_from_a_line_is_not_its_sign() -> None:
    pixels = picture(255, 0)
    pixels[12:20, 58:60] = 0
    assert find_signs(pixels, line(height=10), 1) == (None, None)
