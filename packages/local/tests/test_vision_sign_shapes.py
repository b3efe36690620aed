"""Quotes and dashes, which the network confuses, by their shapes."""

import pytest
from vision_drawing import face_of, ink_of

from heald_local.see.face_fits import fit_faces
from heald_local.see.ocr import OcrResult
from heald_local.see.sign_shapes import correct_signs
from heald_pictures.elements import Family
from heald_pictures.fonts import Face


def _correct(face: Face, drawn: str, read: str, size: int) -> str:
    ink = ink_of(face, drawn, size)
    [fit] = fit_faces(ink, read, [face], spacing=False)
    return correct_signs((ink, OcrResult(read, 1.0, (), ()), fit))[1].text


@pytest.mark.parametrize("family", ["sans", "serif"])
@pytest.mark.parametrize("size", [20, 24, 30])
@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("It’s the new pier", "It's the new pier"),
        ("the “old” pier", 'the "old" pier'),
        ("‘old’ pier", "'old' pier"),
    ],
)
def test_typographic_quotes_are_seen(family: Family, size: int, drawn: str, read: str) -> None:
    assert _correct(face_of(family), drawn, read, size) == drawn


@pytest.mark.parametrize("family", ["sans", "serif"])
@pytest.mark.parametrize("size", [11, 12, 13, 14, 16, 18, 30])
@pytest.mark.parametrize("text", ["It's the harbour's plan", 'the "old" pier', "'old' pier", "well-known - a pier"])
def test_plain_quotes_and_hyphens_stay(family: Family, size: int, text: str) -> None:
    assert _correct(face_of(family), text, text, size) == text


@pytest.mark.parametrize("family", ["sans", "serif"])
@pytest.mark.parametrize("size", [12, 14, 16, 18, 30])
@pytest.mark.parametrize(("dash", "read"), [("–", "—"), ("–", "-"), ("—", "–"), ("-", "–")])
def test_a_dash_between_words_is_as_long_as_its_ink(family: Family, size: int, dash: str, read: str) -> None:
    assert _correct(face_of(family), f"2016 {dash} a year", f"2016 {read} a year", size) == f"2016 {dash} a year"


def test_quotes_of_code_stay() -> None:
    face = face_of("mono")
    assert _correct(face, "print(’a’)", "print('a')", 18) == "print('a')"
