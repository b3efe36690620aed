"""Reading a bare picture: the lines of a drawn page, also of a tall one, which is read in strips."""

import pytest
from score_support import WORDS, Word, drawn

from weft.studio.score.blocks import PageImage, read_text
from weft.studio.score.score import score
from weft.vision.see.models import available

pytestmark = pytest.mark.skipif(not available(), reason="the extra local is not installed here")


def test_a_page_read_from_its_picture_is_the_page() -> None:
    page = drawn([word._replace(size=max(word.size, 18)) for word in WORDS])
    found = score(PageImage(page.image), page)
    assert found.block > 0.95
    assert found.text > 0.95
    assert found.position > 0.98
    assert found.colour > 0.95


def test_a_tall_page_is_read_once() -> None:
    places = (40, 900, 1590, 1690, 2600)
    words = ("First light", "Second wind", "Third floor", "Fourth gear", "Fifth wheel")
    page = drawn([Word(text, 60, y, 24) for text, y in zip(words, places, strict=True)], (), size=(600, 2700))
    found = read_text(page.image)
    assert [line.text for line in found] == list(words)
    assert [line.y for line in found] == pytest.approx(list(places), abs=20)
