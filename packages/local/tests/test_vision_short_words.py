"""Short words in wide letters: lists below each other, and Korean syllables that look like icons."""

from collections.abc import Sequence

import numpy as np
import pytest

from heald_local.see import rereading
from heald_local.see.cut_icons import find_cut_icons, without_marks
from heald_local.see.ink import Ink
from heald_local.see.ocr import OcrResult
from heald_local.see.paragraphs import group_paragraphs
from heald_local.see.parts import FoundPart
from heald_pictures.elements import TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels
from vision_pages import text


def _line(y: float, words: str) -> TextLine:
    return text(92, y, words, 14).lines[0]


def test_short_lines_in_wide_letters_that_are_far_apart_are_a_list() -> None:
    assert len(group_paragraphs([_line(100, "陶瓷杯子"), _line(128.4, "野外手表")])) == 2
    assert len(group_paragraphs([_line(100, "陶瓷杯子"), _line(124, "野外手表")])) == 1


def test_what_is_as_wide_as_a_word_is_not_cut_off_a_line() -> None:
    line = Rect(240, 26, 32, 24)
    paper = np.full((80, 300, 3), 255, np.uint8)
    assert without_marks(paper, [line], [FoundPart("icon", Rect(243, 29, 27, 17), 0.7)]) == [line]
    assert without_marks(paper, [line], [FoundPart("icon", Rect(243, 29, 18, 17), 0.7)]) != [line]


def test_what_stands_on_the_baseline_of_a_line_in_its_colour_is_a_letter_and_not_cut_off() -> None:
    line, mark = Rect(100, 20, 150, 20), FoundPart("icon", Rect(102, 24, 10, 12), 0.9)
    page = np.full((60, 300, 3), 255, np.uint8)
    page[24:36, 103:111] = 51  # as high as the words behind it
    page[24:38, 116:240:3] = 51
    assert without_marks(page, [line], [mark]) == [line]
    taller, red = page.copy(), page.copy()
    taller[21:38, 103:111] = 51
    red[24:36, 103:111] = (200, 30, 30)
    for other in (taller, red):
        assert without_marks(other, [line], [mark]) == [Rect(113, 20, 137, 20)]


@pytest.mark.parametrize(("letters", "sure", "is_read"), [("44", 0.99, True), ("RI", 0.9, False), ("Q", 0.99, False)])
def test_numbers_that_look_like_icons_are_read(
    monkeypatch: pytest.MonkeyPatch, letters: str, sure: float, is_read: bool
) -> None:
    def read(crops: Sequence[Pixels]) -> list[OcrResult]:
        return [OcrResult(letters, sure, (sure,) * len(letters), ()) for _ in crops]

    monkeypatch.setattr(rereading, "read_page_lines", read)
    place, covered = Rect(10, 10, 16, 12), Rect(100, 10, 16, 12)
    pieces = [(_ink(covered), OcrResult("word", 0.99, (), ()))]
    crop = np.zeros((12, 16, 3), np.uint8)
    pieces = rereading.read_short_words(pieces, [place, covered], lambda rects: list(map(_ink, rects)), lambda _: crop)
    assert [reading.text for _, reading in pieces] == ["word", *[letters] * is_read]


def _ink(rect: Rect) -> Ink:
    white, black = np.full(3, 255.0), np.zeros(3)
    return Ink(rect, np.ones((int(rect.h), int(rect.w)), np.float32), white, black, False)


@pytest.mark.parametrize(("letter", "is_kept"), [("홈", True), ("喜", False), ("Q", False)])
def test_a_syllable_at_the_end_of_a_menu_is_read(monkeypatch: pytest.MonkeyPatch, letter: str, is_kept: bool) -> None:
    def read(crops: Sequence[Pixels]) -> list[OcrResult]:
        return [*[OcrResult("상품", 0.99, (), ())] * (len(crops) - 1), OcrResult(letter, 0.98, (), ())]

    monkeypatch.setattr(rereading, "read_page_lines", read)
    word, rest = Rect(143, 30, 27, 15), Rect(115, 31, 5, 13)
    pieces = [(_ink(rest), OcrResult("喜", 0.9, (), ())), (_ink(word), OcrResult("상품", 0.99, (), ()))]
    places = find_cut_icons([Rect(98, 24, 174, 25)], [FoundPart("icon", Rect(108, 31, 12, 15), 0.89)])
    read_pieces = rereading.read_lone_syllables(
        pieces, places, lambda rects: [_ink(rect) for rect in rects], lambda _rect: np.zeros((8, 8, 3), np.uint8)
    )
    assert [reading.text for _, reading in read_pieces] == (["상품", "홈"] if is_kept else ["喜", "상품"])
