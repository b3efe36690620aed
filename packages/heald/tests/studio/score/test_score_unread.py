"""What a reader cannot read counts against the page: places that look like text and that no line explains."""

import dataclasses
from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.see.models import available
from heald_pictures.elements import Detection, Family, TextElement, TextLine, TextStyle
from heald_pictures.fonts import installed
from heald_pictures.rect import Rect
from heald_studio.browser.page import TextBlock
from heald_studio.score import text_reader
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import score
from heald_studio.score.text_reader import find_unread, join_runs, read_text
from score_support import WORDS, drawn


def test_a_place_with_a_line_on_it_is_read() -> None:
    assert find_unread([Rect(10, 10, 200, 20)], [Rect(14, 12, 190, 18)]) == []


def test_a_place_without_a_line_is_unread() -> None:
    place = Rect(10, 10, 200, 20)
    assert find_unread([place], [Rect(14, 60, 190, 18)]) == [place]


def test_the_rest_of_a_line_that_was_read_in_part_is_unread() -> None:
    assert find_unread([Rect(10, 10, 200, 20)], [Rect(12, 11, 58, 18)]) == [Rect(70, 10, 140, 20)]


def test_an_icon_and_a_speck_are_not_text() -> None:
    assert find_unread([Rect(10, 10, 24, 22), Rect(50, 50, 40, 5)], []) == []


def test_two_places_of_the_same_text_count_once() -> None:
    whole = Rect(10, 10, 200, 20)
    assert find_unread([whole, Rect(40, 12, 90, 16)], []) == [whole]


def test_the_runs_of_a_sentence_are_one_row_and_the_words_of_a_menu_are_not() -> None:
    def run(text: str, x: float, colour: str = "#111111") -> TextLine:
        rect = Rect(x, 40, 60, 20)
        return TextLine(text, rect, rect, TextStyle("sans", 16.0, 400, False, colour), 55, 0.99)

    first, link, rest = run("Two sheds", 10), run("and a quay", 74.5, "#0645ad"), run("all year", 139)
    assert join_runs([rest, link, first]) == [[first, link, rest]]
    assert len(join_runs([run("Home", 10), run("Boats", 90)])) == 2
    assert len(join_runs([first, dataclasses.replace(link, baseline=75.0)])) == 2


def test_code_in_a_sentence_is_a_run_of_its_row() -> None:
    def run(text: str, x: float, size: float, family: Family = "sans", baseline: float = 55) -> TextLine:
        rect = Rect(x, 40, 60, 20)
        return TextLine(text, rect, rect, TextStyle(family, size, 400, False, "#111111"), baseline, 0.99)

    words, code, rest = run("Call", 10, 16), run("moor()", 80, 14, "mono", 56), run("once", 148, 16)
    assert join_runs([words, code, rest]) == [[words, code, rest]]
    assert len(join_runs([words, dataclasses.replace(code, style=words.style)])) == 2
    assert len(join_runs([words, run("moor()", 110, 14, "mono", 56)])) == 2
    assert len(join_runs([words, run("moor()", 80, 10, "mono", 56)])) == 2


def test_runs_that_touch_have_no_space_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    style = TextStyle("mono", 14.0, 400, False, "#111111")
    places = {"moor(": Rect(10, 40, 42, 20), "'pier'": Rect(52, 40, 50, 20), "or": Rect(108, 40, 17, 20)}
    lines = [TextLine(text, rect, rect, style, 55, 0.99) for text, rect in places.items()]
    texts = tuple(TextElement((line,), line.rect, style, "left", 20) for line in lines)
    detection = Detection(200, 100, 1, False, "#ffffff", (), texts, (), ())
    monkeypatch.setattr(text_reader, "find_detector", lambda: lambda _image: detection)
    assert [block.text for block in read_text(b"")] == ["moor('pier' or"]


def test_an_unread_place_counts_as_missing_text() -> None:
    page = drawn(WORDS)
    assert page.texts is not None
    target = PageImage(page.image, (*page.texts, TextBlock("", 40, 480, 600, 40)))
    result = score(target, page)
    assert (result.unread, result.text, result.position, result.ssim) == (1, 1.0, 1.0, 1.0)
    assert 0.3 < result.block < 0.9
    (reported,) = [difference for difference in result.differences if difference.kind == "unread"]
    assert reported.box == (40, 480, 600, 40)
    assert "could not be read" in reported.sentence


def test_text_of_the_page_explains_an_unread_place() -> None:
    page = drawn(WORDS)
    assert page.texts is not None
    line = next(text for text in page.texts if text.text == WORDS[3].text)
    target = PageImage(page.image, (*page.texts, TextBlock("", line.x, line.y, line.w, line.h)))
    result = score(target, page)
    assert (result.unread, result.block) == (0, 1.0)


@pytest.mark.skipif(not available(), reason="the extra local is not installed here")
def test_a_script_that_nobody_here_reads_is_not_hidden() -> None:
    path = installed().get("NotoSansArmenian-Regular.ttf")
    if path is None:
        pytest.skip("a font with Armenian letters is not installed here")
    page = drawn([word._replace(size=max(word.size, 18)) for word in WORDS])
    with Image.open(BytesIO(page.image)) as opened:
        picture = opened.convert("RGB")
    place = (60, 495)
    ImageDraw.Draw(picture).text(place, "Բարեւ ձեզ, սիրելի ընկերներ", font=ImageFont.truetype(path, 26), fill="#222222")
    out = BytesIO()
    picture.save(out, "PNG")
    assert [text for text in read_text(page.image) if not text.text] == []
    result = score(PageImage(out.getvalue()), page)
    assert result.unread >= 1
    assert result.block < 0.97
