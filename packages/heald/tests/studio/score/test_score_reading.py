"""Reading a bare picture: the lines of a drawn page, also of a tall one, which is read in strips."""

import pytest

from heald_local.see.models import available
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import score
from heald_studio.score.text_reader import read_text
from score_support import WORDS, Word, drawn

pytestmark = pytest.mark.skipif(not available(), reason="the extra local is not installed here")


def test_a_page_read_from_its_picture_is_the_page() -> None:
    page = drawn([word._replace(size=max(word.size, 18)) for word in WORDS])
    result = score(PageImage(page.image), page)
    assert result.block > 0.95
    assert result.text > 0.95
    assert result.position > 0.98
    assert result.colour > 0.95


def test_a_tall_page_is_read_once() -> None:
    places = (40, 900, 1590, 1690, 2600)
    words = ("First light", "Second wind", "Third floor", "Fourth gear", "Fifth wheel")
    page = drawn([Word(text, 60, y, 24) for text, y in zip(words, places, strict=True)], (), size=(600, 2700))
    lines = read_text(page.image)
    assert [line.text for line in lines] == list(words)
    assert [line.y for line in lines] == pytest.approx(list(places), abs=20)
