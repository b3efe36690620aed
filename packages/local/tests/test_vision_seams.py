"""The smooth edges of round corners are no pictures, and do not join what lies beside them."""

import numpy as np
from vision_drawing import Paper

from heald_local.see.icon_boxes import is_icon_outline
from heald_local.see.painted_page import find_differences, paint_page
from heald_local.see.patches import find_patches
from heald_local.see.screenshot import load_screenshot
from heald_local.see.seams import mark_corners
from heald_pictures.elements import Box
from heald_pictures.rect import Rect

TILE = Box(Rect(60, 50, 40, 40), "#fef3c7", 10)


def test_an_icon_near_a_round_corner_is_cut_out_alone() -> None:
    paper = Paper(160, 140)
    paper.box(60, 50, 40, 40, "#fef3c7", 10)
    paper.box(74, 64, 22, 22, "#d97706", 4)
    pixels = load_screenshot(paper.png()).pixels
    page = paint_page(160, 140, "#ffffff", [TILE])
    differs = find_differences(pixels, page)
    joined = [patch.rect for patch in find_patches(differs)]
    assert Rect(74, 64, 22, 22) not in joined  # the corner is joined to it
    differs &= ~mark_corners(pixels, page, [TILE])
    assert [patch.rect for patch in find_patches(differs)] == [Rect(74, 64, 22, 22)]


def test_what_is_drawn_over_a_corner_stays() -> None:
    pixels = paint_page(160, 140, "#ffffff", [TILE])
    page = pixels.copy()
    pixels[48:58, 92:102] = (220, 38, 38)
    marked = mark_corners(pixels, page, [TILE])
    assert not marked[48:58, 92:102].any()


def test_corners_at_the_edge_of_the_page_are_left_alone() -> None:
    pixels = np.full((40, 40, 3), 255, np.uint8)
    assert not mark_corners(pixels, pixels, [Box(Rect(0, 0, 40, 40), "#fef3c7", 30)]).any()


def test_a_box_filled_by_what_is_no_text_is_the_outline_of_an_icon() -> None:
    envelope = Box(Rect(492, 990, 24, 20), "#b45309", 1)
    inner = Rect(493, 991, 22, 18)
    assert is_icon_outline(envelope, [inner], [])
    assert not is_icon_outline(envelope, [inner], [inner])  # a badge with its number
    assert not is_icon_outline(envelope, [Rect(500, 996, 8, 8)], [])  # a tile with a small icon
    assert not is_icon_outline(Box(Rect(490, 980, 60, 40), "#b45309"), [Rect(492, 982, 56, 36)], [])
