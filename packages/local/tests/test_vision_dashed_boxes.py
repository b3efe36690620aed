"""Boxes with a dashed border."""

import numpy as np
from vision_drawing import Paper

from heald_local.arrange.page import arrange
from heald_local.see.dashed_boxes import find_dashed_box
from heald_local.see.screenshot import load_screenshot
from heald_local.write.stacks import write_files
from heald_pictures.elements import Border, Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels
from vision_pages import seen, text

PLACE = Rect(60, 50, 200, 60)


def _look(paper: Paper, rect: Rect = PLACE) -> Box | None:
    pixels = load_screenshot(paper.png()).pixels
    page: Pixels = np.full_like(pixels, 255)
    return find_dashed_box(pixels, page, (pixels != page).any(axis=2), rect)


def _dashes(step: int, long: int) -> Paper:
    paper = Paper()
    for x in range(60, 260, step):
        paper.pen.line((x, 50, min(x + long - 1, 259), 50), "#94a3b8")
        paper.pen.line((x, 109, min(x + long - 1, 259), 109), "#94a3b8")
    for y in range(50, 110, step):
        paper.pen.line((60, y, 60, min(y + long - 1, 109)), "#94a3b8")
        paper.pen.line((259, y, 259, min(y + long - 1, 109)), "#94a3b8")
    return paper


def test_dashes_around_words_are_a_box() -> None:
    box = _look(_dashes(5, 3))
    assert box == Box(PLACE, "#ffffff", 0.0, Border((1, 1, 1, 1), "#94a3b8", dashed=True))


def test_a_whole_line_a_drawing_and_two_rules_are_none() -> None:
    assert _look(_dashes(1, 1)) is None
    full = _dashes(5, 3)
    full.box(70, 60, 180, 40, "#0f766e")
    assert _look(full) is None
    rules = Paper()
    rules.pen.line((60, 50, 259, 50), "#94a3b8")
    rules.pen.line((60, 109, 259, 109), "#94a3b8")
    assert _look(rules) is None


def test_a_dashed_box_with_words_is_a_button_with_a_dashed_border() -> None:
    frame = Box(Rect(60, 150, 200, 40), "#ffffff", 8, Border((1, 1, 1, 1), "#94a3b8", dashed=True))
    page = arrange(seen(text(60, 40, "Boards of a crew", 30, 700), frame, text(124, 161, "+ Add card", 15)))
    html = str(write_files(page)["index.html"])
    assert '<button class="outline-button" type="button">+ Add card</button>' in html
    assert "border: 1px dashed #94a3b8" in html.replace("var(--border)", "#94a3b8")
