"""Sketches become tidy pages: photographed from the side, on a board, or drawn on a screen. Screenshots do not."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.arrange.page import arrange
from heald_local.page import walk_nodes
from heald_local.see import models
from heald_local.see.detect import detect_elements
from heald_local.see.paper import find_sheet
from heald_pictures.elements import Detection
from heald_studio.score.page_image import PictureError
from heald_studio.score.text_reader import read_text
from sketch_drawing import CARDS, Hand, add_light, draw_shop, jpeg, photograph, png

models_needed = pytest.mark.skipif(not models.available(), reason="the models of heald[local] are not installed")
FROM_THE_SIDE = [(210.0, 150.0), (1420.0, 90.0), (1500.0, 1090.0), (130.0, 1040.0)]


def _check_shop(detection: Detection) -> None:
    assert detection.drawn
    assert detection.width == 1280
    assert detection.pictures == ()
    words = {text.text for text in detection.texts}
    assert {"My shop", "Home", "Prices", "Fresh bread daily", "Order now", *CARDS} <= words
    frames = [box.rect for box in detection.boxes if box.border is not None]
    places = [box.rect for box in detection.boxes if box.fill == "#e5e7eb"]
    assert len(frames) == 4  # three cards and a button, without the frame of the page
    assert len(places) == 4
    cards = sorted((rect for rect in frames if rect.h > 200), key=lambda rect: rect.x)
    assert len({(card.y, card.w, card.h) for card in cards}) == 1
    for card in cards:
        inner = [rect for rect in places if card.holds(rect)]
        assert len(inner) == 1
        assert sum(card.holds(text.rect) for text in detection.texts) == 1
    assert [box.rect.w for box in detection.boxes if box.rect.h == 1] == [1280]


@models_needed
def test_a_sheet_that_was_photographed_from_the_side() -> None:
    detection = detect_elements(jpeg(photograph(draw_shop(), FROM_THE_SIDE, (96, 70, 52))))
    _check_shop(detection)
    assert "photographed from the side" in " ".join(detection.notes)


@models_needed
def test_a_board_that_fills_the_photograph() -> None:
    _check_shop(detect_elements(jpeg(add_light(draw_shop(4, (236, 240, 243), (30, 60, 150))))))


@models_needed
def test_a_drawing_without_grain() -> None:
    detection = detect_elements(png(draw_shop(5, (255, 255, 255))))
    _check_shop(detection)
    assert "photographed" not in " ".join(detection.notes)


@models_needed
def test_it_becomes_a_page_with_headings_and_a_button_and_is_not_compared() -> None:
    data = png(draw_shop(5, (255, 255, 255)))
    page = arrange(detect_elements(data))
    nodes = walk_nodes(page.body)
    assert page.assets == ()
    assert any(node.tag == "h1" and "Fresh bread" in " ".join(node.lines) for node in nodes)
    assert not [node for node in nodes if node.tag == "img"]
    with pytest.raises(PictureError, match="sketch"):
        read_text(data)


@models_needed
def test_scribbles_become_bars_and_rings_discs() -> None:
    hand = Hand(7, (255, 255, 255))
    hand.frame(80, 60, 1000, 700)
    hand.disc(140, 120, 110)
    hand.frame(300, 120, 300, 200, crossed=True)
    for row in range(3):
        hand.line((300, 380 + 50 * row), (700 - 60 * row, 382 + 50 * row))
    detection = detect_elements(png(hand.image))
    assert detection.drawn
    discs = [box for box in detection.boxes if box.radius > 20]
    assert len(discs) == 1
    assert discs[0].rect.w == discs[0].rect.h == 2 * discs[0].radius
    bars = [box.rect for box in detection.boxes if box.fill == "#d1d5db"]
    assert len(bars) == 3
    assert len({bar.x for bar in bars}) == 1


@models_needed
@pytest.mark.parametrize("seed", [1, 2])
def test_a_phone_that_is_drawn_without_words(seed: int) -> None:
    hand = Hand(seed, (255, 255, 255))
    hand.frame(60, 50, 400, 800)
    hand.frame(80, 80, 360, 200)
    hand.frame(80, 300, 170, 120)
    hand.frame(270, 300, 170, 120)
    hand.frame(80, 440, 360, 60)
    hand.disc(90, 520, 60)
    hand.line((170, 540), (430, 541))
    detection = detect_elements(png(hand.image.crop((0, 0, 520, 900))))
    assert detection.drawn
    assert detection.width == 390
    assert sum(box.border is not None for box in detection.boxes) == 4


def _printed_page() -> Image.Image:
    """A page with exact lines: a card, a rule and text."""
    image = Image.new("RGB", (1200, 900), "white")
    pen = ImageDraw.Draw(image)
    font, small = ImageFont.load_default(44), ImageFont.load_default(24)
    pen.rectangle((0, 0, 1200, 90), "#0f766e")
    pen.text((60, 20), "Harbour news", "white", font)
    for number in range(3):
        pen.rectangle((60 + 370 * number, 180, 400 + 370 * number, 460), "#f1f5f9", "#94a3b8", 2)
        pen.text((90 + 370 * number, 210), f"Story {number + 1}", "#1f2937", small)
    for row in range(8):
        pen.text((60, 520 + 40 * row), "The ferry leaves the northern pier at nine every morning.", "#1f2937", small)
    return image


@models_needed
def test_the_photograph_of_a_screen_is_straightened_and_read() -> None:
    photo = photograph(_printed_page(), FROM_THE_SIDE, (40, 38, 36))
    detection = detect_elements(jpeg(photo))
    assert not detection.drawn
    words = " ".join(text.text for text in detection.texts)
    assert words.count("The ferry leaves the northern pier") >= 6
    level = [text.rect.x for text in detection.texts if text.text.startswith("The ferry")]
    assert max(level) - min(level) < 12


def test_screenshots_are_no_photographs() -> None:
    assert find_sheet(np.asarray(_printed_page())) is None
    dark = Image.new("RGB", (1280, 800), "#0b1020")
    ImageDraw.Draw(dark).rounded_rectangle((340, 120, 940, 680), 16, "white")
    assert find_sheet(np.asarray(dark)) is None


def test_a_light_card_on_a_photograph_stays_where_it_is() -> None:
    made = np.random.default_rng(8)
    rough = Image.fromarray(made.integers(0, 120, (40, 64, 3), dtype=np.uint8)).resize(
        (1280, 800), Image.Resampling.BICUBIC
    )
    shot = np.asarray(rough).copy()
    shot[120:680, 340:940] = 255
    sheet = find_sheet(shot)
    assert sheet is None or not sheet.turned
