"""The boxes of lines are corrected where the font was not recognised, by the ink of their letters and by their row."""

import numpy as np
import pytest

from heald_pictures.elements import TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_studio.causes.line_boxes import place_line_boxes
from heald_studio.score.page_image import Pixels

STYLE = TextStyle("sans", 20, 400, False, "#000000")


def picture(underline: int | None = None) -> Pixels:
    """Letters that are 12 high stand on the baseline 42, from 10 to 90; one of them goes down to 46."""
    pixels = np.full((60, 200, 3), 255, np.uint8)
    for left in range(10, 90, 8):
        pixels[30:42, left : left + 5] = 0
    pixels[42:46, 26:29] = 0
    if underline is not None:
        pixels[underline, 10:90] = 0
    return pixels


def line(text: str, likeness: float, baseline: float = 42, *, x: float = 10, y: float = 20, h: float = 27) -> TextLine:
    return TextLine(text, Rect(x, 30, 80, 16), Rect(x, y, 76, h), STYLE, baseline, 1.0, likeness)


def test_a_box_that_is_too_high_for_its_letters_is_lower_and_stands_on_the_same_baseline() -> None:
    (certain,) = place_line_boxes([line("Harbour", 0.97)], picture(), 1)
    (likely,) = place_line_boxes([line("Harbour", 0.9)], picture(), 1)
    (doubtful,) = place_line_boxes([line("Harbour", 0.5)], picture(), 1)
    assert (certain.y, certain.h) == (20, 27)
    assert likely.h == pytest.approx((27 + 1.55 * 12) / 2)
    assert doubtful.h == pytest.approx(0.25 * 27 + 0.75 * 1.55 * 12)
    assert [(42 - box.y) / box.h for box in (likely, doubtful)] == [pytest.approx(22 / 27)] * 2


@pytest.mark.parametrize("text", ["more", "(Harbour)", "Ärger"])
def test_letters_that_are_not_as_high_as_a_capital_do_not_change_the_height(text: str) -> None:
    assert place_line_boxes([line(text, 0.5)], picture(), 1)[0].h == 27


def test_an_underline_is_not_the_baseline() -> None:
    (box,) = place_line_boxes([line("more", 0.5, baseline=40)], picture(underline=44), 1)
    assert (box.y, box.h) == (22, 27)


def test_a_box_is_as_wide_as_its_ink() -> None:
    (box,) = place_line_boxes([line("Harbour", 0.97)], picture(), 1)
    assert (box.x, box.right) == (10, 90)


def test_a_sign_has_the_top_and_height_of_the_text_beside_it_and_not_of_another_row() -> None:
    text, sign = line("Terms of use", 0.97, y=100, h=17), line("|", 0.97, x=95, y=98, h=18)
    boxes = place_line_boxes([text, sign], picture(), 1)
    assert [(box.y, box.h) for box in boxes] == [(100, 17), (100, 17)]
    lower = line("|", 0.97, x=95, y=105, h=18)
    assert place_line_boxes([text, lower], picture(), 1)[1].y == 105
