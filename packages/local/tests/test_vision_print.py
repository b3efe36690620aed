"""Print and writing by hand: a page of type is never taken for a sketch."""

import random

import numpy as np
from PIL import Image, ImageDraw
from vision_drawing import Paper

from heald_local.see.paper import clean_sheet
from heald_local.see.print_lines import is_print
from heald_pictures.fonts import face
from heald_pictures.regions import Mask

WORDS = "The quay has two sheds and a slip for boats of up to nine metres"


def _page(lean: float) -> Mask:
    """Draw six lines of letters; each letter is off its line by up to `lean` pixels."""
    image = Image.new("L", (900, 300), 255)
    letters = random.Random(5)
    for row in range(6):
        x = 20.0
        for letter in WORDS:
            drawn = face("serif").draw(letter, 18) if letter != " " else None
            if drawn is not None:
                part = Image.fromarray((drawn * 255).astype(np.uint8))
                ascent = round(-face("serif").ink(letter)[1] * 18)
                down = round(40 + 40 * row - ascent + letters.uniform(-lean, lean))
                image.paste(0, (round(x), down), part)
            x += face("serif").advance(letter) * 18 + 1.5
    return np.asarray(image) < 128


def test_letters_on_straight_lines_are_print() -> None:
    assert is_print(_page(0.0))


def test_letters_that_stray_from_their_lines_are_writing() -> None:
    assert not is_print(_page(5.0))


def test_frames_with_a_few_words_are_a_sketch() -> None:
    image = Image.new("L", (600, 400), 255)
    pen = ImageDraw.Draw(image)
    for row in range(3):
        pen.rectangle((40, 40 + 110 * row, 560, 120 + 110 * row), outline=0, width=3)
    assert not is_print(np.asarray(image) < 128)


def test_thin_letters_of_a_table_without_lines_are_print() -> None:
    fine = Paper(2240, 1120)
    for row in range(8):
        for column, words in enumerate(("Wednesday", "10:00 – 16:00", "up to 15 m", "Captain")):
            fine.text(120 + 600 * column, 120 + 120 * row, words, 48, "#333333")
    pixels = np.asarray(fine.image.reduce(4))
    sheet = clean_sheet(pixels)
    assert sheet is not None
    assert sheet.strokes is not None
    assert sheet.marks is not None
    assert not is_print(sheet.strokes)  # smoothing takes the letters apart
    assert is_print(sheet.marks)
