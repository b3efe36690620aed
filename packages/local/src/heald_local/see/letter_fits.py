"""Reads ink that is one character, of some that it may be."""

from heald_local.see.face_fits import Fit, fit_faces
from heald_local.see.ink import Ink
from heald_local.see.ocr import OcrResult
from heald_local.see.styled_lines import build_line
from heald_pictures.elements import TextLine

ALIKE = 0.93  # least likeness of ink to its character


def read_letter(ink: Ink, letters: str) -> TextLine | None:
    """Return the line of the most alike of these letters, in the face that draws it so; None if none is."""
    fits: list[tuple[float, str, Fit]] = []
    for letter in letters:
        fits += [(fit.likeness, letter, fit) for fit in fit_faces(ink, letter, spacing=False)[:1]]
    likeness, letter, fit = max(fits, key=lambda candidate: candidate[0], default=(0.0, "", None))
    return build_line(ink, OcrResult(letter, likeness, (), ()), fit) if fit is not None and likeness >= ALIKE else None
