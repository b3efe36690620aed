"""The columns of a line of code: all letters are as wide, so that it is known where each stands and which can."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heald_local.see.face_fits import likeness
from heald_local.see.ink import Ink
from heald_local.see.line_icons import crop_ink
from heald_pictures.fonts import Face
from heald_pictures.rect import spanning

LETTERS = tuple(map(chr, range(0x21, 0x7F)))
OFF = 1.4  # pixels by which the edges of a letter are off its place
OFF_COST = 0.04  # likeness that a pixel costs by which they are off: brackets and bars look much alike
EDGE = 0.8  # pixels by which a letter may reach over its column
ALIKE = 0.78  # least likeness of each letter
PHASES = 4  # parts of a pixel in which a letter may begin


@dataclass(frozen=True, slots=True)
class CodeGrid:
    """The columns of a line in one face, from the left, on a baseline."""

    face: Face
    size: float
    column: float  # the width of a column
    left: float
    baseline: float

    def columns(self, ink: Ink) -> tuple[int, int]:
        """Return the first and the last column of a piece of ink."""
        first = int((ink.rect.x + EDGE - self.left) // self.column)
        return first, int((ink.rect.right - EDGE - self.left) // self.column)

    def letter(self, ink: Ink, number: int, least: float = ALIKE) -> tuple[str, float] | None:
        """Return the letter of a column and its likeness, a space if that is empty; None if no letter is like it."""
        part = self.crop(ink, number)
        if part is None:
            return " ", 1.0
        letters = ((letter, self.likeness(part, number, letter)) for letter in LETTERS)
        best = max(letters, key=lambda candidate: candidate[1])
        return best if best[1] >= least else None

    def likeness(self, part: Ink, number: int, letter: str) -> float:
        """Return the likeness of the ink of a column to a letter, less what it is off; 0 if that is far."""
        exact, pen = part.exact, self._pen(number)
        left, top, right, bottom = (edge * self.size for edge in self.face.ink(letter))
        off = (
            exact.x - pen - left,
            exact.right - pen - right,
            exact.y - self.baseline - top,
            exact.bottom - self.baseline - bottom,
        )
        most = max(map(abs, off))
        if most > OFF:
            return 0.0
        alike = likeness(part.cover, _draw(self.face, letter, self.size, round(pen % 1 * PHASES) / PHASES))
        return alike - OFF_COST * most

    def crop(self, ink: Ink, number: int) -> Ink | None:
        """Return the ink of a column; None if there is none."""
        pen = self._pen(number)
        near, far = max(round(pen - EDGE), ink.rect.x), min(round(pen + self.column + EDGE), ink.rect.right)
        return crop_ink(ink, spanning((near, ink.rect.y, far, ink.rect.bottom))) if far > near else None

    def _pen(self, number: int) -> float:
        return self.left + number * self.column


@lru_cache(2000)
def _draw(face: Face, letter: str, size: float, phase: float) -> NDArray[np.float32]:
    return face.draw(letter, size, 0.0, phase)
