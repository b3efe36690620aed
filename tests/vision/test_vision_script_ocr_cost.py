"""Spelling costs what it must: letters are drawn once, a word that comes again is not read again."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vision_drawing import face_of, ink_of

from weft.vision.elements import Rect
from weft.vision.see import fonts, glyphs, script_ocr
from weft.vision.see.fonts import MEASURED, Face, faces
from weft.vision.see.glyphs import CYRILLIC, HEBREW, STEPS, Alphabet, glyph_set
from weft.vision.see.ink import Ink
from weft.vision.see.script_ocr import ScriptReader, read_with_face

P = ParamSpec("P")
R = TypeVar("R")


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    kept = glyphs._cache.copy()  # pyright: ignore[reportPrivateUsage]
    glyphs._cache.clear()  # pyright: ignore[reportPrivateUsage]
    yield
    glyphs._cache.clear()  # pyright: ignore[reportPrivateUsage]
    glyphs._cache.update(kept)  # pyright: ignore[reportPrivateUsage]


def counted(work: Callable[P, R], count: Counter[str]) -> Callable[P, R]:
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        count["runs"] += 1
        return work(*args, **kwargs)

    return run


def test_letters_are_drawn_once_for_a_face_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: Counter[str] = Counter()
    monkeypatch.setattr(fonts, "_mark", counted(fonts._mark, drawn))  # pyright: ignore[reportPrivateUsage]
    face = face_of("sans")
    first = glyph_set(CYRILLIC, face, 17.0, 1.0)
    once = drawn["runs"]
    assert len(CYRILLIC.letters) <= once == len(first.letters) - 1  # the space is not drawn
    assert glyph_set(CYRILLIC, face, 17.0, 1.0) is first
    assert drawn["runs"] == once
    glyph_set(CYRILLIC, face, 18.0, 1.0)
    assert drawn["runs"] == 2 * once


def test_a_letter_in_its_case_looks_as_when_it_is_drawn_alone() -> None:
    face = face_of("sans")
    case = glyph_set(CYRILLIC, face, 17.0, 1.0)
    compared = 0
    for batch in case.batches:
        for number, phase, cover in zip(batch.letters, batch.phases, batch.covers, strict=True):
            letter = case.letters[int(number)]
            if letter == " " or face.missing(letter):
                continue
            alone, left, above = face.place(letter, 17.0, int(phase) / STEPS, 1.0)
            top, start = case.up - above, batch.lead + left
            part = cover[top : top + len(alone), start : start + alone.shape[1]]
            assert np.allclose(part, alone, atol=1e-6), letter
            assert float(cover.sum()) == pytest.approx(float(alone.sum()), rel=1e-4)
            compared += 1
    assert compared >= STEPS * len(CYRILLIC.letters)


def test_what_is_kept_of_drawn_letters_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    face = face_of("sans")
    one = glyph_set(HEBREW, face, 20.0, 1.0).size_in_bytes
    monkeypatch.setattr(glyphs, "CACHE_BYTES", 3 * one)
    for size in range(12, 32):
        glyph_set(HEBREW, face, float(size), 1.0)
        kept = glyphs._cache  # pyright: ignore[reportPrivateUsage]
        assert len(kept) == 1 or sum(case.size_in_bytes for case in kept.values()) <= 3 * one
    assert (HEBREW, face, 31.0, 1.0) in glyphs._cache  # pyright: ignore[reportPrivateUsage]


def test_the_price_of_a_letter_is_what_differs() -> None:
    face = face_of("sans")
    case = glyph_set(CYRILLIC, face, 14.0, 1.0)
    line = np.random.default_rng(3).random((case.up + case.down, 70), np.float32)
    energy = np.concatenate(([0.0], np.cumsum((line**2).sum(axis=0), dtype=np.float64)))
    table = glyphs._price_table(line, 0, energy, case)  # pyright: ignore[reportPrivateUsage]
    for batch in case.batches:
        for row in range(len(batch.letters)):
            before, wide = int(batch.before[row]), int(batch.wide[row])
            cover = batch.covers[row][:, batch.lead - before : batch.lead - before + wide]
            prices = table[batch.letters[row], batch.phases[row]]
            for column in (0, before, 20, 70 - wide + before, 70 - wide + before + 1, 69):
                start = column - before
                if start < 0 or start + wide > 70:
                    assert prices[column] == np.inf
                    continue
                wrong = float(((line[:, start : start + wide] - cover) ** 2).sum())
                assert prices[column] == pytest.approx(wrong + glyphs.LETTER_COST, abs=2e-3)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 25), min_size=1, max_size=6, unique=True),
    st.integers(12, 90),
    st.integers(0, 2**32 - 1),
    st.floats(0.3, 1.0),
)
def test_the_cheapest_method_is_the_one_of_a_plain_search(
    leaps: list[int], places: int, seed: int, part: float
) -> None:
    distances = np.array(sorted(leaps, reverse=True), np.intp)
    prices = np.random.default_rng(seed).random((len(distances), places))
    prices[prices > 0.9] = np.inf
    end = max(int(part * places), 1)
    cost, ways = glyphs._arrival_costs(distances, prices, end)  # pyright: ignore[reportPrivateUsage]
    free = (glyphs.MARGIN + 2) * STEPS
    plain = [0.0 if place < free else np.inf for place in range(places)]
    for place in range(min(end, places)):
        for row, leap in enumerate(distances):
            goal = place + int(leap)
            if free <= goal < places:
                plain[goal] = min(plain[goal], plain[place] + float(prices[row, place]))
    assert cost == pytest.approx(plain)
    for place in range(free, places):
        if np.isfinite(cost[place]):
            source = place - int(distances[ways[place]])
            assert cost[place] == pytest.approx(cost[source] + prices[ways[place], source])


def test_a_word_that_repeats_is_not_reread(monkeypatch: pytest.MonkeyPatch) -> None:
    face = face_of("sans")
    runs: Counter[str] = Counter()
    monkeypatch.setattr(script_ocr, "decode_line", counted(script_ocr.decode_line, runs))
    speller = ScriptReader((CYRILLIC,))
    word = ink_of(face, "Каталог", 20)
    first = speller.read_line(word)
    assert first is not None
    assert first.text == "Каталог"
    once = runs["runs"]
    assert once
    assert [speller.read_line(ink_of(face, "Каталог", 20)) for _ in range(5)] == [first] * 5
    assert runs["runs"] == once
    other = speller.read_line(ink_of(face, "Корзина", 20))
    assert other is not None
    assert other.text == "Корзина"
    assert once < runs["runs"] < 2 * once


def test_no_face_and_size_is_tried_twice_on_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    face = face_of("sans")
    tried: list[tuple[Alphabet, Face, float]] = []
    misfit = script_ocr._misfit  # pyright: ignore[reportPrivateUsage]

    def noted(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> float:
        tried.append((alphabet, face, size))
        return misfit(ink, alphabet, face, size)

    monkeypatch.setattr(script_ocr, "_misfit", noted)
    speller = ScriptReader((CYRILLIC,))
    for size in (20, 26, 21):
        tried.clear()
        speller.read_line(ink_of(face, "Новости дня", size))
        assert tried
        assert len(set(tried)) == len(tried)


def test_ink_that_only_spaces_explain_is_no_text() -> None:
    face = face_of("sans")
    cover = np.zeros((12, 60), np.float32)
    cover[[0, 6, 11], [0, 30, 59]] = 0.2
    ink = Ink(Rect(0, 0, 60, 12), cover, np.full(3, 255.0), np.zeros(3))
    assert read_with_face(ink, CYRILLIC, face, 14.0, bare=True) is None


@pytest.mark.parametrize(
    "text",
    ["Wafer, fjord and the Quay", "(j) and so on, and on (j)", "—", ". . . . . . . . . . . .", "AV To “yes” and fi"],
)
def test_the_edges_of_a_text_are_those_of_its_letters(text: str) -> None:
    for face in faces():
        if face.family in fonts.SPECIAL:
            continue
        drawn = fonts._edges(fonts._font(face.path, MEASURED), text)  # pyright: ignore[reportPrivateUsage]
        assert face.ink(text) == pytest.approx([edge / MEASURED for edge in drawn], abs=1.6 / MEASURED)
