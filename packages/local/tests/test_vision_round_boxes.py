"""Outlined boxes with round ends: chips and round buttons on their own ground."""

import pytest
from vision_drawing import Paper

from heald_local.see.boxes import build_boxes
from heald_local.see.flats import find_flats
from heald_local.see.screenshot import load_screenshot
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import label_colours


def _outlined(paper: Paper, background: str = "#ffffff") -> list[Box]:
    pixels = load_screenshot(paper.png()).pixels
    regions = label_colours(pixels, 2)
    boxes = build_boxes(pixels, regions, find_flats(pixels, regions), background)
    return [box for box in boxes if box.border is not None and box.rect.h > 8]


@pytest.mark.parametrize(("wide", "high"), [(132, 42), (66, 32), (90, 28)])
def test_a_chip_with_a_thin_line_around_it_is_a_box(wide: int, high: int) -> None:
    paper = Paper()
    paper.box(60, 50, wide, high, "#ffffff", high // 2, "#c4cad2")
    paper.text(60 + high // 2, 50 + high // 2 + 5, "Rope", 14)
    [box] = _outlined(paper)
    assert box.rect == Rect(60, 50, wide, high)
    assert box.fill == "#ffffff"
    assert box.radius == pytest.approx(high / 2, abs=1)


def test_a_ring_around_an_icon_is_a_box() -> None:
    paper = Paper()
    paper.box(60, 50, 38, 38, "#ffffff", 19, "#b6bcc6")
    paper.box(72, 62, 14, 14, "#374151", 2)
    [box] = _outlined(paper)
    assert box.rect == Rect(60, 50, 38, 38)
    assert box.radius == 19


def test_filled_discs_and_letters_are_no_outlined_boxes() -> None:
    paper = Paper()
    paper.box(60, 50, 30, 30, "#0f766e", 15)
    paper.box(120, 50, 90, 30, "#fde68a", 15)
    paper.text(60, 160, "Ooo good OOO", 40, bold=True)
    assert _outlined(paper) == []


def _filled(paper: Paper) -> list[Box]:
    pixels = load_screenshot(paper.png()).pixels
    regions = label_colours(pixels, 2)
    boxes = build_boxes(pixels, regions, find_flats(pixels, regions), "#ffffff")
    return [box for box in boxes if box.rect.h > 12]


@pytest.mark.parametrize(("wide", "high", "radius"), [(40, 40, 20), (21, 20, 10), (90, 36, 18), (176, 42, 10)])
def test_a_filled_box_is_measured_by_its_smooth_edge(wide: int, high: int, radius: int) -> None:
    paper = Paper()
    paper.box(60, 50, wide, high, "#db2777", radius)
    [box] = _filled(paper)
    assert box.rect == Rect(60, 50, wide, high)
    assert box.radius == pytest.approx(radius, abs=0.5)


def test_a_message_with_round_corners_is_no_chip() -> None:
    paper = Paper(colour="#f9fafb")
    paper.box(60, 50, 240, 44, "#ffffff", 16, "#d1d5db")
    paper.text(76, 78, "See you at the harbour", 15)
    [box] = _outlined(paper, "#f9fafb")
    assert box.rect == Rect(60, 50, 240, 44)
    assert box.radius == pytest.approx(16, abs=1)


def test_a_box_with_one_round_side_is_a_box() -> None:
    paper = Paper()
    paper.box(60, 50, 90, 38, "#111827", 7)
    paper.box(120, 50, 30, 38, "#111827")
    paper.text(78, 74, "Light", 15, "#ffffff")
    [box] = _filled(paper)
    assert box.rect == Rect(60, 50, 90, 38)


def _disc(paper: Paper, x: int, y: int, rows: list[int], colour: str) -> None:
    """Draw a square of twelve pixels with rows of these lengths, without smooth edges."""
    for row, wide in enumerate(rows):
        left = x + (12 - wide) // 2
        paper.pen.rectangle((left, y + row, left + wide - 1, y + row), colour)


def _small(paper: Paper) -> list[Box]:
    pixels = load_screenshot(paper.png()).pixels
    regions = label_colours(pixels, 2)
    return build_boxes(pixels, regions, find_flats(pixels, regions), "#ffffff")


def test_a_bullet_with_hard_edges_is_a_disc() -> None:
    paper = Paper()
    _disc(paper, 60, 50, [4, 8, 10, 10, 12, 12, 12, 12, 10, 10, 8, 4], "#14b8a6")
    [box] = _small(paper)
    assert box.rect == Rect(60, 50, 12, 12)
    assert box.radius == 6


@pytest.mark.parametrize("radius", [2, 3, 4])
def test_a_small_square_with_round_corners_is_no_disc(radius: int) -> None:
    paper = Paper()
    paper.box(60, 50, 14, 14, "#0369a1", radius)
    [box] = _small(paper)
    assert box.radius == pytest.approx(radius, abs=1)


@pytest.mark.parametrize("radius", [0, 10])
def test_an_outlined_box_on_a_gradient_has_a_border(radius: int) -> None:
    paper = Paper()
    for column in range(640):
        shade = (67 + column // 5, 56, 202 - column // 7)
        paper.pen.line((column, 0, column, 360), shade)
    _ring(paper, 200, 120, 130, 44, radius)
    [box] = _outlined(paper)
    assert box.rect == Rect(200, 120, 130, 44)
    assert box.border is not None
    assert box.border.widths == (1, 1, 1, 1)
    assert box.border.colour == "#ffffff"


def _ring(paper: Paper, x: int, y: int, w: int, h: int, radius: int) -> None:
    paper.pen.rounded_rectangle((x, y, x + w - 1, y + h - 1), radius, outline="#ffffff")
