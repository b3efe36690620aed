"""The first preview: a page with bars for its text, and without the strokes of large letters as boxes."""

import pytest
from vision_drawing import Paper

from heald_local.see.boxes import build_boxes
from heald_local.see.flats import find_flats
from heald_local.see.rough_elements import find_rough_elements
from heald_local.see.screenshot import load_screenshot
from heald_pictures.elements import Box, Detection
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.regions import label_colours

fonts_needed = pytest.mark.skipif(not face("sans", True).path, reason="no sans font is installed")
BAR = "#c8ccd2"


def _preview(paper: Paper) -> tuple[list[Box], Detection]:
    """Return the boxes that are seen before any text is read, and the preview of them."""
    pixels = load_screenshot(paper.png()).pixels
    regions = label_colours(pixels, 2)
    boxes = build_boxes(pixels, regions, find_flats(pixels, regions), "#ffffff")
    base = Detection(paper.image.width, paper.image.height, 1, False, "#ffffff", (), (), (), ())
    return boxes, find_rough_elements(base, pixels, boxes)


@fonts_needed
@pytest.mark.parametrize("size", [36, 48, 60])
def test_letters_of_a_heading_are_bars(size: int) -> None:
    paper = Paper(1200, 300)
    paper.text(60, 160, "Billing, filled & loved", size, "#0f172a", bold=True)
    boxes, preview = _preview(paper)
    assert boxes  # strokes of letters look like boxes
    assert [box for box in preview.boxes if box.fill != BAR] == []
    bars = [*(box.rect for box in preview.boxes), *(picture.rect for picture in preview.pictures)]
    assert 3 <= len(bars) <= 6


@fonts_needed
def test_bullets_buttons_and_rows_of_squares_stay() -> None:
    paper = Paper(900, 400)
    paper.box(60, 40, 12, 12, "#0d9488", 6)
    paper.text(90, 52, "Works from your phone", 16)
    paper.box(60, 90, 150, 44, "#1d4ed8", 8)
    paper.text(84, 118, "Try it free", 16, "#ffffff", bold=True)
    for number in range(4):
        paper.box(60 + 36 * number, 170, 32, 32, "#e2e8f0", 6)
        paper.text(71 + 36 * number, 191, str(number + 1), 14)
    _, preview = _preview(paper)
    rects = {box.rect for box in preview.boxes if box.fill != BAR}
    assert Rect(60, 90, 150, 44) in rects
    assert {Rect(60 + 36 * number, 170, 32, 32) for number in range(4)} <= rects
    lines = [box.rect for box in preview.boxes if box.fill == BAR]
    assert any(rect.x > 85 and rect.bottom < 60 for rect in lines)
    assert any(Rect(60, 90, 150, 44).holds(rect) for rect in lines)
