"""Fields with an inner shadow are boxes with a border, and their shade is no ink of the label above them."""

import numpy as np
import pytest
from vision_drawing import Paper

from heald_local.see.ink_pieces import find_ink
from heald_local.see.page_ground import find_ground
from heald_local.see.screenshot import load_screenshot
from heald_pictures.elements import Border, Box
from heald_pictures.rect import Rect

FIELD = Rect(40, 60, 300, 37)


def _paper(shades: tuple[str, ...], *, left: str = "#f9f9f9") -> Paper:
    """A field of a style library: a grey line around it, and below its upper edge lines that fade away."""
    paper = Paper(400, 140)
    x, y, w, h = (int(side) for side in (FIELD.x, FIELD.y, FIELD.w, FIELD.h))
    paper.box(x, y, w, h, "#ffffff", outline="#cccccc")
    paper.pen.rectangle((x + 1, y + 1, x + 1, y + h - 2), fill=left)
    paper.pen.rectangle((x + w - 2, y + 1, x + w - 2, y + h - 2), fill=left)
    for number, shade in enumerate(shades, 1):
        paper.pen.rectangle((x + 1, y + number, x + w - 2, y + number), fill=shade)
    return paper


def _boxes(paper: Paper) -> list[Box]:
    return find_ground(load_screenshot(paper.png())).boxes


@pytest.mark.parametrize("shades", [("#ececec", "#f9f9f9"), ("#e6e6e6",), ("#d8d8d8", "#e6e6e6", "#f2f2f2", "#fafafa")])
def test_a_field_with_an_inner_shadow_is_one_box_with_a_border(shades: tuple[str, ...]) -> None:
    boxes = _boxes(_paper(shades))
    assert [(box.rect, box.fill, box.border) for box in boxes] == [
        (FIELD, "#ffffff", Border((1, 1, 1, 1), "#cccccc")),
    ]


def test_a_line_on_one_side_of_steps_is_no_border() -> None:
    paper = Paper(400, 140)
    for number, shade in enumerate(("#cccccc", "#ececec", "#f9f9f9")):
        paper.pen.rectangle((40, 60 + number, 340, 60 + number), fill=shade)
    assert all(box.border is None for box in _boxes(paper))


def test_the_shade_in_a_field_is_no_ink_of_its_label() -> None:
    paper = _paper(("#e0e0e0", "#e6e6e6", "#f0f0f0"))
    paper.text(42, 52, "Port", 16)
    pixels = np.asarray(paper.image)
    page = np.full_like(pixels, 255)
    page[60:97, 40:340] = np.asarray(Paper(300, 37, "#cccccc").image)
    page[61:96, 41:339] = 255
    frame = Box(FIELD, "#ffffff", 0, Border((1, 1, 1, 1), "#cccccc"))
    [ink] = find_ink(pixels, page, [Rect(40, 40, 34, 24)], [frame])
    assert ink.rect.bottom <= FIELD.y
    [ink] = find_ink(pixels, page, [Rect(40, 40, 34, 24)])
    assert ink.rect.bottom > FIELD.y
