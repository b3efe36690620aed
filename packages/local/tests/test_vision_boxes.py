"""Flat rectangles, their corners, borders, shadows and gradients, on pages whose measures are known."""

import numpy as np
import pytest
from PIL import Image, ImageFilter
from vision_drawing import Paper

from heald_local.see.boxes import build_boxes
from heald_local.see.flats import find_flats
from heald_local.see.painted_page import find_differences, paint_page
from heald_local.see.screenshot import load_screenshot
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import label_colours


def _boxes(paper: Paper, background: str = "#ffffff") -> list[Box]:
    pixels = load_screenshot(paper.png()).pixels
    regions = label_colours(pixels, 2)
    return build_boxes(pixels, regions, find_flats(pixels, regions), background)


@pytest.mark.parametrize("radius", [0, 4, 6, 8, 12, 16, 24, 40])
def test_a_box_is_found_where_it_is_with_its_corners(radius: int) -> None:
    paper = Paper()
    paper.box(60, 50, 240, 90, "#2563eb", radius)
    [box] = [box for box in _boxes(paper) if box.rect.area > 1000]
    assert box.rect == Rect(60, 50, 240, 90)
    assert box.fill == "#2563eb"
    assert abs(box.radius - radius) <= 1.5


def test_text_and_boxes_inside_do_not_hide_a_box() -> None:
    paper = Paper()
    paper.box(60, 50, 400, 200, "#f3f4f6", 12)
    paper.box(90, 180, 120, 40, "#dc2626", 6)
    paper.text(90, 100, "What stands on a box does not change it", 18)
    rects = [box.rect for box in _boxes(paper) if box.rect.area > 3000]
    assert rects == [Rect(60, 50, 400, 200), Rect(90, 180, 120, 40)]


def test_a_ring_is_a_border() -> None:
    paper = Paper()
    paper.box(60, 50, 300, 48, "#ffffff", 6, outline="#d1d5db")
    [box] = _boxes(paper)
    assert box.border is not None
    assert box.border.widths == (1, 1, 1, 1)
    assert box.border.colour == "#d1d5db"
    assert box.rect == Rect(60, 50, 300, 48)


def test_what_fades_outside_is_a_shadow() -> None:
    paper = Paper()
    dark = Image.new("L", paper.image.size, 0)
    dark.paste(60, (100, 84, 400, 244))
    paper.image.paste("#000000", mask=dark.filter(ImageFilter.GaussianBlur(6)))
    paper.box(100, 80, 300, 160, "#ffffff")
    [box] = [box for box in _boxes(paper) if box.rect.area > 1000]
    assert box.shadow is not None
    assert 1 <= box.shadow.y <= 8
    assert 6 <= box.shadow.blur <= 24
    assert 0.05 <= box.shadow.alpha <= 0.5


def test_no_shadow_where_there_is_none() -> None:
    paper = Paper()
    paper.box(100, 80, 300, 160, "#e5e7eb")
    assert [box.shadow for box in _boxes(paper)] == [None]


def test_an_even_change_of_colour_is_a_gradient() -> None:
    paper = Paper()
    ramp = np.linspace(0, 1, 300)[None, :, None] * np.ones((120, 1, 1))
    colours = np.array([37, 99, 235]) * (1 - ramp) + np.array([124, 58, 237]) * ramp
    paper.image.paste(Image.fromarray(np.round(colours).astype(np.uint8)), (50, 60))
    [box] = [box for box in _boxes(paper) if box.rect.area > 1000]
    assert box.gradient is not None
    assert box.gradient.angle == 90
    assert paint_page(640, 360, "#ffffff", [box])[100, 60] == pytest.approx(np.array([40, 98, 235]), abs=4)


def test_a_circle_is_a_box_and_a_triangle_is_none() -> None:
    paper = Paper()
    paper.box(60, 60, 80, 80, "#16a34a", 40)
    paper.pen.polygon([(300, 200), (380, 200), (340, 120)], fill="#dc2626")
    boxes = _boxes(paper)
    assert [box.rect for box in boxes] == [Rect(60, 60, 80, 80)]
    assert abs(boxes[0].radius - 40) <= 2


def test_the_painted_page_keeps_only_seams_unexplained() -> None:
    paper = Paper()
    paper.box(0, 0, 640, 60, "#111827")
    paper.box(60, 100, 300, 160, "#f9fafb", 12, outline="#e5e7eb")
    pixels = load_screenshot(paper.png()).pixels
    page = paint_page(640, 360, "#ffffff", _boxes(paper))
    assert find_differences(pixels, page).sum() < 60


def test_a_pill_with_a_shaded_pill_in_it_is_two_boxes() -> None:
    """The inner one's shadow hides part of the outer one's rows."""
    paper = Paper(400, 120, "#f8f7ff")
    paper.box(20, 30, 320, 48, "#ede9fe", 24)
    shade = Image.new("L", paper.image.size, 0)
    shade.paste(40, (36, 40, 118, 74))
    paper.image.paste(Image.new("RGB", paper.image.size, "#7c6bb0"), (0, 0), shade.filter(ImageFilter.GaussianBlur(1)))
    paper.box(24, 34, 106, 38, "#ffffff", 19)
    boxes = _boxes(paper, "#f8f7ff")
    outer = [box for box in boxes if abs(box.rect.w - 320) <= 3 and abs(box.rect.h - 48) <= 3]
    inner = [box for box in boxes if abs(box.rect.w - 106) <= 3 and abs(box.rect.h - 38) <= 3]
    assert (len(outer), len(inner)) == (1, 1)
    assert outer[0].radius >= 20
    assert inner[0].radius >= 15
