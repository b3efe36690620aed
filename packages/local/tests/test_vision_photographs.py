"""Photographs by their grain: found whole, told from gradients, and not damaged by the text on them."""

import numpy as np
from PIL import Image
from vision_drawing import Paper

from heald_local.see.ink import Ink
from heald_local.see.inpainting import inpaint_text
from heald_local.see.panels import find_panels
from heald_local.see.photographs import find_grain, is_painted
from heald_local.see.pictures import encode_png, mean_colour
from heald_pictures.elements import Box, PictureElement, TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

DARK = "#0b1020"


def _skyline(width: int, height: int) -> Image.Image:
    """Dark towers in front of a dark sky, each nearly of one colour, with the faint grain of a photograph."""
    rng = np.random.default_rng(5)
    picture = np.empty((height, width, 3))
    picture[:] = (35, 24, 44)
    for left in range(40, width - 160, 200):
        picture[height // 3 :, left : left + 120] = (21, 20, 41) if left % 400 else (12, 17, 33)
    return Image.fromarray((picture + rng.normal(0, 1.6, picture.shape)).clip(0, 255).astype(np.uint8))


def _page() -> Paper:
    paper = Paper(900, 500, DARK)
    paper.image.paste(_skyline(900, 300), (0, 60))
    return paper


def test_a_dark_photograph_on_a_dark_page_is_found_whole() -> None:
    assert find_grain(np.asarray(_page().image)) == [Rect(0, 60, 900, 300)]


def test_photographs_beside_each_other_are_found_one_by_one() -> None:
    paper = Paper(900, 500)
    for left in (30, 330, 630):
        paper.image.paste(_skyline(240, 200), (left, 100))
    rects = sorted(find_grain(np.asarray(paper.image)), key=lambda rect: rect.x)
    assert [(rect.x, rect.w) for rect in rects] == [(30, 240), (330, 240), (630, 240)]


def test_a_dithered_gradient_is_no_photograph() -> None:
    across = np.linspace(30, 150, 900)[None, :, None] + np.zeros((300, 900, 3))
    dither = np.random.default_rng(3).random((300, 900, 3))
    pixels: Pixels = (across + dither).astype(np.uint8)
    assert find_grain(pixels) == []


def test_a_label_on_a_photograph_is_painted_and_a_tower_is_not() -> None:
    paper = _page()
    paper.image.paste(Image.new("RGB", (72, 24), "#818cf8"), (100, 90))
    pixels = np.asarray(paper.image)
    assert is_painted(pixels, Box(Rect(100, 90, 72, 24), "#818cf8"))
    assert not is_painted(pixels, Box(Rect(40, 160, 120, 200), "#0c1121"))


def test_a_small_label_with_text_on_a_photograph_is_a_panel() -> None:
    paper = _page()
    paper.image.paste(Image.new("RGB", (72, 24), "#818cf8"), (100, 90))
    paper.image.paste(Image.new("RGB", (40, 8), DARK), (116, 98))
    pixels = np.asarray(paper.image)
    page = np.empty_like(pixels)
    page[:] = (11, 16, 32)
    label = Box(Rect(100, 90, 72, 24), "#818cf8", 4)
    words = Ink(Rect(116, 98, 40, 8), np.ones((8, 40), np.float32), np.zeros(3), np.zeros(3))
    assert find_panels(pixels, page, Rect(0, 60, 900, 300), [label], [words]) == [label]


def test_large_letters_are_filled_from_around_them_and_not_with_black() -> None:
    pixels = np.full((80, 200, 3), 230, np.uint8)
    pixels[20:60, 40:160] = 20  # a stroke that is wider than what is looked at around it
    rect = Rect(40, 20, 120, 40)
    ink = Ink(rect, np.ones((40, 120), np.float32), np.full(3, 230.0), np.full(3, 20.0))
    line = TextLine("I", rect, rect, TextStyle("sans", 40, 700, False, "#141414"), 60, 0.99)
    assert int(inpaint_text(pixels, [line], [ink], 1).min()) >= 225


def test_a_photograph_behind_text_has_its_mean_colour_until_it_is_loaded() -> None:
    data = encode_png(Image.new("RGB", (4, 4), "#231b2e"))
    assert mean_colour(PictureElement(Rect(0, 0, 4, 4), "ground", "photo-1", data)) == "#231b2e"
