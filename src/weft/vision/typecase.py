"""Every letter of an alphabet, drawn in one face and size, ready to be laid on a line: what `sequence` sets texts from.

All letters are drawn onto one strip, which is made smaller at once; each then lies in a batch of letters of like width,
so that one product of matrices compares all of them with a line. The cases used last are kept, up to `MOST_KEPT`.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision.alphabets import ARABIC_DIGITS, COMMON, Alphabet, joined_shapes
from weft.vision.fonts import FINE, Face, Mark
from weft.vision.fonts import face as nearest_face

STEPS = 2
"""Places per pixel where a letter may begin."""
MOST_KEPT = 48_000_000
"""Bytes of drawn letters that are kept: a page uses a few faces and sizes again and again."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Letters of like width, each at one phase between two pixels."""

    letters: NDArray[np.intp]
    """Their numbers in the case."""
    phases: NDArray[np.intp]
    before: NDArray[np.intp]
    """Columns left of the pen; all covers begin `lead` columns left of it, the most of them."""
    wide: NDArray[np.intp]
    """Columns in all, those before the pen too."""
    covers: NDArray[np.float32]
    """Letters × rows × columns."""
    ink: NDArray[np.float32]
    lead: int


@dataclass(frozen=True, slots=True)
class Case:
    """The letters in the order of how far they move the pen, and a space among them."""

    letters: tuple[str, ...]
    jumps: NDArray[np.intp]
    """In steps."""
    batches: tuple[Batch, ...]
    up: int
    down: int

    @property
    def reach(self) -> int:
        """Columns of the widest batch."""
        return max(batch.covers.shape[2] for batch in self.batches)

    @property
    def weight(self) -> int:
        return sum(batch.covers.nbytes for batch in self.batches)


def stand_in(lacking: Face) -> Face:
    """The face that a browser takes for letters that this one lacks."""
    return nearest_face("wide", lacking.bold)


def type_case(alphabet: Alphabet, face: Face, size: float, stretch: float) -> Case:
    """The case for this alphabet, face and size; `stretch` makes letters taller, as hinting does."""
    key = (alphabet, face, size, stretch)
    with _keeping:
        kept = _kept.get(key)
        if kept is not None:
            _kept.move_to_end(key)
            return kept
    made = _made(alphabet, face, size, stretch)
    with _keeping:
        _kept[key] = made
        while len(_kept) > 1 and sum(each.weight for each in _kept.values()) > MOST_KEPT:
            _kept.popitem(last=False)
    return made


_keeping = threading.Lock()
_kept: "OrderedDict[tuple[Alphabet, Face, float, float], Case]" = OrderedDict()


@dataclass(frozen=True, slots=True)
class _Cell:
    """A letter on the strip: where its pen is, in large pixels, and where its ink lies, counted from there.

    A space is not on it: its pen is 0.
    """

    letter: str
    advance: float
    pen: int = 0
    left: int = 0
    right: int = 0

    def columns(self, phase: int) -> tuple[int, int]:
        """How many before the pen and in all, if that is `phase` steps after a whole pixel."""
        if not self.pen:
            return 0, max(round(self.advance), 1)
        start = self.left + _shift(phase)
        left, right = start // FINE, -(-(start + self.right - self.left) // FINE)
        ahead = -(-int((self.advance + phase / STEPS) * 100) // 100)
        before = max(-left, 0)
        return before, max(ahead, right + before, 1) + before


def _shift(phase: int) -> int:
    return round(phase / STEPS * FINE)


def _made(alphabet: Alphabet, face: Face, size: float, stretch: float) -> Case:
    up, down = -(-int(face.ascent * size * 10) // 10) + 1, -(-int(face.descent * size * 10) // 10) + 1
    cells, strip = _strip(_marks(alphabet, face, size), up, down, stretch)
    cells.append(_Cell(" ", face.advance(" ") * size))
    jumps = np.array([max(round(cell.advance * STEPS), 1) for cell in cells], np.intp)
    order = np.argsort(jumps, kind="stable")
    ordered = [cells[int(number)] for number in order]
    batches = _batches(ordered, strip, max(round(size / 4), 3))
    return Case(tuple(cell.letter for cell in ordered), jumps[order], batches, up, down)


def _marks(alphabet: Alphabet, face: Face, size: float) -> list[tuple[str, float, Mark]]:
    """Each letter, how far it moves the pen, and drawn; what neither the face nor its stand-in has is left out."""
    shapes = {letter: letter for letter in alphabet.letters + COMMON}
    if alphabet.joined:
        shapes = joined_shapes(alphabet.letters)
        shapes.update({letter: letter for letter in COMMON + ARABIC_DIGITS})
    found: list[tuple[str, float, Mark]] = []
    for shape, letter in shapes.items():
        source = face if not face.missing(letter) else stand_in(face)
        if not source.missing(letter):
            found.append((letter, source.advance(shape) * size, source.mark(shape, size)))
    return found


def _strip(
    marks: Sequence[tuple[str, float, Mark]], up: int, down: int, stretch: float
) -> tuple[list[_Cell], NDArray[np.uint16]]:
    """All letters beside each other, `FINE` times as large; of each `FINE` rows the sum."""
    high, low = up * FINE, down * FINE
    cells: list[_Cell] = []
    at = FINE
    for letter, advance, mark in marks:
        pen = at + -(min(mark.left, 0) // FINE) * FINE
        cells.append(_Cell(letter, advance, pen, *mark.ink))
        at = pen + max(wide - before for before, wide in map(cells[-1].columns, range(STEPS))) * FINE
    at += FINE
    image = Image.new("L", (at, high + low))
    for cell, (_, _, mark) in zip(cells, marks, strict=True):
        mark.onto(image, cell.pen, high)
    if stretch != 1:
        box = (0, high - high / stretch, at, high + low / stretch)
        image = image.resize(image.size, Image.Resampling.BILINEAR, box)
    rows = np.asarray(image).reshape(up + down, FINE, at)
    return cells, rows.sum(axis=1, dtype=np.uint16)


def _batches(cells: Sequence[_Cell], strip: NDArray[np.uint16], like: int) -> tuple[Batch, ...]:
    """The letters at each phase, those whose widths are nearly the same together."""
    covers = [_reduced(strip, _shift(phase)) for phase in range(STEPS)]
    groups: dict[int, list[tuple[int, int, int, int]]] = {}
    for number, cell in enumerate(cells):
        for phase in range(STEPS):
            before, wide = cell.columns(phase)
            groups.setdefault(-(-wide // like), []).append((number, phase, before, wide))
    found: list[Batch] = []
    for members in groups.values():
        letters, phases, before, wide = np.array(members, np.intp).T
        lead = int(before.max())
        drawn = np.zeros((len(members), len(strip), lead + int((wide - before).max())), np.float32)
        for row, (number, phase, left, width) in enumerate(members):
            pen = cells[number].pen // FINE
            if pen:
                drawn[row, :, lead - left : lead - left + width] = covers[phase][:, pen - left : pen - left + width]
        ink = (drawn * drawn).sum(axis=(1, 2))
        found.append(Batch(letters, phases, before, wide, drawn, ink, lead))
    return tuple(found)


def _reduced(strip: NDArray[np.uint16], shift: int) -> NDArray[np.float32]:
    """The strip, moved to the right, at its real size: how dark each pixel is, 0 to 1."""
    moved = np.pad(strip, ((0, 0), (shift, FINE - shift)))
    columns = sum(moved[:, part : part - FINE or None : FINE] for part in range(FINE))
    return np.asarray(columns, np.float32) / np.float32(255 * FINE * FINE)
