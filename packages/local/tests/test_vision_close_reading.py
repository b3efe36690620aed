"""Lines whose letters do not explain their ink are read a second time, at full width."""

from collections.abc import Sequence

from vision_drawing import face_of, ink_of

from heald_local.see.close_reading import PROBES, read_doubtful_lines
from heald_local.see.ink import Ink
from heald_local.see.line_marks import Piece
from heald_local.see.ocr import OcrResult
from heald_pictures.fonts import Face

WORDS = "wooden boats are sold here"


def _reading(text: str) -> OcrResult:
    return OcrResult(text, 0.99, (0.99,) * len(text), ())


def _read(face: Face, former: Sequence[str], closer: str) -> tuple[list[str], int]:
    """The texts of lines that all show `WORDS`, and how many were read closely."""
    pieces: list[Piece] = [(ink_of(face, WORDS, 16), _reading(text)) for text in former]
    asked: list[Ink] = []

    def read(inks: Sequence[Ink]) -> list[OcrResult]:
        asked.extend(inks)
        return [_reading(closer)] * len(inks)

    return [reading.text for _, reading in read_doubtful_lines(pieces, [face], read)], len(asked)


def test_a_line_without_some_of_its_letters_is_read_again() -> None:
    assert _read(face_of("sans"), ["woden boats are sld here"], WORDS) == ([WORDS], 1)


def test_a_line_that_its_letters_explain_and_a_short_one_are_not_read_again() -> None:
    assert _read(face_of("sans"), [WORDS], "other words") == ([WORDS], 0)
    assert _read(face_of("sans"), ["boats"], WORDS) == (["boats"], 0)


def test_a_closer_reading_that_looks_less_like_the_ink_is_not_used() -> None:
    assert _read(face_of("sans"), ["woden boats are sld here"], "w b a s h e r") == (["woden boats are sld here"], 1)


def test_the_other_doubtful_lines_are_read_only_if_one_of_the_first_had_other_letters() -> None:
    count = PROBES + 4
    missing = ["woden boats are sld here"] * count
    assert _read(face_of("sans"), missing, WORDS) == ([WORDS] * count, count)
    assert _read(face_of("sans"), missing, missing[0]) == (missing, PROBES)
