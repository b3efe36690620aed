"""Rows of code whose words have several colours."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import face_of

from heald_local.see.code_rows import read_code_rows
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_pictures.elements import Box, PictureElement, TextElement, TextLine
from heald_pictures.fonts import face
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels

SIZE, LEFT, TOP, STEP = 14, 20, 40, 18
FINER = 8  # how much larger letters are drawn, so that no hinting shows
DARK, BLUE, GREEN = "#253040", "#1a56db", "#2f7d32"
GROUND = "#f4f4f5"
BLOCK = Box(Rect(10, 20, 380, 90), GROUND)
ROWS = ["let total = add(4, 'tax');", "  total += half(total, 12);", "return total.shown('eur');"]


class Piece(NamedTuple):
    """A part of a row that was read apart from the rest."""

    row: int
    start: int
    text: str


def _colour(row: int, column: int) -> str:
    quote, number = ROWS[row].find("'"), ROWS[row].find("12")
    if quote >= 0 and quote <= column <= ROWS[row].rfind("'"):
        return GREEN
    return BLUE if number >= 0 and number <= column < number + 2 else DARK


def _draw(shift: int = 0) -> Pixels:
    fine = Image.new("RGB", (400 * FINER, 120 * FINER), GROUND)
    drawn = face_of("mono")
    font = ImageFont.truetype(drawn.path, SIZE * FINER)
    for number, row in enumerate(ROWS):
        for column, letter in enumerate(row):
            across = LEFT + column * drawn.advance("0") * SIZE + (shift if column % 2 else 0)
            place = across * FINER, (TOP + number * STEP) * FINER
            ImageDraw.Draw(fine).text(place, letter, fill=_colour(number, column), font=font, anchor="ls")
    return np.asarray(fine.reduce(FINER))


def _lines(pixels: Pixels, page: Pixels, pieces: list[Piece]) -> list[TextLine]:
    column = face_of("mono").advance("0") * SIZE
    readable: list[tuple[Ink, OcrResult]] = []
    for row, start, text in pieces:
        top, left = TOP + row * STEP - 12, LEFT + start * column
        ink = extract_ink(pixels, page, spanning((round(left), top, round(left + len(text) * column), top + 17)))
        assert ink is not None
        readable.append((ink, OcrResult(text, 1.0, (), ())))
    return style_lines(readable).lines


class Seen(NamedTuple):
    """The pieces of each row that has some, and the names of what stays a picture."""

    rows: dict[int, list[TextLine]]
    pictures: list[str]


def _read(
    pieces: list[Piece],
    pictures: list[PictureElement] | None = None,
    pixels: Pixels | None = None,
    underlined: str = "",
) -> Seen:
    """Read the rows where some pieces were read."""
    pixels = _draw() if pixels is None else pixels
    page = _empty(pixels)
    lines = _lines(pixels, page, pieces)
    texts = [_text(replace(line, style=replace(line.style, underline=line.text == underlined))) for line in lines]
    read, others = read_code_rows(pixels, page, [BLOCK], texts, pictures or [])
    rows: dict[int, list[TextLine]] = {}
    for line in (line for text in read for line in text.lines):
        rows.setdefault(round((line.baseline - TOP) / STEP), []).append(line)
    for row in rows.values():
        row.sort(key=lambda line: line.rect.x)
    return Seen(rows, [picture.name for picture in others])


def _empty(pixels: Pixels) -> Pixels:
    return np.full_like(pixels, np.asarray(Image.new("RGB", (1, 1), GROUND))[0, 0])


def _text(line: TextLine) -> TextElement:
    return TextElement((line,), line.rect, line.style, "left", STEP)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


READ = [Piece(0, 0, "let total = add("), Piece(1, 2, "total += half(total,"), Piece(2, 0, "return total.shown(")]
EUR = Piece(2, 20, "eur")
COLUMN = face("mono").advance("0") * SIZE


def test_words_in_colours_are_read_with_the_signs_between_them() -> None:
    rows = _read([*READ, EUR]).rows
    assert [line.text for line in rows[0]] == ["let total = add(4,", "'tax'", ");"]
    assert [line.text for line in rows[1]] == ["total += half(total,", "12", ");"]
    assert [line.text for line in rows[2]] == ["return total.shown(", "'eur'", ");"]
    assert [round((line.rect.x - LEFT) / COLUMN, 1) for line in rows[0]] == [0, 19, 24]
    assert {line.style.size for line in rows[1]} == {SIZE}


def test_each_piece_has_its_colour() -> None:
    for number, row in _read([*READ, EUR]).rows.items():
        for line in row:
            colour = _colour(number, round((line.rect.x - LEFT) / COLUMN))
            channels = zip(_channels(line.style.colour), _channels(colour), strict=True)
            assert max(abs(channel - other) for channel, other in channels) <= 24, line


def test_an_underlined_piece_stays_underlined() -> None:
    rows = _read([*READ, EUR], underlined="eur").rows
    assert [line.style.underline for line in rows[2]] == [False, True, False]


def test_a_letter_that_was_misread_is_corrected() -> None:
    rows = _read([Piece(0, 0, "let totaI = add("), *READ[1:], EUR]).rows
    assert rows[0][0].text == "let total = add(4,"


def test_what_was_cut_out_of_a_row_is_no_picture_then() -> None:
    inside = PictureElement(Rect(LEFT + 19 * COLUMN, TOP - 12, 5 * COLUMN, 14), "unread", "on-row", b"")
    beside = PictureElement(Rect(300, TOP + 2 * STEP, 60, 30), "photo", "beside", b"")
    assert _read(READ, [inside, beside]).pictures == ["beside"]


def test_rows_without_doubt_are_left_alone() -> None:
    rows = _read([Piece(1, 2, "total += half(total,")]).rows
    assert {number: [line.text for line in row] for number, row in rows.items()} == {1: ["total += half(total,"]}


def test_letters_that_stand_in_no_columns_are_left_alone() -> None:
    rows = _read([*READ, EUR], pixels=_draw(shift=3)).rows
    assert [line.text for line in rows[2]][-1] == "eur"


def test_a_column_with_two_colours_is_no_letter() -> None:
    pixels = _draw().copy()
    left, middle = round(LEFT + 10 * COLUMN), TOP + 2 * STEP - 4
    pixels[middle - 6 : middle, left : left + 8] = (255, 0, 0)
    pixels[middle : middle + 6, left : left + 8] = (0, 0, 255)
    rows = _read([*READ[:2], Piece(2, 11, "total.shown("), EUR], pixels=pixels).rows
    assert [line.text for line in rows[2]] == ["total.shown(", "eur"]
    assert [line.text for line in rows[0]] == ["let total = add(4,", "'tax'", ");"]


def test_a_box_with_words_around_a_little_code_is_no_block() -> None:
    pixels = _draw()
    page = _empty(pixels)
    code = _lines(pixels, page, [READ[0], EUR])
    place = Rect(20, 88, 300, 12)
    prose = TextLine("a long sentence about it " * 4, place, place, replace(code[0].style, family="sans"), 98, 1.0)
    texts = [_text(line) for line in (*code, prose)]
    assert read_code_rows(pixels, page, [BLOCK], texts, [])[0] == texts
