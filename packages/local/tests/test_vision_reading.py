"""Text that used to stay a picture: over photographs, in other scripts, with marks and icons beside it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from vision_drawing import face_of, ink_of

from heald_local.see import styled_lines
from heald_local.see.face_fits import Fit
from heald_local.see.ink import Ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.line_icons import Draft, part_icons
from heald_local.see.ocr import OcrResult
from heald_local.see.photo_text import find_text_on_photos
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels


def _clouds(seed: int, low: int, high: int, size: tuple[int, int] = (420, 80)) -> Image.Image:
    grain = np.random.default_rng(seed).integers(low, high, (5, 20, 3), dtype=np.uint8)
    return Image.fromarray(grain).resize(size, Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(4))


@pytest.mark.parametrize(("colour", "low", "high"), [("#0b2545", 170, 235), ("#5b2b62", 190, 240), ("#f0c040", 20, 90)])
def test_letters_of_any_colour_are_found_on_a_picture(colour: str, low: int, high: int) -> None:
    drawn_with = face_of("sans")
    picture = _clouds(3, low, high)
    ImageDraw.Draw(picture).text(
        (24, 52), "Evening tide", fill=colour, font=ImageFont.truetype(drawn_with.path, 30), anchor="ls"
    )
    pixels: Pixels = np.asarray(picture)
    (ink,) = find_text_on_photos(pixels, [Rect(16, 20, 190, 46)], [Rect(0, 0, 420, 80)])
    assert ink.rect.x == pytest.approx(26, abs=3)
    assert ink.rect.h == pytest.approx(30, abs=5)
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    assert np.abs(ink.colour - channels).max() < 40
    fit = styled_lines.fit_faces(ink, "Evening tide", [drawn_with])[0]
    assert fit.likeness > 0.85


def test_a_picture_without_letters_has_no_ink() -> None:
    pixels: Pixels = np.asarray(_clouds(5, 100, 140))
    assert find_text_on_photos(pixels, [Rect(16, 20, 190, 46)], [Rect(0, 0, 420, 80)]) == []


def test_a_comma_with_room_behind_it_does_not_part_a_line() -> None:
    path = face("cjk").path
    if face("cjk").family != "cjk":
        pytest.skip("no font of the family cjk is installed")
    picture = Image.new("RGB", (460, 60), "#ffffff")
    ImageDraw.Draw(picture).text(
        (20, 16), "新线路开通，每天十二班车", fill="#111111", font=ImageFont.truetype(path, 18, index=2)
    )
    pixels: Pixels = np.asarray(picture)
    inks = find_ink(pixels, np.full_like(pixels, 255), [Rect(16, 12, 240, 32)])
    assert len(inks) == 1


def _draft(text: str, x: float, likeness: float, sure: float = 1.0) -> Draft:
    cover = np.ones((18, 14), np.float32)
    ink = Ink(Rect(x, 20, 14, 18), cover, np.full(3, 255.0), np.zeros(3))
    return ink, OcrResult(text, sure, (sure,) * len(text), (0.5,) * len(text)), Fit(face("sans"), 20.0, 0.0, likeness)


@pytest.mark.parametrize(
    ("draft", "is_icon"),
    [
        (_draft("f", 100, 0.83), True),
        (_draft("f", 100, 0.97), False),
        (_draft("8", 100, 0.7), False),
        (_draft("in", 100, 0.8), False),
    ],
)
def test_a_letter_in_a_row_of_icons_is_one_unless_it_looks_like_it(draft: Draft, is_icon: bool) -> None:
    texts, icons = part_icons([draft], [Rect(60, 20, 20, 20), Rect(140, 20, 20, 20)])
    assert (len(texts), len(icons)) == ((0, 1) if is_icon else (1, 0))


def test_a_doubtful_letter_without_likeness_is_an_icon() -> None:
    assert part_icons([_draft("Q", 100, 0.8, 0.7)], [])[0] == []
    assert part_icons([_draft("Q", 100, 0.8, 0.99)], [])[1] == []


def test_a_line_as_strong_as_its_neighbours_has_their_weight() -> None:
    sans, heavy = face_of("sans"), face("sans", bold=True)
    lines = ["Prices include tax today", "Nothing is shared with us", "The path follows the river"]
    drafts: list[Draft] = []
    for number, line in enumerate(lines):
        ink = ink_of(sans, line, 18)
        fit = Fit(heavy if number == 1 else sans, 18.0, -0.5 if number == 1 else 0.0, 0.9)
        drafts.append((ink, OcrResult(line, 1.0, (1.0,) * len(line), (0.5,) * len(line)), fit))
    unify = styled_lines._unify_weights  # pyright: ignore[reportPrivateUsage]
    assert [fit.face.bold for _, _, fit in unify(drafts)] == [False, False, False]
    strong = ink_of(heavy, lines[1], 18)
    drafts[1] = strong, drafts[1][1], drafts[1][2]
    assert [fit.face.bold for _, _, fit in unify(drafts)] == [False, True, False]
