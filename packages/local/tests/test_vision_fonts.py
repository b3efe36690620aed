"""Text is fitted by drawing: size, weight and colour come back, and a wrong reading does not look right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vision_drawing import Paper

from example_counts import scaled
from heald_local.see.face_fits import fit_faces, likeness, measure_glyphs, snap_size
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.screenshot import load_screenshot
from heald_pictures import fonts
from heald_pictures.colours import hex_colour
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect

pytestmark = pytest.mark.skipif(
    not any(face.family == "sans" and face.bold for face in faces()), reason="no Arial or Liberation Sans is installed"
)


def _ink(text: str, size: int, bold: bool = False, colour: str = "#1f2937") -> Ink:
    paper = Paper(900, 120)
    paper.text(20, 80, text, size, colour, bold)
    pixels = load_screenshot(paper.png()).pixels
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 900, 120))
    assert ink is not None
    return ink


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("size", [13, 16, 20, 40])
def test_size_and_weight_come_back(size: int, bold: bool) -> None:
    best = fit_faces(_ink("Handgloves and jigsaw puzzles", size, bold), "Handgloves and jigsaw puzzles")[0]
    assert best.face.family == "sans"
    assert best.face.bold == bold
    assert abs(best.size - size) <= 0.51
    assert best.likeness > 0.8


def test_the_colour_is_that_of_the_darkest_strokes() -> None:
    assert hex_colour(_ink("Handgloves", 24, True, "#b91c1c").colour) == "#b91c1c"


def test_another_text_of_the_same_width_looks_worse() -> None:
    ink = _ink("minimum illusion", 18)
    right, wrong = fit_faces(ink, "minimum illusion")[0], fit_faces(ink, "rninirnurn lllu5lon")
    assert right.likeness > 0.85
    assert all(fit.likeness < right.likeness - 0.05 for fit in wrong)


def test_a_drawing_is_most_like_itself() -> None:
    drawn = faces()[0].draw("Heald", 30)
    assert likeness(drawn, drawn) == pytest.approx(1.0, abs=1e-5)
    assert likeness(drawn, np.zeros_like(drawn)) == 0


@settings(max_examples=scaled(120))
@given(st.floats(6, 90), st.floats(0.01, 0.6))
def test_snapping_never_keeps_the_slack_by_more_than_rounding(size: float, slack: float) -> None:
    assert abs(snap_size(size, slack) - size) <= max(slack, 0.005) + 1e-9


@given(st.integers(3, 9), st.integers(3, 12), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_likeness_is_that_of_the_best_of_all_small_shifts(height: int, width: int, down: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    drawn = random.random((height, width), np.float32)
    cover = random.random((height + down, width), np.float32)
    room = np.zeros((height + down + 4, width + 4))
    room[2 : 2 + height + down, 2 : 2 + width] = cover
    shifts = [(y, x) for y in range(min(5, down + 5)) for x in range(1, 4)]
    sums = [float((room[y : y + height, x : x + width] * drawn).sum()) for y, x in shifts]
    norm = float(np.sqrt((room**2).sum()) * np.sqrt((drawn.astype(np.float64) ** 2).sum()))
    assert likeness(cover, drawn) == pytest.approx(max(sums) / norm, rel=1e-4)


def test_letters_that_were_measured_ahead_are_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fonts._ink.cache_clear()  # pyright: ignore[reportPrivateUsage]
    measure_glyphs(["Handgloves and jigsaws", "short"])
    measured: list[str] = []
    edges = fonts._edges  # pyright: ignore[reportPrivateUsage]

    def count(path: str, text: str) -> tuple[float, float, float, float]:
        measured.append(text)
        return edges(path, text)

    monkeypatch.setattr(fonts, "_edges", count)
    plain = next(face for face in faces() if face.family == "sans" and not face.italic)
    plain.ink("Handgloves and jigsaws")
    assert measured == []
    plain.ink("quartz")
    assert measured == ["quartz"]
