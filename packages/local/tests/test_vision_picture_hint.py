"""What the user says about a picture: its kind, and its pixels for each CSS pixel."""

import pytest
from recorded_pages import PICTURES
from vision_drawing import Paper

from heald_local.see.detect import detect_elements
from heald_local.see.models import available
from heald_local.see.picture_hint import PictureHint
from heald_local.see.screenshot import load_screenshot
from heald_pictures.errors import UnreadablePicture

pytestmark = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")


def test_the_scale_that_is_named_is_used() -> None:
    paper = Paper(400, 200)
    paper.text(20, 60, "Northwind", 20)
    shots = [load_screenshot(paper.png(), scale) for scale in (1, 2)]
    assert [(shot.ratio, shot.pixels.shape[1]) for shot in shots] == [(1, 400), (2, 200)]


def test_a_scale_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(UnreadablePicture, match="too small for 8 pixels"):
        load_screenshot(Paper(40, 40).png(), 8)


def test_a_sketch_that_is_said_to_be_a_page_is_not_straightened() -> None:
    assert not detect_elements(PICTURES["sketch"](), None, PictureHint("page")).drawn


def test_the_photograph_of_a_screen_is_straightened_and_read() -> None:
    photograph = PICTURES["login-on-a-screen"]()
    detection = detect_elements(photograph, None, PictureHint("photo"))
    assert detection.source == "photo"
    assert "Welcome back" in {text.text for text in detection.texts}
    assert detection.width < load_screenshot(photograph).pixels.shape[1]


def test_a_page_that_is_said_to_be_a_sketch_without_drawn_boxes_is_refused() -> None:
    paper = Paper(400, 200)
    paper.text(20, 60, "Northwind", 20)
    with pytest.raises(UnreadablePicture, match="No drawn boxes"):
        detect_elements(paper.png(), None, PictureHint("sketch"))
