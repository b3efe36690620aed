"""Marks beside a text are parted from it, and lines of two greys are two texts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vision_drawing import Paper

from heald_local.see.ink import Ink, extract_ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.line_marks import split_marks
from heald_local.see.ocr import OcrResult
from heald_local.see.pictures import faint_edges
from heald_local.see.styled_lines import style_lines
from heald_pictures.elements import Border, Box
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

fonts_needed = pytest.mark.skipif(not any(face.path for face in faces()), reason="no known font is installed")


def _white(pixels: Pixels) -> Pixels:
    return np.full_like(pixels, 255)


def _line(paper: Paper, rect: Rect) -> Ink:
    pixels = np.asarray(paper.image)
    ink = extract_ink(pixels, _white(pixels), rect)
    assert ink is not None
    return ink


def _reading(ink: Ink, text: str, at: list[float]) -> OcrResult:
    """A reading whose letters stand at these places of the picture."""
    margin = max(2, round(ink.rect.h * 0.18))
    places = tuple((x - ink.rect.x + margin) / (ink.rect.w + 2 * margin) for x in at)
    return OcrResult(text, 0.99, tuple(0.99 for _ in text), places)


def _spread(text: str, start: float, end: float) -> list[float]:
    return [start + (number + 0.5) * (end - start) / len(text) for number in range(len(text))]


def _ticked() -> Paper:
    paper = Paper(300, 60)
    paper.box(20, 20, 14, 14, "#ffffff", 2, outline="#767676")
    paper.text(44, 32, "Wood and glass", 14)
    return paper


@pytest.mark.parametrize("is_detected", [True, False])
def test_a_tick_box_before_a_text_is_no_part_of_it(is_detected: bool) -> None:
    paper = _ticked()
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 16, 160, 22))
    reading = _reading(ink, "Wood and glass", _spread("Wood and glass", 44, ink.rect.right))
    box = Box(Rect(20, 20, 14, 14), "#ffffff", 2, Border((1, 1, 1, 1), "#767676"))
    around = Box(Rect(0, 0, 300, 60), "#ffffff")
    split = split_marks(pixels, _white(pixels), [(ink, reading)], [around, box] if is_detected else [around])
    text, reading_of_text = split[0]
    assert reading_of_text.text == "Wood and glass"
    assert text.rect.x >= 43
    assert text.rect.right == ink.rect.right
    assert [mark.rect for mark, _ in split[1:]] == ([] if is_detected else [Rect(20, 20, 14, 14)])


def test_an_underlined_text_behind_the_dot_of_a_list_is_underlined() -> None:
    paper = Paper(300, 60)
    paper.pen.ellipse((20, 23, 25, 28), fill="#1f2937")
    paper.text(40, 32, "Wood and glass", 14)
    end = _line(paper, Rect(36, 14, 200, 22)).rect.right
    paper.pen.rectangle((40, 34, int(end), 34), fill="#1f2937")
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 14, 200, 24))
    assert ink.underlined
    reading = _reading(ink, "• Wood and glass", [22, 32, *_spread("Wood and glass", 40, ink.rect.right)])
    (text, said), *_ = split_marks(pixels, _white(pixels), [(ink, reading)])
    assert said.text == "Wood and glass"
    assert text.underlined


def test_a_sign_that_was_read_is_a_mark_too() -> None:
    paper = Paper(300, 60)
    paper.pen.polygon([(20, 30), (27, 18), (34, 30)], fill="#4b5563")
    paper.text(44, 32, "Ana Lindt", 14)
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 14, 160, 22))
    reading = _reading(ink, "★ Ana Lindt", [27, 38, *_spread("Ana Lindt", 44, ink.rect.right)])
    (text, said), (mark, nothing) = split_marks(pixels, _white(pixels), [(ink, reading)])
    assert (said.text, nothing.text) == ("Ana Lindt", "")
    assert len(said.places) == len(said.text)
    assert mark.rect.right <= 36 < text.rect.x


def test_signs_alone_are_cut_apart() -> None:
    paper = Paper(300, 60)
    paper.box(20, 20, 14, 14, "#767676")
    paper.box(44, 20, 14, 14, "#767676", 7)
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 16, 60, 22))
    split = split_marks(pixels, _white(pixels), [(ink, _reading(ink, "□★", [27, 51]))])
    assert [mark.rect.x for mark, _ in split] == [20, 44]


@fonts_needed
def test_a_whole_text_stays_whole() -> None:
    paper = Paper(300, 60)
    paper.text(20, 32, "I am what I am", 16)
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 14, 200, 24))
    piece = (ink, _reading(ink, "I am what I am", _spread("I am what I am", ink.rect.x, ink.rect.right)))
    assert split_marks(pixels, _white(pixels), [piece]) == [piece]


@fonts_needed
@pytest.mark.parametrize(("sure", "text", "at"), [(0.6, "words in a script that nobody", 44), (0.99, "12", 190)])
def test_an_unsure_reading_or_one_of_a_few_letters_parts_nothing(sure: float, text: str, at: float) -> None:
    paper = Paper(300, 60)
    paper.text(20, 32, "x", 16)
    paper.text(44, 32, "words in a script that nobody", 14)
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 14, 280, 24))
    piece = (ink, replace(_reading(ink, text, _spread(text, at, ink.rect.right)), sure=sure))
    assert split_marks(pixels, _white(pixels), [piece]) == [piece]


@given(st.text("ab ★☆.", max_size=8), st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_any_reading_keeps_its_letters(text: str, places: list[float]) -> None:
    paper = _ticked()
    pixels = np.asarray(paper.image)
    ink = _line(paper, Rect(16, 16, 160, 22))
    reading = OcrResult(text, 0.9, tuple(0.9 for _ in text), tuple(sorted(places)[: len(text)]))
    split = split_marks(pixels, _white(pixels), [(ink, reading)])
    assert split
    texts = [said.text for _, said in split if said.text]
    letters = [letter for letter in text if letter.isalnum()]
    assert [letter for said in texts for letter in said if letter.isalnum()] == letters
    assert all(ink.rect.holds(part.rect) for part, _ in split)


@fonts_needed
@pytest.mark.parametrize(("first", "second", "parts"), [("#202124", "#5f6368", 2), ("#202124", "#202124", 1)])
def test_a_title_and_what_it_is_about_are_two_texts(first: str, second: str, parts: int) -> None:
    paper = Paper(640, 60)
    paper.text(20, 32, "Photos from the walk", 14, first, bold=True)
    paper.text(172, 32, "shared with you and others", 14, second)
    pixels = np.asarray(paper.image)
    assert len(find_ink(pixels, _white(pixels), [Rect(18, 18, 330, 20)])) == parts


@fonts_needed
def test_a_dash_is_the_one_that_was_drawn() -> None:
    paper = Paper(640, 60)
    paper.text(20, 32, "– It should be with you on Thursday", 14, "#5f6368")
    ink = _line(paper, Rect(16, 16, 300, 24))
    styled = style_lines([(ink, OcrResult("一 It should be with you on Thursday", 0.95, (), ()))])
    assert [line.text for line in styled.lines] == ["– It should be with you on Thursday"]


def test_a_mark_is_whole_where_its_strokes_are_faint() -> None:
    paper = Paper(80, 80)
    paper.pen.ellipse((20, 20, 40, 40), outline="#f4f4f5")
    paper.pen.arc((20, 20, 40, 40), 90, 180, fill="#9ca3af")
    pixels = np.asarray(paper.image)
    page = _white(pixels)
    assert faint_edges(pixels, page, Rect(20, 30, 11, 11)) == Rect(20, 20, 21, 21)
    assert faint_edges(pixels, page, Rect(20, 30, 11, 11), [Box(Rect(20, 20, 21, 21), "#ffffff")]) == Rect(
        20, 30, 11, 11
    )
    paper.pen.line((0, 25, 79, 25), fill="#f4f4f5")
    pixels = np.asarray(paper.image)
    assert faint_edges(pixels, page, Rect(20, 30, 11, 11)) == Rect(20, 30, 11, 11)
