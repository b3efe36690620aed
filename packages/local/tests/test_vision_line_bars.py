"""Upright bars between words: they are text if they look like it."""

import numpy as np
from vision_drawing import Paper, face_of, ink_of

from heald_local.see.line_bars import read_bars
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_pictures.elements import Family, PictureElement
from heald_pictures.rect import Rect
from vision_pages import PNG, text


def _read(colour: str, gap: int = 20, tall: int = 13) -> list[str]:
    """Return the texts of a row of two words with a bar between them."""
    paper = Paper(400, 60)
    words = [text(20, 20, "Licences", 14), text(180, 20, "Terms", 14)]
    left = round(words[0].lines[0].ink.right + gap)
    paper.box(left, 22, 1, tall, colour)
    icon = PictureElement(Rect(left - 1, 21, 4, tall + 2), "icon", "icon-1", PNG)
    reading = read_bars(np.asarray(paper.image), words, [icon])
    assert len(reading.texts) + len(reading.pictures) == 3
    return [element.text for element in reading.texts]


def test_a_bar_in_the_colour_of_the_words_is_text() -> None:
    assert _read("#1f2937") == ["Licences", "Terms", "|"]


def test_a_pale_line_between_words_stays_a_line() -> None:
    assert "|" not in _read("#e5e7eb")


def test_a_line_that_is_far_from_all_words_or_much_taller_is_not_a_bar() -> None:
    assert "|" not in _read("#1f2937", gap=300)
    assert "|" not in _read("#1f2937", tall=32)


def test_a_bar_has_the_style_and_the_baseline_of_the_words_beside_it() -> None:
    paper = Paper(400, 60)
    words = text(20, 20, "Licences", 14, colour="#b91c1c")
    left = round(words.lines[0].ink.right) + 12
    paper.box(left, 22, 2, 12, "#b91c1c")
    icon = PictureElement(Rect(left, 22, 2, 12), "icon", "icon-1", PNG)
    reading = read_bars(np.asarray(paper.image), [words], [icon])
    [line] = reading.texts[1].lines
    assert (line.text, line.style, line.baseline) == ("|", words.style, words.lines[0].baseline)
    assert abs(line.rect.middle[0] - left - 1) < 0.5


def test_bars_between_words_have_a_space_on_both_sides() -> None:
    assert _style("sans", "A | B | C | D", "A|B|C|D") == "A | B | C | D"
    assert _style("serif", "A | B | C | D", "A|B|C|D") == "A | B | C | D"
    assert _style("sans", "Home | About Us | Privacy", "Home |About Us |Privacy") == "Home | About Us | Privacy"


def test_bars_without_space_around_them_get_none() -> None:
    assert _style("sans", "if a||b then", "if a||b then") == "if a||b then"
    assert _style("sans", "x|y|z are sets", "x|y|z are sets") == "x|y|z are sets"


def _style(family: Family, shown: str, read: str) -> str:
    """The text of a line that is read in another way."""
    (line,) = style_lines([(ink_of(face_of(family), shown, 13), OcrResult(read, 0.99, (), ()))]).lines
    return line.text
