"""Pieces of a line: split at gaps that are wide for the height of the words themselves."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.see.ink_pieces import find_ink
from heald_pictures.colours import rgb_parts
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect

PAPER = "#fdfcfa"
pytestmark = pytest.mark.skipif(not any(face.path for face in faces()), reason="fonts are missing")


def _draw(*words: tuple[int, int, str, int, str]) -> list[Rect]:
    """Draw words at x and baseline in a size and a colour; return the pieces that are found in one line."""
    image = Image.new("RGB", (700, 60), PAPER)
    path = next(str(face.path) for face in faces() if face.family == "sans" and face.path and not face.bold)
    for x, baseline, text, size, colour in words:
        ImageDraw.Draw(image).text((x, baseline), text, colour, ImageFont.truetype(path, size), anchor="ls")
    pixels = np.asarray(image)
    page = np.empty_like(pixels)
    page[:] = rgb_parts(PAPER)
    return [ink.rect for ink in find_ink(pixels, page, [Rect(10, 12, 660, 32)])]


def test_links_beside_a_taller_name_are_split_by_their_own_height() -> None:
    links = [(180, 37, "Home", 15, "#292524"), (242, 37, "Prices", 15, "#292524"), (307, 37, "Help", 15, "#292524")]
    pieces = _draw((20, 38, "Jgbeam", 26, "#292524"), *links)
    assert [round(piece.x / 10) for piece in pieces] == [2, 18, 24, 31]


def test_a_dark_blue_link_within_a_black_line_is_a_piece_of_its_own() -> None:
    words = (20, 38, "The question of", 16, "#000000"), (134, 38, "Navity of God", 16, "#003366")
    pieces = _draw(*words, (236, 38, "is open", 16, "#000000"))
    assert [round(piece.x / 10) for piece in pieces] == [2, 14, 24]


def test_words_of_one_colour_whose_strokes_are_paler_are_one_piece() -> None:
    pieces = _draw((20, 38, "illumination", 16, "#003366"), (104, 38, "MMWWMM", 16, "#003366"))
    assert len(pieces) == 1


def test_paler_words_in_a_line_are_pieces_of_their_own_wherever_they_stand() -> None:
    dark, pale = "#2e2e2e", "#7a7a7a"
    words = [
        (20, "Why not", dark),
        (82, "write words", pale),
        (176, "or could you", dark),
        (274, "submit events", pale),
    ]
    pieces = _draw(*((x, 38, text, 16, colour) for x, text, colour in words))
    assert [round(piece.x / 10) for piece in pieces] == [2, 8, 18, 27]


def test_letters_between_signs_of_another_colour_are_one_piece() -> None:
    links = [(20 + 20 * number, 38, figure, 16, "#0066cc") for number, figure in enumerate("12345")]
    bars = [(33 + 20 * number, 38, "|", 16, "#c02000") for number in range(4)]
    (piece,) = _draw(*links, *bars)
    assert (round(piece.x / 10), round(piece.right / 10)) == (2, 11)


def test_a_linked_number_in_brackets_is_a_piece() -> None:
    pieces = _draw((20, 38, "[", 16, "#000000"), (27, 38, "2", 16, "#0066cc"), (36, 38, "]", 16, "#000000"))
    assert [(round(piece.x / 10), round(piece.right / 10)) for piece in pieces] == [(2, 4)]


def test_a_sign_of_another_colour_that_stands_apart_is_a_piece_of_its_own() -> None:
    pieces = _draw((20, 38, "[", 16, "#000000"), (26, 38, "2", 16, "#0066cc"), (37, 38, "]", 16, "#000000"))
    assert [round(piece.x / 10) for piece in pieces] == [2, 4]


def test_a_name_in_letters_of_several_colours_is_a_picture() -> None:
    colours = ("#4285f4", "#ea4335", "#fbbc05", "#34a853")
    assert not _draw(*((20 + 14 * number, 38, "GOOG"[number], 18, colour) for number, colour in enumerate(colours)))


@pytest.mark.parametrize("colour", ["#4488cc", "#c00000"])
def test_a_narrow_first_letter_belongs_to_its_word_and_not_to_the_sign_before(colour: str) -> None:
    pieces = _draw((20, 38, "/", 16, "#000000"), (29, 38, "Income", 16, colour))
    assert [round(piece.x / 10) for piece in pieces] == [2, 3]
