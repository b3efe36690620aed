"""Letters and symbols that look like icons, beside words in the same style."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import face_of

from heald_local.see.initials import read_initials
from heald_local.see.ink import extract_ink
from heald_local.see.lone_digits import read_lone_digits
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_local.see.symbols import read_symbols
from heald_pictures.elements import PictureElement, TextElement
from heald_pictures.fonts import Face, face
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Pixels
from vision_pages import box, text

SIZE, BASELINE, LEFT = 16, 60, 20
FINER = 8  # how much larger letters are drawn, so that no hinting shows


def _drawn(letter: str, drawn_by: Face, size: int = SIZE, colour: str = "#253040") -> tuple[Pixels, PictureElement]:
    """A page with one character, and the picture that was cut out of it."""
    fine = Image.new("RGB", (300 * FINER, 100 * FINER), "white")
    font = ImageFont.truetype(drawn_by.path, size * FINER)
    ImageDraw.Draw(fine).text((LEFT * FINER, BASELINE * FINER), letter, fill=colour, font=font, anchor="ls")
    pixels = np.asarray(fine.reduce(FINER))
    rows, columns = (np.flatnonzero((pixels < 240).any(axis=(2, axis))) for axis in (1, 0))
    place = spanning((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)).grown(2)
    return pixels, PictureElement(place, "icon", "icon-1", b"")


def _words(left: float, colour: str = "#253040") -> TextElement:
    words = text(left, 0, "of the first quality", SIZE, colour=colour)
    down = BASELINE - words.lines[0].baseline
    return text(left, down, "of the first quality", SIZE, colour=colour)


def _read(
    letter: str, drawn_by: Face, size: int = SIZE, colour: str = "#253040", gap: float | None = None
) -> list[str]:
    """The texts of a page with a character before some words; the last is the name of the picture that is left."""
    pixels, picture = _drawn(letter, drawn_by, size, colour)
    space = face("sans").advance(" ") * SIZE if gap is None else gap
    words = _words(LEFT + drawn_by.advance(letter) * size + space)
    texts, pictures = read_symbols(pixels, np.full_like(pixels, 255), [words], [picture])
    return [*(element.text for element in texts), *(element.name for element in pictures)]


@pytest.mark.parametrize("letter", ["Q", "©", "+", "=", "&", "¶"])
def test_a_letter_in_the_style_of_the_words_behind_it_is_part_of_their_line(letter: str) -> None:
    assert _read(letter, face_of("sans")) == [f"{letter} of the first quality"]


def test_a_sign_that_was_not_read_as_text_is_compared_with_characters_too() -> None:
    pixels, picture = _drawn("=", face_of("sans"))
    unread = replace(picture, kind="unread")
    words = _words(LEFT + face_of("sans").advance("=") * SIZE + face("sans").advance(" ") * SIZE)
    texts, pictures = read_symbols(pixels, np.full_like(pixels, 255), [words], [unread])
    assert [element.text for element in texts] == ["= of the first quality"]
    assert not pictures


@pytest.mark.parametrize("number", ["2.", "4.", "9.", "12."])
def test_the_number_of_an_item_is_part_of_its_line(number: str) -> None:
    assert _read(number, face_of("sans")) == [f"{number} of the first quality"]
    assert _read(number, face_of("sans"), SIZE + 4)[-1] == "icon-1"


@pytest.mark.parametrize("letter", ["★", "▶", "✔"])
def test_a_symbol_that_the_typeface_lacks_is_the_one_that_a_browser_takes(letter: str) -> None:
    assert _read(letter, face_of("wide")) == [f"{letter} of the first quality"]


def test_a_symbol_of_another_colour_or_farther_away_is_a_text_of_its_own() -> None:
    assert sorted(_read("★", face_of("wide"), colour="#d97706")) == ["of the first quality", "★"]
    assert sorted(_read("★", face_of("wide"), gap=20)) == ["of the first quality", "★"]


def test_what_has_another_size_or_stands_far_from_all_words_is_a_picture() -> None:
    assert _read("★", face_of("wide"), size=SIZE + 6) == ["of the first quality", "icon-1"]
    assert _read("★", face_of("wide"), gap=100) == ["of the first quality", "icon-1"]


def test_a_drawing_that_is_no_character_is_a_picture() -> None:
    pixels = np.full((100, 300, 3), 255, np.uint8)
    pixels[48:60, 20:32] = (37, 48, 64)
    pixels[51:57, 23:29] = 255
    picture = PictureElement(Rect(18, 46, 16, 16), "icon", "icon-1", b"")
    words = _words(38)
    assert read_symbols(pixels, np.full_like(pixels, 255), [words], [picture]) == ([words], [picture])


def test_a_tick_in_a_box_of_its_own_is_a_picture() -> None:
    pixels, picture = _drawn("✔", face_of("wide"))
    page = np.full_like(pixels, 255)
    words = _words(LEFT + face_of("wide").advance("✔") * SIZE + 6)
    assert not read_symbols(pixels, page, [words], [picture])[1]
    page[:, : LEFT + 16] = (219, 234, 254)
    assert read_symbols(pixels, page, [words], [picture]) == ([words], [picture])


def test_the_width_of_a_text_has_the_symbols_that_another_font_draws() -> None:
    sans, wide = face_of("sans"), face_of("wide")
    assert sans.missing("★")
    assert sans.advance("★ star") == pytest.approx(wide.advance("★") + sans.advance(" star"))


@pytest.mark.parametrize("sign", [">", "–"])
def test_a_sign_that_icons_have_too_is_one_only_between_words(sign: str) -> None:
    drawn_by = face_of("sans")
    pixels, picture = _drawn(sign, drawn_by)
    white, space = np.full_like(pixels, 255), face("sans").advance(" ") * SIZE
    behind = _words(LEFT + drawn_by.advance(sign) * SIZE + space)
    before = text(0, BASELINE - text(0, 0, "A", SIZE).lines[0].baseline, "A", SIZE)
    assert [element.text for element in read_symbols(pixels, white, [behind], [picture])[0]] == [behind.text]
    texts, pictures = read_symbols(pixels, white, [before, behind], [picture])
    assert sign in " ".join(element.text for element in texts)
    assert not pictures


@pytest.mark.parametrize(("first", "expected"), [("or the latest news", ["D", "or the latest news"]), ("For", ["For"])])
def test_a_large_letter_before_words_that_continue_it_is_text(first: str, expected: list[str]) -> None:
    pixels, picture = _drawn("D", face_of("serif"), 40)
    words = text(picture.rect.right + 6, picture.rect.y, first, SIZE)
    texts, pictures = read_initials(pixels, np.full_like(pixels, 255), [words], [picture])
    assert sorted(element.text for element in texts) == expected
    assert len(pictures) == 2 - len(expected)


@pytest.mark.parametrize(("letters", "expected"), [("});", ["});"]), ("(|", [])])
def test_a_line_of_brackets_is_text_if_it_looks_like_them(letters: str, expected: list[str]) -> None:
    pixels, picture = _drawn("});", face_of("mono"))
    ink = extract_ink(pixels, np.full_like(pixels, 255), picture.rect)
    assert ink is not None
    lines = style_lines([(ink, OcrResult(letters, 0.8, (), ()))]).lines
    assert [line.text for line in lines] == expected


@pytest.mark.parametrize(("letter", "expected"), [("1", ["1"]), ("+", [])])
def test_a_digit_alone_in_a_small_frame_is_text(letter: str, expected: list[str]) -> None:
    pixels, picture = _drawn(letter, face_of("sans"))
    frame = box(LEFT - 14, BASELINE - 30, 40, 44, "#ffffff", border=True)
    texts, pictures = read_lone_digits(pixels, np.full_like(pixels, 255), [frame], [], [picture])
    assert [element.text for element in texts] == expected
    assert len(pictures) == 1 - len(expected)
    assert not read_lone_digits(pixels, np.full_like(pixels, 255), [], [], [picture])[0]


@pytest.mark.parametrize(
    ("gap", "expected"), [(None, ["— of the first quality"]), (20.0, ["of the first quality", "icon-1"])]
)
def test_a_dash_a_space_before_a_name_is_text(gap: float | None, expected: list[str]) -> None:
    assert _read("—", face_of("sans"), gap=gap) == expected
