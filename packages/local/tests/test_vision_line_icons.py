"""Icons that were read as letters of the line that they stand in."""

import numpy as np
import pytest
from numpy.typing import NDArray
from vision_drawing import face_of, ink_of

from heald_local.see.ink import Ink
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_pictures.rect import Rect


def _beside(icon: NDArray[np.float32], words: Ink, gap: int = 8, before: bool = True) -> Ink:
    """The ink of an icon and of words beside it."""
    height, width = max(icon.shape[0], words.cover.shape[0]), icon.shape[1] + gap + words.cover.shape[1]
    cover = np.zeros((height, width), np.float32)
    at, start = (0, icon.shape[1] + gap) if before else (width - icon.shape[1], 0)
    cover[: icon.shape[0], at : at + icon.shape[1]] = icon
    high, wide = words.cover.shape
    cover[height - high :, start : start + wide] = words.cover
    return Ink(Rect(100, 50, width, height), cover, words.paper, words.colour)


def _clip() -> NDArray[np.float32]:
    """Two rings, one in the other: no letter looks like it."""
    drawn = np.zeros((18, 16), np.float32)
    for inset in (0, 5):
        drawn[inset : 18 - inset, inset : 16 - inset] = 1
        drawn[inset + 2 : 16 - inset, inset + 2 : 14 - inset] = 0
    return drawn


@pytest.mark.parametrize("before", [True, False])
def test_an_icon_that_was_read_as_a_letter_is_cut_off_its_words(before: bool) -> None:
    words = ink_of(face_of("sans"), "Statement", 18)
    ink = _beside(_clip(), words, before=before)
    read = "8Statement" if before else "Statement8"
    letters = np.linspace(0.26, 0.98, 9) if before else np.linspace(0.02, 0.74, 9)
    places = (0.08, *letters) if before else (*letters, 0.92)
    reading = OcrResult(read, 0.95, (0.95,) * 10, tuple(float(place) for place in places))
    styled = style_lines([(ink, reading)])
    assert [line.text for line in styled.lines] == ["Statement"]
    [icon] = styled.unread
    assert (icon.rect.w, icon.rect.h) == (16, 18)
    assert (icon.rect.x < styled.lines[0].ink.x) == before


def test_the_sign_behind_a_number_stays() -> None:
    ink = _beside(_clip(), ink_of(face_of("sans"), "12.50", 18), before=False)
    places = (*np.linspace(0.03, 0.6, 5), 0.88)
    reading = OcrResult("12.50%", 0.95, (0.95,) * 6, tuple(float(place) for place in places))
    styled = style_lines([(ink, reading)])
    assert [line.text for line in styled.lines] in ([], ["12.50%"])


def test_words_that_look_like_their_letters_stay_whole() -> None:
    ink = ink_of(face_of("sans"), "8 boats left", 18)
    reading = OcrResult(
        "8 boats left", 0.95, (0.95,) * 12, tuple(float(place) for place in np.linspace(0.03, 0.97, 12))
    )
    styled = style_lines([(ink, reading)])
    assert [line.text for line in styled.lines] == ["8 boats left"]
    assert not styled.unread
