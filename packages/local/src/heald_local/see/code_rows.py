"""Reads blocks of code anew, column by column, where words in several colours stand on a row.

Words in colours are pieces of their own, and a sign between two of them is hardly a piece at all. But all letters of a
block stand in columns of one width. So the pieces are put into their columns, and what stands in the others is compared
with all letters that can stand there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from heald_local.see.code_grid import CodeGrid
from heald_local.see.face_fits import likeness
from heald_local.see.font_weights import BOLD, LEAST_BOLD, REGULAR
from heald_local.see.ink import FAINT, Ink, extract_ink
from heald_local.see.paragraphs import CODE, group_paragraphs
from heald_local.see.pixel_units import LIGHTEST
from heald_pictures.colours import hex_colour, rgb_parts
from heald_pictures.elements import Box, PictureElement, TextElement, TextLine, TextStyle
from heald_pictures.fonts import Face, face, faces
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Pixels, distance_between, largest_channel

FEWEST_LETTERS = 6  # of a piece that shows the columns
MOSTLY = 0.6  # the part of the letters in a box that are code, at least
LEAST_LIKE = 0.8  # likeness of a piece that shows the columns, and of one whose likeness is not measured
OFF_COLUMN, ON_GRID = 0.3, 0.8  # columns that a piece may be off, and the part of all pieces that are not
OFF_ROW, CLOSEST = 1.6, 0.9  # pixels by which a baseline is off its row, and ems between two rows, at least
ABOVE, BELOW = 0.95, 0.32  # ems above and below a baseline in which its letters stand
INSIDE = 1  # pixels within the sides of a box that belong to its edge
DARK, DARK_PART, DARK_QUANTILE = 18.0, 0.12, 0.995  # levels and parts of the strongest ink that a pixel differs by
STRONG = 0.8  # the part of the strongest difference that shows the colour of a letter
EDGE = 0.9  # pixels by which a letter may reach into the next column
SHIFTS = (0, -1, 1)  # pixels by which the baseline of a row may be off
SURE, SURE_LETTERS = 0.9, 3  # how sure and how long a reading is whose usual letters are not compared
USUAL = frozenset(map(chr, range(0x21, 0x7F))) - frozenset("Il1|0OoSsCcVvWwXxZz.,'`")
LETTER_LIKE = 0.72  # least likeness of a letter: its neighbours are code, so that it is one
CERTAIN = 0.9  # likeness of a letter that was read, from which on no other one is tried
BETTER = 0.05  # likeness by which another letter must be better than the one that was read
NEAR_COLOUR, OFF_COLOUR = 24.0, 48.0  # levels by which a letter is off a colour of its neighbours, and of the block
PALE = 0.5  # the part of a colour that thin strokes show of it, at least
WIDEST_SPACE = 2  # columns without letters within a piece
CLEAR, BETTER_STYLE = 0.96, 0.02  # likeness of a plain piece, and by which another weight or slant must be better
STYLED = 2  # letters and figures of a piece that shows these
ROOM, COVERED = 3, 0.8  # pixels around a row, and the part of a picture from which on it is of letters on such rows

Letters = dict[int, str]  # by their columns


def read_code_rows(
    pixels: Pixels,
    page: Pixels,
    boxes: Sequence[Box],
    texts: Sequence[TextElement],
    pictures: Sequence[PictureElement],
) -> tuple[list[TextElement], list[PictureElement]]:
    """Return the texts with the rows of code that were read anew, and the pictures without what is a part of these."""
    lines = [line for text in texts for line in text.lines]
    code = [line for line in lines if _shows_columns(line)]
    rows: list[TextLine] = []
    places: list[Rect] = []
    for box in sorted(boxes, key=lambda box: box.rect.area):
        if not any(box.rect.holds(line.ink) for line in code) or any(box.rect.holds(row) for row in places):
            continue
        signs = [picture.rect for picture in pictures if box.rect.holds(picture.rect)]
        block = _find_block(box.rect, [line for line in lines if box.rect.holds(line.ink)], signs)
        for row in block.read(pixels, page) if block is not None else ():
            rows += row
            places.append(hull(line.ink for line in row).grown(ROOM))
    if not rows:
        return list(texts), list(pictures)
    others = [line for line in lines if not any(place.holds(line.ink) for place in places)]
    apart = [picture for picture in pictures if not _is_covered(picture.rect, places)]
    return group_paragraphs([*others, *rows]), apart


def _shows_columns(line: TextLine) -> bool:
    is_long = len(line.text) >= FEWEST_LETTERS
    return is_long and line.style.family in CODE and line.likeness >= LEAST_LIKE and not line.style.spacing


def _is_covered(rect: Rect, places: Sequence[Rect]) -> bool:
    return sum(place.common(rect) for place in places) > COVERED * rect.area


def _find_block(place: Rect, lines: Sequence[TextLine], signs: Sequence[Rect]) -> "_Block | None":
    """Return the block of code in a box; None if most of its text is none, or if no row of it is in doubt."""
    letters: Counter[str] = Counter()
    for line in lines:
        letters[line.style.family] += len(line.text)
    if sum(letters[family] for family in CODE) < MOSTLY * letters.total():
        return None
    family = max((line.style.family for line in lines if _shows_columns(line)), key=lambda name: letters[name])
    pieces = [line for line in lines if _shows_columns(line) and line.style.family == family]
    drawn = face(family)
    column, left = _find_columns(pieces)
    if not column:
        return None
    baselines = _find_baselines(place, sorted(line.baseline for line in pieces), column / drawn.advance("0"))
    block = _Block(place, drawn, column, left, tuple(baselines), tuple(lines), tuple(signs))
    return block if any(map(block.is_doubtful, baselines)) else None


def _find_columns(lines: Sequence[TextLine]) -> tuple[float, float]:
    """Return the width of the columns and the left edge of the first; zeros if the lines stand in none."""
    column = median(line.rect.w / len(line.text) for line in lines for _ in line.text)
    left = min(line.rect.x for line in lines)
    ends = [end for line in lines for end in (line.rect.x, line.rect.right)]
    for _ in range(2):
        numbers = np.array([round((end - left) / column) for end in ends], np.float64)
        near = np.abs(np.array(ends) - left - numbers * column) <= OFF_COLUMN * column
        if near.mean() < ON_GRID:
            return 0.0, 0.0
        column, left = (float(value) for value in np.polyfit(numbers[near], np.array(ends)[near], 1))
    return column, left


def _find_baselines(place: Rect, baselines: Sequence[float], size: float) -> list[float]:
    """Return the baselines of all rows in a box, which stand at even distances; none if these do not."""
    rows = [[baselines[0]]]
    for baseline in baselines[1:]:
        if baseline - rows[-1][0] > OFF_ROW:
            rows.append([])
        rows[-1].append(baseline)
    levels = np.array([median(row) for row in rows])
    if len(levels) == 1:
        return [float(levels[0])]
    closest = float(np.diff(levels).min())
    if closest < CLOSEST * size:
        return []
    numbers = np.concatenate(([0.0], np.cumsum(np.round(np.diff(levels) / closest))))
    step, first = (float(value) for value in np.polyfit(numbers, levels, 1))
    if float(np.abs(first + numbers * step - levels).max()) > OFF_ROW:
        return []
    above = int((first - place.y - ABOVE * size) / step)
    below = int((place.bottom - BELOW * size - first) / step)
    return [float(round(first + number * step)) for number in range(-above, below + 1)]


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of code: its columns, its rows, and what was read in it and what was not."""

    place: Rect
    face: Face
    column: float  # the width of a column
    left: float
    baselines: tuple[float, ...]
    lines: tuple[TextLine, ...]
    signs: tuple[Rect, ...]

    @property
    def size(self) -> float:
        return round(self.column / self.face.advance("0"), 1)

    def is_doubtful(self, baseline: float) -> bool:
        """Whether a row has several pieces, signs that were not read, or words in another typeface."""
        pieces = self._on_row(baseline)
        is_other = any(line.style.family not in CODE for line in pieces)
        return len(pieces) > 1 or is_other or any(self._is_on(rect, baseline) for rect in self.signs)

    def read(self, pixels: Pixels, page: Pixels) -> list[list[TextLine]]:
        """Return the pieces of each row that could be read whole, one for each change of colour."""
        rows = [_Row(self, baseline, tuple(self._on_row(baseline))) for baseline in self.baselines]
        return [row_lines for row in rows if (row_lines := row.read(pixels, page))]

    def band(self, baseline: float) -> Rect:
        """Return the place of a row."""
        steps = [lower - upper for upper, lower in pairwise(self.baselines)]
        low = baseline + BELOW * self.size
        high = max(baseline - ABOVE * self.size, low - min(steps, default=self.place.h))
        inner = self.place.grown(-INSIDE)
        return spanning((inner.x, max(high, inner.y), inner.right, min(low, inner.bottom)))

    def _on_row(self, baseline: float) -> list[TextLine]:
        return [line for line in self.lines if self._is_on(line.ink, baseline)]

    def _is_on(self, rect: Rect, baseline: float) -> bool:
        band = self.band(baseline)
        return band.y <= rect.middle[1] < band.bottom


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a block, with the pieces that were read on it."""

    block: _Block
    baseline: float
    pieces: tuple[TextLine, ...]

    def read(self, pixels: Pixels, page: Pixels) -> list[TextLine]:
        """Return the pieces of the row by their colours; none if a letter is unlike all others."""
        inks = self._find_inks(pixels, page)
        by_shift = (self._read_columns(inks, self.baseline + shift) for shift in SHIFTS if inks)
        letters = next((letters for letters in by_shift if letters), None)
        if letters is None:
            return []
        colours = self._find_colours(inks)
        return [self._as_line(pixels, page, run, letters, colours) for run in _split_runs(sorted(letters), colours)]

    def _find_inks(self, pixels: Pixels, page: Pixels) -> dict[int, Ink]:
        """Return the ink of each column that has some; none if that of a column is no letter in one colour."""
        band, column, left = self.block.band(self.baseline), self.block.column, self.block.left
        x, high, low = int(band.x), round(band.y), round(band.bottom)
        change = distance_between(pixels[high:low, x : int(band.right)], page[high:low, x : int(band.right)])
        if not change.size:
            return {}
        dark = np.flatnonzero((change > max(DARK, DARK_PART * float(np.quantile(change, DARK_QUANTILE)))).any(axis=0))
        across = dark + x + 0.5 - left
        within = across % column
        inner = (within >= EDGE) & (within <= column - EDGE)
        inks: dict[int, Ink] = {}
        for number in sorted(set((across[inner] // column).astype(int).tolist())):
            near, far = (round(left + edge * column) for edge in (number, number + 1))
            ink = _extract_letter(pixels, page, spanning((near, high, far, low)))
            if ink is None:
                return {}
            inks[number] = ink
        return inks

    def _read_columns(self, inks: Mapping[int, Ink], baseline: float) -> Letters | None:
        """Return the letters of the columns; None if one cannot be read."""
        block = self.block
        plain = CodeGrid(block.face, block.size, block.column, block.left, baseline)
        letters: Letters = {}
        certain: set[int] = set()
        for piece in sorted(self.pieces, key=lambda piece: piece.sure):
            words = piece.text.replace(" ", "")
            columns = [number for number, ink in inks.items() if _is_in(ink.rect, piece.ink)]
            if len(words) != len(columns):
                continue
            letters |= dict(zip(columns, words, strict=True))
            if piece.sure < SURE or len(words) < SURE_LETTERS:
                continue
            grid = replace(plain, face=face(block.face.family, piece.style.weight >= LEAST_BOLD))
            for number in columns:  # slanted letters reach into the next column
                is_usual = piece.style.italic or letters[number] in USUAL
                letters[number] = (not is_usual and _compare(grid, inks[number], number, letters[number])) or letters[
                    number
                ]
            certain |= set(columns)
        for number in inks.keys() - certain:
            letter = _compare(plain, inks[number], number, letters.get(number))
            if letter is None:
                return None
            letters[number] = letter
        return letters

    def _find_colours(self, inks: Mapping[int, Ink]) -> dict[int, str]:
        """Return the colour of each column: thin strokes have that of the letters beside them, if they may."""
        usual = Counter(line.style.colour for line in self.block.lines for _ in line.text)
        colours: dict[int, str] = {}
        for number, ink in inks.items():
            beside = [piece.style.colour for piece in self.pieces if _is_in(ink.rect, piece.ink)]
            beside += [colours[number - 1]] if number - 1 in colours else []
            near = next((colour for colour in beside if _is_colour(ink, colour, NEAR_COLOUR)), None)
            if near is None:
                near = min(usual, key=lambda colour: _off_colour(ink, colour))
                near = near if _is_colour(ink, near, OFF_COLOUR) else hex_colour(ink.colour)
            colours[number] = near
        return colours

    def _as_line(
        self, pixels: Pixels, page: Pixels, run: Sequence[int], letters: Letters, colours: Mapping[int, str]
    ) -> TextLine:
        block, first = self.block, run[0]
        text = "".join(letters.get(number, " ") for number in range(first, run[-1] + 1))
        left, width = block.left + first * block.column, len(text) * block.column
        band = block.band(self.baseline)
        ink = extract_ink(pixels, page, spanning((round(left), round(band.y), round(left + width), round(band.bottom))))
        drawn, alike = (
            _find_style(ink, text, block.face, block.size, left) if ink is not None else (block.face, LEAST_LIKE)
        )
        ascent, descent = round(drawn.ascent * block.size), round(drawn.descent * block.size)
        rect = Rect(left, self.baseline - ascent, width, ascent + descent)
        weight = BOLD if drawn.bold else REGULAR
        underline = any(piece.style.underline and _is_in(piece.ink, rect) for piece in self.pieces)
        style = TextStyle(drawn.family, block.size, weight, drawn.italic, colours[first], underline=underline)
        sure = min((piece.sure for piece in self.pieces if piece.ink.common(rect)), default=LEAST_LIKE)
        return TextLine(text, ink.rect if ink is not None else rect, rect, style, self.baseline, sure, alike)


def _compare(grid: CodeGrid, ink: Ink, number: int, read: str | None) -> str | None:
    """Return the letter that the ink of a column is most like, which may be the one that was read there."""
    alike = grid.likeness(ink, number, read) if read is not None else 0.0
    if alike >= CERTAIN:
        return read
    best = grid.letter(ink, number, LETTER_LIKE)
    if alike >= LETTER_LIKE and (best is None or alike + BETTER >= best[1]):
        return read
    return best[0] if best is not None else None


def _extract_letter(pixels: Pixels, page: Pixels, place: Rect) -> Ink | None:
    """Extract the ink in a column, without what reaches into it of a letter in another colour.

    None if nothing is left: the column is too narrow, or several colours share it, such as in a picture.
    """
    x, high, far, low = int(place.x), int(place.y), int(place.right), int(place.bottom)
    paper = np.median(page[high:low, x:far], axis=(0, 1))
    change = pixels[high:low, x:far].astype(np.float64) - page[high:low, x:far]
    strength = largest_channel(np.abs(change))
    inner = strength[:, 1:-1]
    if not inner.size:
        return None
    direction = np.median(change[:, 1:-1][inner >= STRONG * inner.max()], axis=0)
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    cover[largest_channel(np.abs(change - cover[:, :, None] * direction)) > OFF_COLOUR] = 0
    rows, columns = (np.flatnonzero((cover > FAINT).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return None
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    letter = spanning((x + left, high + top, x + right, high + bottom))
    return Ink(letter, cover[top:bottom, left:right].astype(np.float32), paper, np.clip(paper + direction, 0, LIGHTEST))


def _is_in(ink: Rect, piece: Rect) -> bool:
    return piece.x <= ink.middle[0] <= piece.right


def _split_runs(columns: Sequence[int], colours: Mapping[int, str]) -> Iterator[list[int]]:
    """Yield the columns of each piece: those of one colour without a wide space."""
    run: list[int] = []
    for number in columns:
        if run and (colours[number] != colours[run[-1]] or number - run[-1] > WIDEST_SPACE):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _colour_change(ink: Ink, colour: str) -> tuple[float, NDArray[np.float64]]:
    """Return how strong ink is in a colour, and what remains of it without that."""
    change, whole = ink.colour - ink.paper, np.array(rgb_parts(colour)) - ink.paper
    strength = min(float(change @ whole) / max(float(whole @ whole), 1.0), 1.0)
    return strength, change - strength * whole


def _off_colour(ink: Ink, colour: str) -> float:
    return float(np.abs(_colour_change(ink, colour)[1]).max())


def _is_colour(ink: Ink, colour: str, most: float) -> bool:
    strength, rest = _colour_change(ink, colour)
    return strength >= PALE and float(np.abs(rest).max()) <= most


def _find_style(ink: Ink, text: str, plain: Face, size: float, pen: float) -> tuple[Face, float]:
    """Return the weight and slant of a piece: the plain one, unless another is clearly more like it."""
    best, alike = plain, likeness(ink.cover, plain.draw(text, size, 0.0, pen % 1))
    if alike >= CLEAR or sum(map(str.isalnum, text)) < STYLED:
        return best, alike
    least = alike + BETTER_STYLE
    for other in faces():
        if other.family == plain.family and other != plain:
            other_alike = likeness(ink.cover, other.draw(text, size, 0.0, pen % 1))
            if other_alike >= max(least, alike):
                best, alike = other, other_alike
    return best, alike
