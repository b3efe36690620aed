"""Draws the glyphs of an alphabet, and finds the cheapest sequence of them for a line."""

import re
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision.elements import Family
from weft.vision.see.fonts import FINE, Face, Mark
from weft.vision.see.fonts import face as nearest_face
from weft.vision.see.ink import Ink

COMMON = "0123456789.,:;!?()-–—«»\"'/%+&№₽₪©·•"  # digits and punctuation of every script


@dataclass(frozen=True, slots=True)
class Alphabet:
    name: str
    letters: str
    families: tuple[Family, ...]
    joined: bool = False  # letters change with their neighbours, as in Arabic
    leftward: bool = False


CYRILLIC = Alphabet(
    "Cyrillic",
    "".join(chr(code) for code in range(0x410, 0x450)) + "ЁёЇїІіЄєҐґ",
    ("sans", "system", "serif", "wide", "book", "broad"),
)
HEBREW = Alphabet("Hebrew", "".join(chr(code) for code in range(0x5D0, 0x5EB)), ("hebrew", "wide"), leftward=True)
ARABIC = Alphabet(
    "Arabic", "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءأإآؤئ", ("arabic", "naskh", "wide"), joined=True, leftward=True
)
ALPHABETS = (CYRILLIC, HEBREW, ARABIC)
ALIKE = dict(zip("ABCEHKMOPTXaceopxy", "АВСЕНКМОРТХасеорху", strict=True))
_INNER = re.compile("ן(?=[א-ת])")  # a final nun inside of a word is a vav, which looks like it
ARABIC_DIGITS = "٠١٢٣٤٥٦٧٨٩،؛؟"


def joined_shapes(letters: str) -> dict[str, str]:
    """Return each letter in its isolated, initial, medial and final form, and the joined lam-alef in visual order."""
    join = "\u200d"
    shapes: dict[str, str] = {}
    for letter in (*letters, "لا", "لأ", "لإ", "لآ"):
        for shape in (letter, letter + join, join + letter + join, join + letter):
            shapes[shape] = letter[::-1]
    return shapes


def to_logical_order(text: str, alphabet: Alphabet) -> str:
    """Reorder from visual to logical order, and replace look-alike letters of another script."""
    if not alphabet.leftward:
        words = [
            word if is_latin(word) else "".join(ALIKE.get(each, each) for each in word) for word in text.split(" ")
        ]
        return unicodedata.normalize("NFC", " ".join(word for word in words if word))
    turned = [*reversed(split_runs(text))]
    return " ".join(_INNER.sub("ו", word) for word in "".join(turned).split())


def is_latin(word: str) -> bool:
    """Whether a word is Latin: without a letter of another script, and not only of letters that both have."""
    return word.isascii() and any(letter.isalpha() and letter not in ALIKE for letter in word)


def split_runs(text: str) -> list[str]:
    """Split into letters, but keep numbers whole: they run to the right in every script."""
    pieces: list[str] = []
    for letter in text:
        number = letter.isdigit() or (letter in ".,:/%" and bool(pieces) and pieces[-1][-1:].isdigit())
        if number and pieces and pieces[-1][-1:].isdigit():
            pieces[-1] += letter
        else:
            pieces.append(letter)
    mirrored = str.maketrans("()«»", ")(»«")
    return [piece.translate(mirrored) for piece in pieces]


STEPS = 2  # places per pixel where a letter may begin
CACHE_BYTES = 48_000_000  # bytes of drawn letters that are kept: a page uses a few faces and sizes again and again


@dataclass(frozen=True, slots=True)
class GlyphBatch:
    """Glyphs of similar width, each at one phase between two pixels."""

    letters: NDArray[np.intp]  # their numbers in the case
    phases: NDArray[np.intp]
    before: NDArray[np.intp]  # columns left of the pen; all covers begin `lead` columns left of it, the most of them
    wide: NDArray[np.intp]  # columns in all, those before the pen too
    covers: NDArray[np.float32]  # letters × rows × columns
    ink: NDArray[np.float32]
    lead: int


@dataclass(frozen=True, slots=True)
class GlyphSet:
    """The glyphs of an alphabet in one face and size, sorted by advance, with a space."""

    letters: tuple[str, ...]
    jumps: NDArray[np.intp]  # in steps
    batches: tuple[GlyphBatch, ...]
    up: int
    down: int

    @property
    def reach(self) -> int:
        """Columns of the widest batch."""
        return max(batch.covers.shape[2] for batch in self.batches)

    @property
    def size_in_bytes(self) -> int:
        return sum(batch.covers.nbytes for batch in self.batches)


def fallback_face(lacking: Face) -> Face:
    """Return the face that a browser uses for letters that this one lacks."""
    return nearest_face("wide", lacking.bold)


def glyph_set(alphabet: Alphabet, face: Face, size: float, stretch: float) -> GlyphSet:
    """Return the cached glyph set; `stretch` makes letters taller, as hinting does."""
    key = (alphabet, face, size, stretch)
    with _cache_lock:
        cached = _cache.get(key)
        if cached is not None:
            _cache.move_to_end(key)
            return cached
    made = _draw_glyph_set(alphabet, face, size, stretch)
    with _cache_lock:
        _cache[key] = made
        while len(_cache) > 1 and sum(each.size_in_bytes for each in _cache.values()) > CACHE_BYTES:
            _cache.popitem(last=False)
    return made


_cache_lock = threading.Lock()
_cache: "OrderedDict[tuple[Alphabet, Face, float, float], GlyphSet]" = OrderedDict()


@dataclass(frozen=True, slots=True)
class _GlyphCell:
    """A glyph on the strip: its pen and its ink from there, in large pixels. A space has pen 0."""

    letter: str
    advance: float
    pen: int = 0
    left: int = 0
    right: int = 0

    def columns(self, phase: int) -> tuple[int, int]:
        """Return the columns before the pen and in all, with the pen `phase` steps after a whole pixel."""
        if not self.pen:
            return 0, max(round(self.advance), 1)
        start = self.left + _shift(phase)
        left, right = start // FINE, -(-(start + self.right - self.left) // FINE)
        ahead = -(-int((self.advance + phase / STEPS) * 100) // 100)
        before = max(-left, 0)
        return before, max(ahead, right + before, 1) + before


def _shift(phase: int) -> int:
    return round(phase / STEPS * FINE)


def _draw_glyph_set(alphabet: Alphabet, face: Face, size: float, stretch: float) -> GlyphSet:
    up, down = -(-int(face.ascent * size * 10) // 10) + 1, -(-int(face.descent * size * 10) // 10) + 1
    cells, strip = _draw_strip(_draw_marks(alphabet, face, size), up, down, stretch)
    cells.append(_GlyphCell(" ", face.advance(" ") * size))
    jumps = np.array([max(round(cell.advance * STEPS), 1) for cell in cells], np.intp)
    order = np.argsort(jumps, kind="stable")
    ordered = [cells[int(number)] for number in order]
    batches = _batches(ordered, strip, max(round(size / 4), 3))
    return GlyphSet(tuple(cell.letter for cell in ordered), jumps[order], batches, up, down)


def _draw_marks(alphabet: Alphabet, face: Face, size: float) -> list[tuple[str, float, Mark]]:
    """Draw each letter; letters that neither the face nor its fallback has are left out."""
    shapes = {letter: letter for letter in alphabet.letters + COMMON}
    if alphabet.joined:
        shapes = joined_shapes(alphabet.letters)
        shapes.update({letter: letter for letter in COMMON + ARABIC_DIGITS})
    found: list[tuple[str, float, Mark]] = []
    for shape, letter in shapes.items():
        source = face if not face.missing(letter) else fallback_face(face)
        if not source.missing(letter):
            found.append((letter, source.advance(shape) * size, source.mark(shape, size)))
    return found


def _draw_strip(
    marks: Sequence[tuple[str, float, Mark]], up: int, down: int, stretch: float
) -> tuple[list[_GlyphCell], NDArray[np.uint16]]:
    """Draw all letters side by side, `FINE` times as large, and sum each `FINE` rows."""
    high, low = up * FINE, down * FINE
    cells: list[_GlyphCell] = []
    at = FINE
    for letter, advance, mark in marks:
        pen = at + -(min(mark.left, 0) // FINE) * FINE
        cells.append(_GlyphCell(letter, advance, pen, *mark.ink))
        at = pen + max(wide - before for before, wide in map(cells[-1].columns, range(STEPS))) * FINE
    at += FINE
    image = Image.new("L", (at, high + low))
    for cell, (_, _, mark) in zip(cells, marks, strict=True):
        mark.draw_onto(image, cell.pen, high)
    if stretch != 1:
        box = (0, high - high / stretch, at, high + low / stretch)
        image = image.resize(image.size, Image.Resampling.BILINEAR, box)
    rows = np.asarray(image).reshape(up + down, FINE, at)
    return cells, rows.sum(axis=1, dtype=np.uint16)


def _batches(cells: Sequence[_GlyphCell], strip: NDArray[np.uint16], like: int) -> tuple[GlyphBatch, ...]:
    """Group the glyphs at each phase by similar width."""
    covers = [_reduce_strip(strip, _shift(phase)) for phase in range(STEPS)]
    groups: dict[int, list[tuple[int, int, int, int]]] = {}
    for number, cell in enumerate(cells):
        for phase in range(STEPS):
            before, wide = cell.columns(phase)
            groups.setdefault(-(-wide // like), []).append((number, phase, before, wide))
    found: list[GlyphBatch] = []
    for members in groups.values():
        letters, phases, before, wide = np.array(members, np.intp).T
        lead = int(before.max())
        drawn = np.zeros((len(members), len(strip), lead + int((wide - before).max())), np.float32)
        for row, (number, phase, left, width) in enumerate(members):
            pen = cells[number].pen // FINE
            if pen:
                drawn[row, :, lead - left : lead - left + width] = covers[phase][:, pen - left : pen - left + width]
        ink = (drawn * drawn).sum(axis=(1, 2))
        found.append(GlyphBatch(letters, phases, before, wide, drawn, ink, lead))
    return tuple(found)


def _reduce_strip(strip: NDArray[np.uint16], shift: int) -> NDArray[np.float32]:
    """Reduce the strip, shifted right, to its real size: the darkness of each pixel, 0 to 1."""
    moved = np.pad(strip, ((0, 0), (shift, FINE - shift)))
    columns = sum(moved[:, part : part - FINE or None : FINE] for part in range(FINE))
    return np.asarray(columns, np.float32) / np.float32(255 * FINE * FINE)


LETTER_COST = 0.12  # the cost of a letter, in pixels of ink, so that noise is not read as letters
MARGIN = 3
_START = (MARGIN + 2) * STEPS  # places before this one cost nothing to begin at
_SHIFTS = ((0, 0.0), (-1, 0.05), (1, 0.05), (-2, 0.25), (-3, 0.45), (-4, 0.6))  # by kerning or rounding, and the cost

Places = NDArray[np.intp]
Prices = NDArray[np.float64]


def decode_line(
    ink: Ink, alphabet: Alphabet, face: Face, size: float, baseline: int, stretch: float
) -> tuple[float, str] | None:
    """Find the cheapest sequence of letters, in visual order, and the pixels of ink that it leaves wrong."""
    case = glyph_set(alphabet, face, size, stretch)
    height, width = case.up + case.down, ink.cover.shape[1]
    top = case.up - baseline
    rows = ink.cover[max(-top, 0) : height - top]
    line = np.zeros((len(rows), width + 2 * MARGIN + int(size)), np.float32)
    line[:, MARGIN : MARGIN + width] = rows
    cut_off = float((ink.cover**2).sum() - (rows**2).sum())
    energy = np.concatenate(([0.0], np.cumsum((line**2).sum(axis=0), dtype=np.float64)))
    table = _price_table(line, max(top, 0), energy, case)
    found = _find_cheapest(table, case, (MARGIN + width) * STEPS, energy)
    return (found[0] + cut_off, found[1].strip(" ")) if found is not None else None


def _price_table(line: NDArray[np.float32], top: int, energy: Prices, case: GlyphSet) -> Prices:
    """Compute, for each letter, phase and column, the ink that is wrong if it begins there."""
    columns, reach = line.shape[1], case.reach
    table = np.empty((len(case.letters), STEPS, columns))
    padded = np.pad(line, ((0, 0), (reach, reach)))
    # The price is infinite if the letter would cross an end of the line.
    sums = np.concatenate((np.full(reach, -np.inf), energy, np.full(reach, np.inf)))
    present = np.lib.stride_tricks.sliding_window_view(sums, columns)
    for batch in case.batches:
        wide = batch.covers.shape[2]
        windows = np.lib.stride_tricks.sliding_window_view(padded, columns, axis=1)
        start = reach - batch.lead
        under = np.ascontiguousarray(windows[:, start : start + wide]).reshape(-1, columns)
        covers = batch.covers[:, top : top + len(line)].reshape(len(batch.letters), -1)
        ends = reach - batch.before
        wrong = present[ends + batch.wide] - present[ends]
        wrong -= 2 * (covers @ under)
        wrong += (batch.ink + LETTER_COST)[:, None]
        table[batch.letters, batch.phases] = wrong
    return table


def _find_cheapest(table: Prices, case: GlyphSet, end: int, energy: Prices) -> tuple[float, str] | None:
    """Find the cheapest path through the line: its price and its letters."""
    steps, groups = np.unique(case.jumps, return_index=True)
    cheapest = np.minimum.reduceat(table, groups, axis=0)
    cheapest = cheapest.transpose(0, 2, 1).reshape(len(groups), -1)
    leaps, prices, chosen = _merge_leaps(steps, cheapest)
    cost, ways = _arrival_costs(leaps, prices, end)
    columns = np.arange(len(cost), dtype=np.intp) // STEPS
    whole = cost + energy[-1] - energy[columns]
    whole[: end // 2] = np.inf
    finish = int(whole.argmin())
    if not np.isfinite(whole[finish]):
        return None
    bounds = np.append(groups, len(case.jumps))
    letters: list[str] = []
    at = finish
    while at >= _START:
        way = int(ways[at])
        at -= int(leaps[way])
        group = int(chosen[way, at])
        first, last = int(bounds[group]), int(bounds[group + 1])
        letters.append(case.letters[first + int(table[first:last, at % STEPS, at // STEPS].argmin())])
    return float(whole[finish]), "".join(reversed(letters))


def _merge_leaps(steps: Places, cheapest: Prices) -> tuple[Places, Prices, Places]:
    """Return for each advance, longest first, its price at each place, and its group of letters."""
    moved: Places = steps[:, None] + np.array([shift for shift, _ in _SHIFTS], np.intp)
    leaps: Places = np.unique(moved[moved > 0])[::-1]
    rows_of = {int(leap): row for row, leap in enumerate(leaps)}
    prices = np.full((len(leaps), cheapest.shape[1]), np.inf)
    chosen = np.zeros(prices.shape, np.intp)
    for column, (_, extra) in enumerate(_SHIFTS):
        groups = np.flatnonzero(moved[:, column] > 0)
        rows = np.array([rows_of[int(leap)] for leap in moved[groups, column]], np.intp)
        sums = cheapest[groups] + extra
        better = sums < prices[rows]
        prices[rows] = np.where(better, sums, prices[rows])
        chosen[rows] = np.where(better, groups[:, None], chosen[rows])
    return leaps, prices, chosen


def _arrival_costs(leaps: Places, prices: Prices, end: int) -> tuple[Prices, Places]:
    """Compute the cost to reach each place, and the leap that reaches it; from `end` on none begins.

    As many places as the shortest leap covers are computed at once: none is reached from another.
    """
    places = prices.shape[1]
    coming = np.full((places, len(leaps)), np.inf)
    for row, leap in enumerate(leaps):
        last = min(places - int(leap), end)
        if last > 0:
            coming[int(leap) : int(leap) + last, row] = prices[row, :last]
    sources = np.maximum(np.arange(places, dtype=np.intp)[:, None] - leaps, 0)
    cost = np.full(places, np.inf)
    cost[:_START] = 0.0
    ways = np.zeros(places, np.intp)
    shortest = int(leaps[-1])
    for at in range(_START, places, shortest):
        here = slice(at, min(at + shortest, places))
        sums = cost[sources[here]] + coming[here]
        ways[here] = best = sums.argmin(axis=1)
        cost[here] = sums[np.arange(len(best)), best]
    return cost, ways
