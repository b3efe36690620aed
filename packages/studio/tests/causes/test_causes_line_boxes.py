"""The boxes of lines are corrected by the height of their letters where the font was not recognised."""

import pytest

from heald_pictures.elements import TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_studio.causes.line_boxes import place_line_box

STYLE = TextStyle("sans", 20, 400, False, "#000000")


def line(text: str, likeness: float) -> TextLine:
    """A line whose letters are 12 high, in a box for higher ones."""
    return TextLine(text, Rect(10, 30, 80, 16), Rect(10, 20, 76, 27), STYLE, 42, 1.0, likeness)


def test_a_box_that_is_too_high_for_its_letters_is_lower_and_stands_on_the_same_baseline() -> None:
    certain, doubtful = place_line_box(line("Harbour", 0.97)), place_line_box(line("Harbour", 0.9))
    assert (certain.y, certain.h) == (20, 27)
    assert doubtful.h == pytest.approx(0.4 * 27 + 0.6 * 1.55 * 12)
    assert (42 - doubtful.y) / doubtful.h == pytest.approx(22 / 27)


@pytest.mark.parametrize("text", ["more", "(Harbour)", "Ärger"])
def test_letters_that_are_not_as_high_as_a_capital_do_not_change_the_height(text: str) -> None:
    assert place_line_box(line(text, 0.5)).h == 27


def test_a_box_is_as_wide_as_its_ink() -> None:
    box = place_line_box(line("Harbour", 0.97))
    assert (box.x, box.right) == (10, 90)
