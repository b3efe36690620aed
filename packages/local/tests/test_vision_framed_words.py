"""A word on a round frame within a line is read, and the words beside it are read once."""

import pytest
from PIL import ImageFont
from vision_drawing import Paper, face_of

from heald_local.see import models
from heald_local.see.detect import detect_elements

needs_models = pytest.mark.skipif(not models.available(), reason="the models are not installed")


@needs_models
@pytest.mark.parametrize("framed", ["db", "database"])
def test_words_around_a_framed_word_are_read_once(framed: str) -> None:
    sans = ImageFont.truetype(face_of("sans").path, 18)
    mono = ImageFont.truetype(face_of("mono").path, 15)
    first, last = "This file tells the service to use", "for all of its tables."
    paper = Paper(860, 90)
    paper.text(30, 50, first, 18)
    left = 30 + int(sans.getlength(first)) + 6
    wide = int(mono.getlength(framed)) + 8
    paper.box(left, 35, wide, 22, "#eeeeee", 4)
    paper.pen.text((left + 4, 51), framed, fill="#8c0808", font=mono, anchor="ls")
    paper.text(left + wide + 6, 50, last, 18)
    texts = sorted(detect_elements(paper.png()).texts, key=lambda text: text.rect.x)
    assert [text.text for text in texts if text.text != framed] == [first, last]
