"""Words of several styles in one line, letters with a shadow, and lines that are set without space."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PIL.Image import Image as Picture

from heald_local.see.face_fits import Fit, fit_faces
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.ocr import OcrResult, crop_margin
from heald_local.see.styled_lines import style_lines
from heald_local.see.word_styles import split_by_style, weigh_line
from heald_pictures.fonts import Face, face, faces
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

pytestmark = pytest.mark.skipif(
    not any(candidate.family == "sans" and candidate.bold for candidate in faces()),
    reason="no Arial or Liberation Sans is installed",
)
SIZE, BASELINE = 18, 40
WHITE = np.full((120, 900, 3), 255, np.uint8)


def _draw(image: Picture, x: float, words: str, style: Face, colour: str = "#222222", down: int = 0) -> float:
    """Draw words on a baseline, and return where they end."""
    left, top, _, _ = style.ink(words)
    glyphs = Image.fromarray((style.draw(words, SIZE) * 255).astype(np.uint8))
    image.paste(colour, (round(x + left * SIZE), round(BASELINE + down + top * SIZE)), glyphs)
    return x + style.advance(words) * SIZE


def _line(*runs: tuple[str, Face]) -> tuple[Ink, OcrResult]:
    """Draw runs one after the other, and read them with the place of each letter."""
    image = Image.fromarray(WHITE)
    text, places, x = "", list[float](), 20.0
    for number, (words, style) in enumerate(runs):
        x += style.advance(" ") * SIZE if number else 0.0
        for at in range(len(words)):
            places.append(x + style.advance(words[:at]) * SIZE + style.advance(words[at]) * SIZE / 2)
        if number:
            text += " "
            places.insert(len(text) - 1, x)
        text += words
        x = _draw(image, x, words, style)
    ink = extract_ink(np.asarray(image), WHITE, Rect(0, 10, 900, 60))
    assert ink is not None
    margin = crop_margin(ink.rect)
    within = tuple((place - ink.rect.x + margin) / (ink.rect.w + 2 * margin) for place in places)
    return ink, OcrResult(text, 0.99, (0.99,) * len(text), within)


REGULAR, BOLD = face("sans"), face("sans", bold=True)


def test_bold_words_in_a_line_are_runs_of_their_own() -> None:
    ink, reading = _line(("Go to the page of", REGULAR), ("Harbour Clients", BOLD), ("and select a berth", REGULAR))
    drafts = split_by_style(ink, reading, fit_faces(ink, reading.text, [REGULAR, BOLD])[0])
    assert drafts is not None
    assert [(draft_reading.text, draft_fit.face.bold) for _, draft_reading, draft_fit in drafts] == [
        ("Go to the page of", False),
        ("Harbour Clients", True),
        ("and select a berth", False),
    ]


def test_a_line_of_several_styles_is_split_in_the_family_of_the_page_where_another_one_resembles_it() -> None:
    ink, reading = _line(("Go to the page of", REGULAR), ("Harbour Clients", BOLD), ("and select a berth", REGULAR))
    narrow = replace(fit_faces(ink, reading.text, [REGULAR])[0], face=face("serif", bold=True), likeness=0.7)
    drafts = split_by_style(ink, reading, narrow, [REGULAR, BOLD])
    assert drafts is not None
    assert [draft_fit.face for *_, draft_fit in drafts] == [REGULAR, BOLD, REGULAR]


@pytest.mark.parametrize("style", [REGULAR, BOLD])
def test_a_line_of_one_style_is_not_split(style: Face) -> None:
    ink, reading = _line(("Go to the page of the harbour and select a berth", style))
    assert split_by_style(ink, reading, fit_faces(ink, reading.text)[0]) is None


def test_the_amount_of_ink_decides_about_the_weight() -> None:
    ink, reading = _line(("New customers of the harbour", REGULAR))
    wrong = next(fit for fit in fit_faces(ink, reading.text, [BOLD]) if fit.face.bold)
    assert wrong.likeness < 0.93
    assert not weigh_line(ink, reading.text, wrong).face.bold
    right = fit_faces(ink, reading.text, [REGULAR])[0]
    assert weigh_line(ink, reading.text, right) is right


def _spaced(word: str, style: Face, size: float, spacing: float) -> Ink:
    cover = np.pad(style.draw(word, size, spacing), 4)
    pixels = np.repeat((255 - 200 * cover)[:, :, None], 3, axis=2).astype(np.uint8)
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, pixels.shape[1], pixels.shape[0]))
    assert ink is not None
    return ink


def test_large_letters_in_wide_spacing_are_not_bold_for_their_width() -> None:
    words = "HARBOUR MUSEUM, 1820-1890"
    ink = _spaced(words, REGULAR, 30, 3)
    wrong = next(fit for fit in fit_faces(ink, words, [BOLD]) if fit.spacing)
    right = weigh_line(ink, words, wrong)
    assert (right.face, right.size, round(right.spacing)) == (REGULAR, 30, 3)
    thick = fit_faces(_spaced(words, BOLD, 30, 3), words, [BOLD])[0]
    assert weigh_line(_spaced(words, BOLD, 30, 3), words, thick).face.bold


def test_letters_far_apart_are_a_word_and_those_of_an_index_are_not() -> None:
    ink = _spaced("EXHIBITS", REGULAR, 30, 7)
    [line] = style_lines([(ink, OcrResult("E X H I B I T S", 1.0, (), ()))]).lines
    assert (line.text, round(line.style.spacing)) == ("EXHIBITS", 7)
    index = _spaced("A B C D E", REGULAR, 30, 3)
    [line] = style_lines([(index, OcrResult("A B C D E", 1.0, (), ()))]).lines
    assert line.text == "A B C D E"


def _shadowed(shadow: str, letters: str, paper: str) -> tuple[Pixels, Pixels]:
    image = Image.new("RGB", (900, 120), paper)
    page = np.asarray(image).copy()
    for colour, off in ((shadow, 1), (letters, 0)):
        _draw(image, 20.0 + off, "Coming soon", BOLD, colour, off)
    return np.asarray(image), page


@pytest.mark.parametrize("letters", ["#ffffff", "#1d4ed8"])
def test_letters_with_a_shadow_are_ink_in_the_colour_of_the_letters(letters: str) -> None:
    pixels, page = _shadowed("#202020", letters, "#b0b0b0")
    ink = extract_ink(pixels, page, Rect(0, 10, 900, 60))
    assert ink is not None
    expected = [int(letters[at : at + 2], 16) for at in (1, 3, 5)]
    assert np.abs(ink.colour - expected).max() < 24
    assert fit_faces(ink, "Coming soon")[0].likeness > 0.75


def test_a_picture_of_many_colours_is_no_ink() -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (120, 900, 3)).astype(np.uint8)
    assert extract_ink(pixels, WHITE, Rect(20, 20, 200, 30)) is None


def test_lines_without_space_between_them_are_read_apart() -> None:
    image = Image.fromarray(WHITE)
    _draw(image, 20.0, "State tax withholding", BOLD)
    _draw(image, 20.0, "Codes", BOLD, down=16)
    inks = find_ink(np.asarray(image), WHITE, [Rect(16, 20, 200, 28), Rect(16, 36, 80, 28)])
    tops = sorted(round(ink.rect.y) for ink in inks)
    assert len(inks) == 2
    assert tops[1] - tops[0] >= 14
    assert max(ink.rect.h for ink in inks) <= SIZE


def test_letters_that_a_browser_made_bold_are_bold() -> None:
    wide, words = face("wide"), "يفتح الميناء أبوابه"
    if wide.family != "wide" or wide.missing("ف"):
        pytest.skip("no DejaVu Sans is installed")
    for thick in (False, True):
        image = Image.fromarray(WHITE)
        for x in (20, 21) if thick else (20,):
            _draw(image, x, words, wide)
        ink = extract_ink(np.asarray(image), WHITE, Rect(10, 10, 600, 60))
        assert ink is not None
        fit = Fit(wide, float(SIZE), 0.0, 0.9)
        assert weigh_line(ink, words, fit).face.bold == thick
