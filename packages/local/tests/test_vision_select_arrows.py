"""The arrow of a select is no part of the words before it, however near these are."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.see.ink_pieces import find_ink
from heald_local.see.select_arrows import ARROW, room_before_arrow
from heald_pictures.elements import Border, Box
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect, hull
from heald_pictures.regions import Pixels

PLACE = Rect(30, 20, 133, 19)
FRAME = Border((1.0, 1.0, 1.0, 1.0), "#767676")


def _select(words: str = "", *, arrow: int | None = 5, ink: int = 0, paper: int = 255) -> Pixels:
    """Draw a select with words that end right before its arrow, which is so many pixels from the edge."""
    image = Image.new("RGB", (220, 60), "#ffffff")
    pen = ImageDraw.Draw(image)
    pen.rectangle((PLACE.x, PLACE.y, PLACE.right - 1, PLACE.bottom - 1), (paper,) * 3, "#767676")
    if words:
        path = next(str(face.path) for face in faces() if face.family == "sans" and face.path and not face.bold)
        font = ImageFont.truetype(path, 13)
        pen.text((PLACE.right - 19 - round(pen.textlength(words, font)), 34), words, (ink,) * 3, font, anchor="ls")
    pixels = np.asarray(image).copy()
    if arrow is not None:
        right, top = int(PLACE.right) - arrow, int(PLACE.y) + 7
        high, wide = ARROW.shape
        pixels[top : top + high, right - wide : right] = (paper + ARROW * (ink - paper)).round()[..., None]
    return pixels


@pytest.mark.parametrize(("arrow", "ink", "paper"), [(5, 0, 255), (6, 0, 239), (5, 235, 40)])
def test_a_box_with_the_arrow_of_a_select_has_less_room_for_words(arrow: int, ink: int, paper: int) -> None:
    room = room_before_arrow(_select(arrow=arrow, ink=ink, paper=paper), PLACE)
    assert room is not None
    assert room.right <= PLACE.right - arrow - ARROW.shape[1]


def test_a_box_without_an_arrow_has_all_its_room() -> None:
    assert room_before_arrow(_select(arrow=None), PLACE) is None
    assert room_before_arrow(_select("Rive v", arrow=None), PLACE) is None
    upward = _select()
    upward[20:39] = upward[38:19:-1]
    assert room_before_arrow(upward, PLACE) is None


@pytest.mark.skipif(not any(face.path for face in faces()), reason="fonts are missing")
def test_words_right_before_the_arrow_are_a_piece_without_it() -> None:
    pixels = _select("Every harbour...")
    page = np.full_like(pixels, 255)
    page[20:39, 30:163] = pixels[37, 32]
    pieces = find_ink(pixels, page, [Rect(52, 21, 108, 17)], [Box(PLACE, "#ffffff", 0.0, FRAME)])
    assert hull(piece.rect for piece in pieces).right <= PLACE.right - 18
