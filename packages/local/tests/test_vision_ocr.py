"""Reading lines: every crop in one batch, spaces where the ink has gaps, and nothing read twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vision_drawing import Paper

from heald_local.see import detect, detection_cache, models, ocr
from heald_local.see.detect import detect_elements
from heald_local.see.ink import extract_ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.models import available
from heald_local.see.ocr import OcrResult
from heald_local.see.screenshot import load_screenshot
from heald_local.see.styled_lines import insert_spaces, with_spaces
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect

models_needed = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")
fonts_needed = pytest.mark.skipif(not any(face.path for face in faces()), reason="no known font is installed")


@given(st.lists(st.integers(3, 150).map(lambda step: 16 * step), max_size=60))
def test_every_crop_is_in_one_batch(widths: list[int]) -> None:
    batches = list(ocr._batches(widths))  # pyright: ignore[reportPrivateUsage]
    assert sorted(number for batch in batches for number in batch) == list(range(len(widths)))
    for batch in batches:
        widest = widths[batch[-1]]
        assert widest == max(widths[number] for number in batch)
        assert len(batch) == 1 or widest * len(batch) <= ocr.BATCH_WIDTH


@models_needed
@fonts_needed
def test_lines_of_all_lengths_are_read_in_their_order() -> None:
    words = ["Menu", "The harbour at night", "A much longer line about boats, bridges and the tide of 1926", "42 %"]
    crops: list[ocr.Pixels] = []
    for text in words:
        paper = Paper(620, 40)
        paper.text(8, 27, text, 18)
        ink = extract_ink(
            load_screenshot(paper.png()).pixels, np.full((40, 620, 3), 255, np.uint8), Rect(0, 0, 620, 40)
        )
        assert ink is not None
        part = ink.rect.grown(3)
        crops.append(load_screenshot(paper.png()).pixels[int(part.y) : int(part.bottom), int(part.x) : int(part.right)])
    told: list[float] = []
    assert [reading.text.strip() for reading in ocr.read_lines(crops, lambda part, _: told.append(part))] == words
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert ocr.read_lines([]) == []


@fonts_needed
def test_an_overlooked_space_is_found_in_the_ink() -> None:
    paper = Paper(400, 40)
    drawn = paper.text(20, 27, "© 2026 Plotline", 18)
    pixels = load_screenshot(paper.png()).pixels
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 400, 40))
    assert ink is not None
    margin = max(2, round(ink.rect.h * 0.18))
    text, whole = "©2026 Plotline", ink.rect.w + 2 * margin
    middles = [drawn.advance("© 2026 Plotline"[: at + (2 if at else 1)]) * 18 - 4 for at in range(len(text))]
    reading = OcrResult(text, 0.9, (0.9,) * len(text), tuple((middle + margin) / whole for middle in middles))
    assert insert_spaces(ink, reading) == "© 2026 Plotline"
    spaced = with_spaces(ink, reading)
    assert len(spaced.places) == len(spaced.text)
    assert list(spaced.places) == sorted(spaced.places)
    assert insert_spaces(ink, OcrResult(text, 0.9, (), ())) == text


@fonts_needed
def test_a_price_and_its_unit_are_two_texts() -> None:
    """Large figures and small words on one line: neither reaches into the other."""
    paper = Paper(300, 90)
    large = paper.text(20, 60, "$0", 44, "#1e1b4b", bold=True)
    end = 20 + round(large.advance("$0") * 44)
    small = paper.text(end + 5, 60, "/ month", 16, "#6b6894")
    pixels = load_screenshot(paper.png()).pixels
    far = end + 5 + round(small.advance("/ month") * 16)
    lines = [Rect(14, 22, end - 14 + 8, 46), Rect(end - 1, 44, far - end + 4, 22)]
    inks = find_ink(pixels, np.full_like(pixels, 255), lines)
    assert len(inks) == 2
    left, right = sorted(inks, key=lambda ink: ink.rect.x)
    assert left.rect.right <= end + 1
    assert right.rect.x >= end + 4
    assert right.rect.h < 20


@models_needed
def test_a_picture_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    detection_cache.clear_cache()
    paper = Paper(300, 120)
    paper.text(20, 60, "Only once", 24)
    first = detect_elements(paper.png())
    monkeypatch.setattr(detect, "find_text", None)
    assert detect_elements(paper.png()) is first
    monkeypatch.setattr(detection_cache, "CACHED", 1)
    monkeypatch.undo()
    detection_cache.clear_cache()
    again = detect_elements(paper.png())
    assert again is not first
    assert again == first


def test_equal_crops_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = 0

    def network(batch: NDArray[np.float32]) -> NDArray[np.float32]:
        nonlocal lines
        lines += len(batch)
        chances = np.zeros((len(batch), 6, 3), np.float32)
        chances[np.arange(len(batch)), 2, 1 + (batch[:, 0, 0, 0] > 0).astype(int)] = 1.0
        chances[:, :, 0] = 0.5
        return np.asarray(chances, np.float32)

    monkeypatch.setattr(models, "reading_network", lambda: network)
    monkeypatch.setattr(models, "characters", lambda: ["", "a", "b"])
    dark, light = np.zeros((20, 40, 3), np.uint8), np.full((20, 40, 3), 255, np.uint8)
    assert [reading.text for reading in ocr.read_lines([dark, light, dark.copy(), light, dark])] == list("ababa")
    assert lines == 2
