"""Lines on several grounds, short words on photographs, and scripts that no reader knows."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import Paper, face_of

from heald_local.see import models
from heald_local.see.detect import detect_elements
from heald_local.see.ink import Ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.photo_text import find_text_on_photos
from heald_local.see.rereading import read_across_grounds, read_cores
from heald_local.see.styled_lines import StyledLines, is_certain_text
from heald_pictures.elements import TextLine, TextStyle
from heald_pictures.fonts import installed
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

needs_models = pytest.mark.skipif(not models.available(), reason="the models of heald[local] are not installed")
TITLE = Rect(20, 20, 380, 60)


def _title(ground: str, shape: str) -> tuple[Pixels, Pixels]:
    """Return a title over the edge of a shape, and the page without it."""
    paper = Paper(460, 110, ground)
    paper.box(150, 0, 120, 110, shape)
    page: Pixels = np.asarray(paper.image).copy()
    paper.text(30, 62, "Quiet mornings", 44, "#ffffff", bold=True)
    return np.asarray(paper.image), page


def _unread(rect: Rect) -> Ink:
    return Ink(rect, np.ones((round(rect.h), round(rect.w)), np.float32), np.zeros(3), np.full(3, 255.0))


@needs_models
def test_a_title_across_two_grounds_is_read_by_the_colour_of_its_letters() -> None:
    face_of("sans")
    pixels, page = _title("#8d8479", "#7b8c98")
    piece = _unread(Rect(150, 30, 120, 36))
    styled = read_across_grounds(StyledLines([], [piece]), pixels, page, [TITLE], lambda _rect: pixels[24:80, 20:400])
    assert [line.text for line in styled.lines] == ["Quiet mornings"]
    assert styled.unread == []


@needs_models
def test_an_unread_piece_on_one_ground_stays_unread() -> None:
    pixels, page = _title("#8d8479", "#8d8479")
    before = StyledLines([], [_unread(Rect(150, 30, 120, 36))])
    assert read_across_grounds(before, pixels, page, [TITLE], lambda _rect: pixels[24:80, 20:400]) is before


@pytest.mark.parametrize(("baseline", "texts"), [(44, 2), (48, 1)])
def test_a_name_and_a_smaller_link_on_its_middle_are_two_texts(baseline: int, texts: int) -> None:
    name, link = (ImageFont.truetype(face_of("sans").path, size) for size in (30, 20))
    picture = Image.new("RGB", (300, 80), "#ffffff")
    pen = ImageDraw.Draw(picture)
    pen.text((20, 48), "HARBOR", fill="#111111", font=name, anchor="ls")
    pen.text((20 + name.getlength("HARBOR") + 21, baseline), "HOME", fill="#111111", font=link, anchor="ls")
    pixels: Pixels = np.asarray(picture)
    assert len(find_ink(pixels, np.full_like(pixels, 255), [Rect(16, 22, 262, 32)])) == texts


def test_two_letters_on_a_pill_on_a_photograph_are_found() -> None:
    path = face_of("cjk").path
    picture = Image.new("RGB", (120, 60), "#0f766e")
    ImageDraw.Draw(picture).text(
        (40, 36), "예약", fill="#ffffff", font=ImageFont.truetype(path, 14, index=1), anchor="ls"
    )
    pixels: Pixels = np.asarray(picture)
    assert len(find_text_on_photos(pixels, [Rect(35, 18, 36, 26)], [Rect(0, 0, 120, 60)])) == 1


@pytest.mark.parametrize(
    ("text", "sure", "likeness", "certain"),
    [
        ("6.1.2026", 0.99, 0.78, True),
        ("6.1.2026", 0.95, 0.78, False),
        ("lul", 0.99, 0.78, False),
        ("예약", 0.99, 0.6, True),
        ("예약", 0.95, 0.6, False),
    ],
)
def test_a_longer_text_without_doubt_may_look_a_little_different(
    text: str, sure: float, likeness: float, certain: bool
) -> None:
    rect = Rect(0, 0, 60, 12)
    style = TextStyle("sans", 12.0, 400, False, "#ffffff", 0.0, False)
    assert is_certain_text(TextLine(text, rect, rect, style, 10, sure, likeness)) is certain


@needs_models
@pytest.mark.parametrize(
    ("font", "words"),
    [
        ("NotoSansThai-Regular.ttf", "กาแฟคั่วสดทุกเช้า ส่งตรงถึงบ้านคุณ"),
        ("NotoSansDevanagari-Regular.ttf", "हर सुबह ताज़ी कॉफ़ी भूनी जाती है"),
    ],
)
def test_a_script_that_no_reader_knows_stays_a_picture_and_is_noted(font: str, words: str) -> None:
    if font not in installed():
        pytest.skip(f"{font} is not installed")
    paper = Paper(560, 160)
    paper.pen.text(
        (40, 60), words, fill="#1f2937", font=ImageFont.truetype(str(Path(installed()[font])), 22), anchor="ls"
    )
    paper.text(40, 120, "Open every day")
    seen = detect_elements(paper.png())
    assert [text.text for text in seen.texts] == ["Open every day"]
    assert [note for note in seen.notes if "Kept as pictures" in note] == [
        "Kept as pictures, because not read for certain: 1 line of text."
    ]
    assert any(picture.rect.holds(Rect(60, 45, 100, 10)) for picture in seen.pictures)


@needs_models
def test_words_in_a_round_frame_are_read_without_the_rest_of_its_edge() -> None:
    paper = Paper(360, 80)
    page: Pixels = np.asarray(paper.image).copy()
    paper.box(20, 20, 300, 36, "#ffffff", radius=18, outline="#00aa00")
    paper.text(38, 43, "Harbour of Bergen", 14, "#757575")
    pixels, place = np.asarray(paper.image), Rect(30, 26, 136, 26)

    def crop(rect: Rect) -> Pixels:
        part = rect.grown(3)
        return pixels[int(part.y) : int(part.bottom), int(part.x) : int(part.right)]

    unread = _unread(Rect(28, 26, 138, 28))
    read = read_cores(StyledLines([], [unread]), pixels, page, [place], crop)
    assert [line.text for line in read.lines] == ["Harbour of Bergen"]
    assert read.lines[0].ink.h < unread.rect.h
    assert read.unread == []
