"""Letters that are not icons, lines that are not letters, and lines of a list that are not a paragraph."""

from dataclasses import replace

import numpy as np
import pytest
from vision_drawing import Paper, face_of, ink_of

from heald_local.see.cut_icons import without_marks
from heald_local.see.ink_pieces import find_ink
from heald_local.see.line_fits import best_fit
from heald_local.see.line_icons import cut_icon
from heald_local.see.ocr import OcrResult
from heald_local.see.paragraphs import group_paragraphs
from heald_local.see.parts import FoundPart
from heald_local.see.styled_lines import style_lines
from heald_pictures.elements import TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels
from vision_pages import text


def _pixels(paper: Paper) -> Pixels:
    return np.asarray(paper.image)


def _reading(words: str, sure: float = 0.99) -> OcrResult:
    places = tuple(float(place) for place in np.linspace(0.04, 0.97, len(words)))
    return OcrResult(words, sure, (sure,) * len(words), places)


def test_a_letter_of_the_text_behind_a_line_is_not_part_of_the_line() -> None:
    ink = ink_of(face_of("sans"), "Boats in 1914", 18)
    [line] = style_lines([(ink, _reading("Boats in 1914 i"))]).lines
    assert line.text == "Boats in 1914"


def test_the_last_word_of_a_line_stays_though_it_is_one_letter() -> None:
    ink = ink_of(face_of("sans"), "Boats of class B", 18)
    [line] = style_lines([(ink, _reading("Boats of class B"))]).lines
    assert line.text == "Boats of class B"


@pytest.mark.parametrize(("end", "is_cut"), [(".", False), ("■", True)])
def test_a_full_stop_at_the_end_of_a_line_is_not_an_icon(end: str, is_cut: bool) -> None:
    paper = Paper(240, 60)
    paper.text(20, 40, "Harbour", 16, "#1f2937")
    side = 10 if is_cut else 3
    paper.box(86, 40 - side, side, side, "#1f2937")
    [ink] = find_ink(_pixels(paper), np.full_like(_pixels(paper), 255), [Rect(18, 24, 82, 20)])
    places = (*np.linspace(0.04, 0.75, 7), 0.97)
    reading = OcrResult(f"Harbour{end}", 0.95, (0.95,) * 8, tuple(float(place) for place in places))
    assert (cut_icon(ink, reading, 0.4, lambda part, words: best_fit(part, words, ())) is not None) == is_cut


def test_a_pale_line_behind_a_letter_is_not_part_of_it() -> None:
    paper = Paper(120, 60)
    paper.text(20, 40, "E", 16, "#1f2937")
    paper.box(36, 26, 1, 18, "#c8ccd2")
    blank = np.full_like(_pixels(paper), 255)
    [ink] = find_ink(_pixels(paper), blank, [Rect(18, 25, 22, 20)])
    assert ink.rect.right < 35


@pytest.mark.parametrize("sure", [0.65, 0.9])
def test_words_in_another_colour_are_not_an_icon_where_that_is_uncertain(sure: float) -> None:
    paper = Paper(240, 60)
    paper.text(20, 40, "Comments", 16, "#1f2937", bold=True)
    paper.text(108, 40, "(0)", 16, "#8a93a3")
    line = Rect(16, 22, 120, 26)
    [rect] = without_marks(_pixels(paper), [line], [FoundPart("icon", Rect(107, 27, 19, 18), sure)])
    assert (rect.right > 120) == (sure < 0.7)


@pytest.mark.parametrize(("colour", "is_cut"), [("#1f2937", False), ("#d97706", True)])
def test_round_letters_that_are_a_pixel_taller_than_the_words_beside_them_are_letters(
    colour: str, is_cut: bool
) -> None:
    paper = Paper(240, 60)
    paper.text(48, 40, "EH", 16, "#1f2937")
    paper.box(20, 28, 18, 13, colour)
    [rect] = without_marks(_pixels(paper), [Rect(16, 22, 60, 24)], [FoundPart("icon", Rect(19, 26, 20, 16), 0.9)])
    assert (rect.x > 30) == is_cut


def _column(*words: str, pitch: float = 22, size: float = 15) -> list[TextLine]:
    return [text(80, 100 + pitch * at, line, size).lines[0] for at, line in enumerate(words)]


def test_short_lines_that_each_begin_like_a_name_are_items() -> None:
    names = ("Pull the Oars!", "My Little Boat Sinks", "Tea with Greta", "Harbour Nights", "Anchor and Sail")
    assert [element.text for element in group_paragraphs(_column(*names))] == list(names)


def test_more_short_lines_are_items_even_if_none_leaves_room() -> None:
    names = ("Which boats sail", "Harbour masters", "Tidal tables", "Lighthouse keepers")
    assert [element.text for element in group_paragraphs(_column(*names, size=12, pitch=18))] == list(names)


def test_the_lines_of_a_menu_without_capitals_are_items() -> None:
    assert len(group_paragraphs(_column("about our boats", "brochure downloads", "home"))) == 3
    assert len(group_paragraphs(_column("about our boats", "brochure downloads", "harbours"))) == 1


def test_lines_of_a_loose_list_are_items_though_one_of_them_is_long() -> None:
    names = ("Harbour Administration", "Masts, Sails, and Instruments", "Crew Affairs", "Boats & Graduate Sailors")
    lines = _column(*names, size=16, pitch=29)
    assert [element.text for element in group_paragraphs(lines)] == list(names)
    prose = _column(
        "We have boats of all the kinds that float,", "from Norway and Denmark, and some", pitch=29, size=16
    )
    assert len(group_paragraphs(prose)) == 1


def test_a_copyright_sign_is_text_even_if_it_was_read_with_doubt() -> None:
    ink = ink_of(face_of("sans"), "©", 16)
    assert [line.text for line in style_lines([(ink, _reading("©", 0.75))]).lines] == ["©"]


def test_lines_of_prose_stay_one_paragraph() -> None:
    lines = _column("We have boats of all kinds,", "from Norway and Denmark, and", "Sweden has the rest of them.")
    assert len(group_paragraphs(lines)) == 1


def test_lines_in_capitals_are_not_items_by_their_capitals() -> None:
    lines = _column("BOATS OF ALL", "KINDS AND SIZES", "FOR SALE HERE")
    bold = [replace(line, style=replace(line.style, weight=700)) for line in lines]
    assert len(group_paragraphs(bold)) < 3
