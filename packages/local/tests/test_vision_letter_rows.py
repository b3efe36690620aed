"""Lines that are hard to read: letters far apart, alphabets, underlines of another colour, unknown typefaces."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from vision_drawing import Paper, face_of, ink_of

from heald_local.see import letter_spacing
from heald_local.see.detect import detect_elements
from heald_local.see.face_fits import Fit, fit_faces
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.letter_spacing import complete_index, find_letter_rows, join_wide_spacing
from heald_local.see.letter_tiles import find_letter_tiles, split_at_tiles
from heald_local.see.line_marks import Piece, split_marks
from heald_local.see.models import available
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import style_lines
from heald_local.see.word_styles import split_at_wide_gaps
from heald_local.see.zero_confusion import replace_zeros
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

needs_models = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")


def _letters(words: str, pitch: int = 40, sure: float = 0.98) -> list[Piece]:
    cover, black, white = np.ones((18, 12), np.float32), np.zeros(3), np.full(3, 255.0)
    return [
        (Ink(Rect(20 + pitch * number, 30, 12, 18), cover, white, black), OcrResult(letter, sure, (sure,), (0.5,)))
        for number, letter in enumerate(words)
        if letter != " "
    ]


def _read(text: str) -> Iterator[OcrResult]:
    yield OcrResult(text, 0.99, (0.99,) * len(text), ())


def test_letters_far_apart_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_crops: Sequence[Pixels]) -> list[OcrResult]:
        return list(_read("RIVERBANK"))

    monkeypatch.setattr(letter_spacing, "read_page_lines", read)
    pieces = join_wide_spacing(_letters("R1VER BANK"), lambda rect: np.zeros((24, round(rect.w) + 6, 3), np.uint8))
    assert [reading.text for _, reading in pieces] == ["RIVER BANK"]
    assert pieces[0][0].rect == Rect(20, 30, 372, 18)


def test_the_letters_of_an_alphabet_stay_apart_and_the_missing_one_is_known() -> None:
    alphabet = _letters("ABCDEFGHIJKL")
    ink, reading = alphabet[8]
    alphabet[8] = (ink, replace(reading, text="1", sure=0.3))
    assert len(find_letter_rows(alphabet)) == 1
    pieces = join_wide_spacing(complete_index(alphabet), lambda _rect: np.zeros((1, 1, 3), np.uint8))
    assert "".join(reading.text for _, reading in pieces) == "ABCDEFGHIJKL"


def test_a_few_letters_are_not_a_row() -> None:
    assert find_letter_rows(_letters("ABC")) == []
    assert find_letter_rows(_letters("ABCDEF", sure=0.5)) == []


def test_wide_letter_spacing_is_fitted() -> None:
    face_of("sans")  # skips the test without it
    paper = Paper(700, 90)
    for number, letter in enumerate("WINDOWS"):
        paper.text(20 + 50 * number, 60, letter, 24)
    pixels = np.asarray(paper.image)
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 20, 700, 60))
    assert ink is not None
    fit = fit_faces(ink, "WINDOWS")[0]
    assert fit.spacing > 20
    assert abs(fit.size - 24) <= 2


def test_an_underline_of_another_colour_is_not_part_of_the_letters() -> None:
    paper = Paper(400, 60)
    paper.text(20, 36, "Opening hours of the library", 16, "#d72b2b")
    paper.pen.rectangle((20, 39, 225, 40), fill="#1d4e89")
    pixels = np.asarray(paper.image)
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(10, 18, 300, 30))
    assert ink is not None
    assert ink.underlined
    assert np.abs(ink.colour - (215, 43, 43)).max() < 24


def test_pale_lines_between_texts_are_not_letters() -> None:
    paper = Paper(400, 60)
    for number, letter in enumerate("ABCD"):
        paper.text(20 + 26 * number, 36, letter, 16)
        paper.pen.line((38 + 26 * number, 22, 38 + 26 * number, 39), fill="#cdd1d3")
    pixels = np.asarray(paper.image)
    inks = find_ink(pixels, np.full_like(pixels, 255), [Rect(14, 20, 110, 22)])
    assert [ink.rect.h <= 13 for ink in inks] == [True] * 4


def test_words_with_wide_gaps_are_several_texts() -> None:
    paper = Paper(400, 60)
    ends = [(20, "Log in"), (90, "or"), (130, "Create account")]
    for x, words in ends:
        paper.text(x, 36, words, 15)
    pixels = np.asarray(paper.image)
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(10, 18, 300, 26))
    assert ink is not None
    text = "Log in or Create account"
    columns = np.linspace(0, 1, len(text))
    reading = OcrResult(text, 0.98, (0.98,) * len(text), tuple(float(column) for column in columns))
    places = _places_of(text, ends, ink.rect)
    reading = replace(reading, places=places)
    assert [part.text for _, part in split_at_wide_gaps(ink, reading)] == ["Log in", "or", "Create account"]


def _places_of(text: str, ends: Sequence[tuple[int, str]], rect: Rect) -> tuple[float, ...]:
    """Return the place of each letter as the network would, from 0 to 1 of a crop with a margin."""
    face, margin = face_of("sans"), max(2, round(rect.h * 0.18))
    places: list[float] = []
    for x, words in ends:
        if places:
            places.append((x - 6 - rect.x + margin) / (rect.w + 2 * margin))
        for number in range(len(words)):
            middle = x + face.advance(words[:number]) * 15 + 4
            places.append((middle - rect.x + margin) / (rect.w + 2 * margin))
    assert len(places) == len(text)
    return tuple(places)


def test_a_thin_letter_that_begins_a_line_is_not_a_mark() -> None:
    paper = Paper(400, 60)
    paper.text(20, 36, "I", 24)
    paper.text(34, 36, "ndexes", 24)
    pixels = np.asarray(paper.image)
    white = np.full_like(pixels, 255)
    ink = extract_ink(pixels, white, Rect(10, 10, 300, 40))
    assert ink is not None
    text = "Indexes"
    reading = OcrResult(text, 0.99, (0.99,) * 7, (0.2, 0.28, 0.4, 0.5, 0.6, 0.7, 0.8))
    assert len(split_marks(pixels, white, [(ink, reading)])) == 1


@pytest.mark.parametrize(("sure", "is_text"), [(0.97, True), (0.7, False)])
def test_words_in_an_unknown_typeface_are_text_if_they_are_read_for_certain(
    monkeypatch: pytest.MonkeyPatch, sure: float, is_text: bool
) -> None:
    face = face_of("sans")
    ink, text = ink_of(face, "Letters of the coast", 18), "Letters of the coast"

    def fit(*_arguments: object) -> Fit:
        return Fit(face, 18.0, 0.0, 0.45)

    monkeypatch.setattr("heald_local.see.styled_lines.best_fit", fit)
    styled = style_lines([(ink, OcrResult(text, sure, (sure,) * len(text), ()))])
    assert bool(styled.lines) == is_text
    assert bool(styled.unread) != is_text


@pytest.mark.parametrize(
    ("text", "letters_sure", "is_text"),
    [
        ("Letters of the coast", (0.97,) * 20, True),
        ("Letters of the coast", (0.88,) * 20, False),
        ("Letters of the coast", (0.99,) * 19 + (0.3,), False),
        ("Lettersofthecoast", (0.97,) * 17, False),
    ],
    ids=["sure words", "unsure words", "an unsure letter", "one word"],
)
def test_a_logo_is_text_only_if_several_words_are_read_for_certain(
    monkeypatch: pytest.MonkeyPatch, text: str, letters_sure: tuple[float, ...], is_text: bool
) -> None:
    face = face_of("sans")
    ink = ink_of(face, text, 40)

    def fit(*_arguments: object) -> Fit:
        return Fit(face, 40.0, 0.0, 0.45)

    monkeypatch.setattr("heald_local.see.styled_lines.best_fit", fit)
    reading = OcrResult(text, sum(letters_sure) / len(letters_sure), letters_sure, ())
    assert bool(style_lines([(ink, reading)]).lines) == is_text


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Ooo good 000", "Ooo good OOO"),
        ("L0G0", "LOGO"),
        ("n0 0ne", "no One"),
        ("0 items", "0 items"),
        ("Save 10 000", "Save 10 000"),
        ("A10 and B00", "A10 and BOO"),
        ("000", "000"),
        ("£0.00 off", "£0.00 off"),
    ],
)
def test_zeros_beside_letters_may_be_letters(text: str, letters: str) -> None:
    assert replace_zeros(text) == letters


def test_zeros_stay_where_they_look_like_zeros() -> None:
    face = face_of("sans")
    for drawn, text in (("Bond OOO", "Bond OOO"), ("Bond 000", "Bond 000")):
        reading = OcrResult("Bond 000", 0.99, (0.99,) * 8, ())
        assert [line.text for line in style_lines([(ink_of(face, drawn, 30), reading)]).lines] == [text]


@needs_models
def test_a_title_in_wide_letter_spacing_is_read() -> None:
    paper = Paper(640, 120)
    for number, letter in enumerate("HARBOUR"):
        paper.text(40 + 56 * number, 70, letter, 26, "#000000")
    texts = detect_elements(paper.png()).texts
    assert [text.text for text in texts] == ["HARBOUR"]
    assert texts[0].style.spacing > 15


def _tiles(letters: str) -> tuple[Paper, list[Box]]:
    paper = Paper(400, 100)
    boxes: list[Box] = []
    for at, letter in enumerate(letters):
        paper.box(20 + 44 * at, 30, 39, 41, "#c2185b", 8)
        paper.text(30 + 44 * at, 60, letter, 28, "#ffffff", bold=True)
        boxes.append(Box(Rect(20 + 44 * at, 30, 39, 41), "#c2185b", 8))
    return paper, boxes


@needs_models
def test_the_letters_of_an_index_on_boxes_of_their_own_are_read() -> None:
    paper, boxes = _tiles("ABCDEFGH")
    pixels = np.asarray(paper.image)
    assert find_letter_tiles(pixels, boxes) == boxes
    detection = detect_elements(paper.png())
    assert sorted(text.text for text in detection.texts) == list("ABCDEFGH")
    assert len(detection.boxes) == 8


@needs_models
def test_boxes_without_an_index_on_them_are_not_tiles() -> None:
    for letters in ("ABC", "fXtO", "    "):
        paper, boxes = _tiles(letters)
        assert find_letter_tiles(np.asarray(paper.image), boxes) == []


def test_a_place_over_several_tiles_becomes_one_for_each_and_the_rest_stays() -> None:
    _, tiles = _tiles("AB")
    beside, elsewhere = Rect(0, 32, 300, 36), Rect(0, 80, 50, 12)
    places = split_at_tiles([beside, elsewhere], tiles)
    assert elsewhere in places
    assert [place for place in places if place.x >= 103] == [Rect(103, 32, 197, 36)]
    assert sum(tile.rect.holds(place) for tile in tiles for place in places) == 2
    assert split_at_tiles([beside], []) == [beside]
