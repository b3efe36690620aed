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
    assert without_marks([line], [FoundPart("icon", Rect(243, 29, 27, 17), 0.7)]) == [line]
    assert without_marks([line], [FoundPart("icon", Rect(243, 29, 18, 17), 0.7)]) != [line]


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
