"""Text that hardly differs from its ground, such as white on light grey."""

import numpy as np
import pytest
from vision_drawing import Paper

from heald_local.see import faint_text
from heald_local.see.faint_text import find_faint_lines, read_faint_lines
from heald_local.see.models import available
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

GROUND = "#f0f0f0"
PLACE = Rect(40, 60, 130, 20)


def _drawn(colour: str) -> tuple[Pixels, Pixels]:
    """A page with a line in a colour, and the same page without it."""
    paper, empty = Paper(400, 120, GROUND), Paper(400, 120, GROUND)
    paper.text(40, 76, "Ferry times today", 16, colour)
    return np.asarray(paper.image), np.asarray(empty.image)


def test_white_letters_on_light_grey_are_a_line() -> None:
    pixels, page = _drawn("#ffffff")
    [line] = find_faint_lines(pixels, page, [], [])
    assert line.common(PLACE) > 0.6 * line.area


def test_dark_letters_and_what_other_ink_and_photographs_cover_are_none() -> None:
    pixels, page = _drawn("#333333")
    assert not find_faint_lines(pixels, page, [], [])
    pixels, page = _drawn("#ffffff")
    around = PLACE.grown(10)
    assert not find_faint_lines(pixels, page, [around], [])
    assert not find_faint_lines(pixels, page, [], [around])


def test_a_faint_edge_and_a_pattern_are_no_letters() -> None:
    paper = Paper(400, 120, GROUND)
    paper.box(40, 60, 300, 3, "#ffffff")
    pixels, page = np.asarray(paper.image), np.asarray(Paper(400, 120, GROUND).image)
    assert not find_faint_lines(pixels, page, [], [])
    pattern = page.copy()
    pattern[::6, ::4] = 255
    pattern[1::6, ::4] = pattern[2::6, ::4] = pattern[3::6, ::4] = 255
    assert not find_faint_lines(np.tile(pattern, (4, 2, 1)), np.tile(page, (4, 2, 1)), [], [])


@pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")
def test_a_faint_line_is_read_and_keeps_its_colours() -> None:
    [(ink, reading)] = read_faint_lines(*_drawn("#ffffff"), [], [])
    assert reading.text == "Ferry times today"
    assert np.abs(ink.colour - 255).max() <= 4
    assert np.abs(ink.paper - 0xF0).max() <= 1


def test_what_is_not_read_for_certain_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = faint_text.OcrResult("Ferry", faint_text.LEAST_SURE - 0.1, (), ())
    monkeypatch.setattr(faint_text, "read_page_lines", lambda crops: [unsure] * len(crops))
    assert not read_faint_lines(*_drawn("#ffffff"), [], [])
