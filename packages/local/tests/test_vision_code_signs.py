"""Signs of code that stand apart from its words and look like icons."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import face_of

from heald_local.see.code_signs import read_code_signs
from heald_local.see.ink import extract_ink
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_pictures.elements import PictureElement, TextElement, TextLine
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels

SIZE, LEFT, TOP, STEP = 16, 20, 30, 22
FINER = 8  # how much larger letters are drawn, so that no hinting shows
WHITE = 255


def _draw(rows: list[str]) -> Pixels:
    fine = Image.new("RGB", (320 * FINER, 160 * FINER), "white")
    drawn = face_of("mono")
    font = ImageFont.truetype(drawn.path, SIZE * FINER)
    for number, row in enumerate(rows):
        for column, letter in enumerate(row):
            across = LEFT + column * drawn.advance("0") * SIZE
            place = across * FINER, (TOP + number * STEP) * FINER
            ImageDraw.Draw(fine).text(place, letter, fill="#253040", font=font, anchor="ls")
    return np.asarray(fine.reduce(FINER))


def _find(pixels: Pixels, row: int, start: int, end: int) -> Rect:
    """The place of the ink of some columns of a row."""
    column = face_of("mono").advance("0") * SIZE
    top, left = TOP + row * STEP - 14, round(LEFT + start * column - 1)
    part = pixels[top : top + 20, left : round(LEFT + end * column + 1)].min(axis=2) < 240
    down, across = np.flatnonzero(np.any(part, axis=1)), np.flatnonzero(np.any(part, axis=0))
    return spanning((left + int(across[0]), top + int(down[0]), left + int(across[-1]) + 1, top + int(down[-1]) + 1))


def _read_rows(rows: list[str], mark: tuple[int, int, int]) -> list[str]:
    """The texts that a mark, a row with its first and last column, is read as; its name if it stays a picture."""
    pixels = _draw(rows)
    page = np.full_like(pixels, WHITE)
    words = [(number, row) for number, row in enumerate(rows) if len(row.strip()) > 2 and number != mark[0]]
    inks = [extract_ink(pixels, page, _find(pixels, number, 0, len(row))) for number, row in words]
    pieces = [(ink, OcrResult(row, 1.0, (), ())) for ink, (_, row) in zip(inks, words, strict=True) if ink is not None]
    lines = style_lines(pieces).lines
    texts = [TextElement((line,), line.rect, line.style, "left", STEP) for line in lines]
    picture = PictureElement(_find(pixels, *mark).grown(2), "icon", "icon-1", b"")
    read, pictures = read_code_signs(pixels, page, texts, [picture])
    known = {line.text for line in lines}
    new = [line.text for text in read for line in text.lines if line.text not in known]
    return [*new, *(picture.name for picture in pictures)]


@pytest.mark.parametrize("sign", ["/", "#", "[", "*", "];", "||"])
def test_a_sign_on_a_line_of_its_own_is_code(sign: str) -> None:
    assert _read_rows(["let a = start", sign, "let b = a + 1"], (1, 0, len(sign))) == [sign]


def test_a_quote_beside_a_space_is_code() -> None:
    assert _read_rows(['let key = (" )', "let first = 1", "let second = 2"], (0, 11, 12)) == ['"']


def test_a_mark_that_no_letter_is_like_stays_a_picture() -> None:
    rows = ["let a = start", "@", "let b = a + 1"]
    pixels_row = ["let a = start", "○", "let b = a + 1"]
    assert _read_rows(rows, (1, 0, 1)) == ["@"]
    assert _read_rows(pixels_row, (1, 0, 1)) == ["icon-1"]


def test_a_lone_letter_in_another_typeface_is_a_part_of_the_code_around_it() -> None:
    pixels = _draw(["let a = start", "X", "let b = a + 1"])
    page = np.full_like(pixels, WHITE)
    inks = [extract_ink(pixels, page, _find(pixels, row, 0, 13 if row != 1 else 1)) for row in range(3)]
    readings = [OcrResult(text, 1.0, (), ()) for text in ("let a = start", "X", "let b = a + 1")]
    pieces = [(ink, reading) for ink, reading in zip(inks, readings, strict=True) if ink is not None]
    lines = [line if len(line.text) > 1 else _in_sans(line) for line in style_lines(pieces).lines]
    texts = [TextElement((line,), line.rect, line.style, "left", STEP) for line in lines]
    read, _ = read_code_signs(pixels, page, texts, [])
    assert [(line.text, line.style.family) for text in read for line in text.lines if len(line.text) == 1] == [
        ("X", "mono")
    ]


def _in_sans(line: TextLine) -> TextLine:
    return replace(line, style=replace(line.style, family="sans"), likeness=0.9)
