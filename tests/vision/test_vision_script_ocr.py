"""Scripts without a model, explained letter by letter; what no alphabet explains stays unread."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import Paper, face_of, ink_of

from weft.vision.elements import Family, Rect
from weft.vision.see import script_ocr
from weft.vision.see.fonts import Face
from weft.vision.see.glyphs import ARABIC, CYRILLIC, HEBREW, Alphabet, to_logical_order
from weft.vision.see.ink import Ink, extract_ink
from weft.vision.see.screenshot import load_screenshot
from weft.vision.see.script_ocr import ScriptReader, read_with_face


@pytest.mark.parametrize(
    ("alphabet", "family", "text"),
    [
        (CYRILLIC, "sans", "Каждый день с десяти до семи"),
        (CYRILLIC, "serif", "Новости и планы города"),
        (HEBREW, "hebrew", "ספרייה עירונית פתוח"),
        (ARABIC, "arabic", "مكتبة المدينة"),
    ],
)
def test_a_line_is_spelt(alphabet: Alphabet, family: Family, text: str) -> None:
    face = face_of(family)
    spelling = read_with_face(ink_of(face, text, 24), alphabet, face, 24.0)
    assert spelling is not None
    assert spelling.text == text
    assert spelling.likeness > 0.85


def test_a_spaced_heading_is_spelt_with_its_spacing() -> None:
    face = face_of("sans")
    fine = Image.new("L", (700 * 8, 90 * 8), 255)
    font, pen, text = ImageFont.truetype(face.path, 40 * 8), 20 * 8.0, "Простые вещи"
    for letter in text:
        ImageDraw.Draw(fine).text((round(pen), 60 * 8), letter, fill=20, font=font, anchor="ls")
        pen += face.advance(letter) * 40 * 8 - 0.8 * 8
    pixels = np.asarray(fine.reduce(8).convert("RGB"))
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 700, 90))
    assert ink is not None
    spelling = read_with_face(ink, CYRILLIC, face, 40.0)
    assert spelling is not None
    assert spelling.text == text
    assert spelling.likeness > 0.85
    assert spelling.spacing == pytest.approx(-0.8, abs=0.3)


def test_a_final_letter_stands_at_the_end_only() -> None:
    assert to_logical_order("החןדש גן"[::-1], HEBREW) == "החודש גן"


def test_a_page_in_no_known_script_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def misfit(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> float:
        asked.append(size)
        return 1.0

    monkeypatch.setattr(script_ocr, "_misfit", misfit)
    ink = ink_of(face_of("sans"), "Нечто", 20)
    speller = ScriptReader((CYRILLIC,))
    assert [speller.read_line(ink) for _ in range(50)] == [None] * 50
    assert 0 < len(asked) < 400


def test_face_and_size_are_found_and_remembered() -> None:
    face = face_of("sans")
    speller = ScriptReader((CYRILLIC,))
    first, second = (
        speller.read_line(ink_of(face, "Новости дня", 20)),
        speller.read_line(ink_of(face, "Щенок и ёж", 20)),
    )
    assert first is not None
    assert (first.text, first.face.family, first.size) == ("Новости дня", "sans", 20.0)
    assert second is not None
    assert second.text == "Щенок и ёж"


def test_scribble_is_never_spelt() -> None:
    paper = Paper(400, 60)
    random = np.random.default_rng(7)
    for _ in range(60):
        x, y = int(random.integers(20, 360)), int(random.integers(20, 40))
        paper.pen.line(
            (x, y, x + int(random.integers(-15, 15)), y + int(random.integers(-12, 12))), fill="#000000", width=2
        )
    pixels = load_screenshot(paper.png()).pixels
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 400, 60))
    assert ink is not None
    assert ScriptReader((HEBREW,)).read_line(ink) is None
