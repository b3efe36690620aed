"""The underline of large letters is part of their text: it is thick, and reaches farther below them than their edge."""

import pytest
from vision_drawing import Paper

from heald_local.see import models
from heald_local.see.detect import detect_elements
from heald_pictures.fonts import faces

ready = pytest.mark.skipif(
    not models.available() or not any(face.path for face in faces()), reason="needs the models and a font"
)


@ready
@pytest.mark.parametrize(("size", "gap", "thick"), [(28, 2, 2), (32, 2, 2), (36, 2, 3), (20, 3, 1)])
def test_the_underline_of_a_large_title_is_no_picture(size: int, gap: int, thick: int) -> None:
    paper = Paper(640, 240)
    drawn = paper.text(60, 100, "Rivers and tides", size, "#1d4ed8")
    paper.box(60, 100 + gap, round(drawn.advance("Rivers and tides") * size), thick, "#1d4ed8")
    paper.text(60, 160, "Where the water comes from, and when.", 16)
    detection = detect_elements(paper.png())
    title = next(text for text in detection.texts if text.text == "Rivers and tides")
    assert title.style.underline
    assert not detection.pictures
    assert not [box for box in detection.boxes if box.rect.h <= 3]
