"""Scripts that the reader does not know (Cyrillic, Hebrew, Arabic), read by drawing: letters explain a line.

Every letter of an alphabet is drawn in a face and size; the cheapest sequence of letters that reproduces the line's ink
is found by dynamic programming over its columns. A result counts only if the whole line, drawn again, looks like the
picture; otherwise the line stays unread. Slower than the reader, so it is only asked about what that could not read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from weft.vision.alphabets import ALPHABETS, ARABIC_DIGITS, COMMON, Alphabet, joined_shapes, logical, pieces_of
from weft.vision.fonts import Face, faces
from weft.vision.fonts import face as nearest_face
from weft.vision.ink import Ink
from weft.vision.typeface import likeness

STEPS = 2
"""Places per pixel where a letter may begin."""
PATIENCE = 3
LETTER_COST = 0.12
"""What one more letter costs, in pixels of ink: without it noise would be spelt."""
CONFUSED = {"о": "б", "О": "б", "е": "ё", "и": "й", "ш": "щ", "Ш": "Щ", "ו": "ן", "ה": "ח"}
"""What is easily taken for what: the second has a stroke more."""
MARGIN = 3
STRETCHES = (1.0, 1.07)
"""Hinting makes letters a little taller, to whole pixels."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A line as explained: its text in the order of speech, the face and size it was drawn in, and the likeness."""

    text: str
    face: Face
    size: float
    likeness: float


@dataclass(frozen=True, slots=True)
class _Glyph:
    text: str
    cover: NDArray[np.float32]
    """Drawn within the line's height; its first column is `before` columns left of the pen."""
    before: int
    advance: float


class Speller:
    """Reads lines one after another and remembers in which face and size the last ones were.

    After a few lines that no alphabet explains it gives up: then the page is in none of them.
    """

    def __init__(self, alphabets: Sequence[Alphabet] = ALPHABETS) -> None:
        self._alphabets = alphabets
        self._known: list[tuple[Alphabet, Face, float]] = []
        self._failed = 0

    def spell(self, ink: Ink, least: float = 0.9) -> Spelling | None:
        """The line's text, None if nothing explains it well enough."""
        if self._failed >= PATIENCE and not self._known:
            return None
        tall = ink.exact.h
        near = [fact for fact in self._known if 0.45 * fact[2] <= tall <= 1.3 * fact[2]]
        best: Spelling | None = None
        for fact in [*sorted(near, key=lambda each: _misfit(ink, *each))[:3], *self._likely(ink)]:
            found = explain(ink, *fact)
            if found is None or (best is not None and found.likeness <= best.likeness):
                continue
            best = found
            if best.likeness >= least + 0.02:
                self._known = [fact, *(other for other in self._known if other != fact)][:12]
                return best
        if best is None or best.likeness < least:
            self._failed += 1
            return None
        return best

    def _likely(self, ink: Ink) -> Iterable[tuple[Alphabet, Face, float]]:
        """The two faces and sizes that explain the line's beginning best, of those that the page may use."""
        known = {(alphabet.name, face.family) for alphabet, face, _ in self._known}
        tries: dict[tuple[Alphabet, Face, float], float] = {}
        for bold in (False, True):
            for alphabet in self._alphabets:
                for face in _candidates(alphabet):
                    if face.bold == bold and (not known or (alphabet.name, face.family) in known):
                        tries.update({(alphabet, face, size): 1.0 for size in _sizes(ink.exact.h, alphabet)})
            for fact in tries:
                tries[fact] = min(tries[fact], _misfit(ink, *fact))
            if not known and tries and min(tries.values()) < 0.15:
                break
        for alphabet, face, size in sorted(tries, key=tries.__getitem__)[:3]:
            for near in (size - 1, size + 1, size - 2, size + 2):
                if (alphabet, face, near) not in tries and near >= 9:
                    tries[alphabet, face, near] = _misfit(ink, alphabet, face, near)
        yield from (fact for fact in sorted(tries, key=tries.__getitem__)[:3] if tries[fact] < 0.6)


def _misfit(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> float:
    """The part of the ink at the line's beginning that this face and size leave unexplained."""
    head = _head(ink)
    energy = float((head.cover**2).sum())
    baseline = _baselines(ink)[0]
    found = _decode(head, alphabet, face, size, baseline, 1.03)
    return found[0] / energy if found is not None and energy else 1.0


def _head(ink: Ink) -> Ink:
    """The first few letters, cut where a column is empty."""
    reach = round(5 * ink.exact.h)
    if ink.cover.shape[1] <= 1.3 * reach:
        return ink
    empty = np.flatnonzero(ink.cover[:, reach // 2 : reach].max(axis=0) < 0.1)
    end = reach // 2 + int(empty[-1]) if len(empty) else reach
    return replace(ink, cover=ink.cover[:, :end])


def _candidates(alphabet: Alphabet) -> list[Face]:
    return [face for family in alphabet.families for face in faces() if face.family == family and not face.italic]


def _sizes(tall: float, alphabet: Alphabet) -> list[float]:
    """Sizes that the height allows, an eighth apart."""
    least, most = (0.62, 1.3) if alphabet.joined else (0.55, 0.98)
    sizes = [max(round(tall / most), 10)]
    while sizes[-1] * 1.125 < min(tall / least, 60):
        sizes.append(max(round(sizes[-1] * 1.125), sizes[-1] + 1))
    return [float(size) for size in sizes]


def _has(text: str, letters: str) -> bool:
    return any(letter in letters for letter in text)


def explain(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> Spelling | None:
    """The cheapest spelling in this face and size, on the baseline and with the stretch that suit it."""
    best: tuple[float, str, float] | None = None
    energy = float((ink.cover**2).sum())
    for baseline in _baselines(ink):
        for stretch in STRETCHES:
            found = _decode(ink, alphabet, face, size, baseline, stretch)
            if found is not None and (best is None or found[0] < best[0]):
                best = (*found, stretch)
            if found is None or found[0] > 0.6 * energy or found[0] < 0.1 * energy:
                break
        if best is not None and best[0] < 0.4 * energy:
            break
    if best is None:
        return None
    spelt = max(
        (_redrawn(ink, text, face, size, best[2]) for text in _marked(best[1], alphabet)), key=lambda each: each[1]
    )
    if not _has(spelt[0], alphabet.letters):
        return None
    text, alike = spelt if alphabet.joined else _polished(ink, spelt, face, size)
    return Spelling(logical(text, alphabet), face, size, alike)


def _polished(ink: Ink, spelt: tuple[str, float], face: Face, size: float) -> tuple[str, float]:
    """Letters that differ by a stroke are tried against each other on the whole line."""
    best = spelt
    for place, letter in enumerate(spelt[0]):
        for other in CONFUSED.get(letter, ""):
            text = best[0][:place] + other + best[0][place + 1 :]
            tried = max((_redrawn(ink, text, face, size, stretch) for stretch in STRETCHES), key=lambda each: each[1])
            if tried[1] > best[1] + 0.0005:
                best = tried
    return best


def _redrawn(ink: Ink, text: str, face: Face, size: float, stretch: float) -> tuple[str, float]:
    """The text as read by sight, and how like the picture it is when drawn again."""
    drawn = _composed(face, text, size, stretch)
    if abs(drawn.shape[1] - ink.rect.w) > max(3, 0.03 * ink.rect.w):
        return text, 0.0
    return text, likeness(ink.cover, drawn)


def _composed(face: Face, text: str, size: float, stretch: float) -> NDArray[np.float32]:
    """The text drawn from left to right, letters that the face lacks in the one that stands in for it."""
    pen, top, bottom = 0.0, 1, 1
    pieces: list[tuple[NDArray[np.float32], int, int]] = []
    for lacking, letters in groupby(text, key=lambda letter: letter != " " and face.missing(letter)):
        run = _spoken("".join(letters))
        drawn = stand_in(face) if lacking else face
        cover, left, above = drawn.place(run, size, pen % 1, stretch)
        pieces.append((cover, int(pen) + left, above))
        top, bottom = max(top, above), max(bottom, len(cover) - above)
        pen += drawn.advance(run) * size
    first = min(left for _, left, _ in pieces)
    canvas = np.zeros((top + bottom, max(left + cover.shape[1] for cover, left, _ in pieces) - first), np.float32)
    for cover, left, above in pieces:
        part = canvas[top - above : top - above + len(cover), left - first : left - first + cover.shape[1]]
        np.maximum(part, cover, out=part)
    rows, columns = np.flatnonzero(canvas.any(axis=1)), np.flatnonzero(canvas.any(axis=0))
    return canvas[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) else canvas


def stand_in(lacking: Face) -> Face:
    """The face that a browser takes for letters that this one lacks."""
    return nearest_face("wide", lacking.bold)


def _spoken(text: str) -> str:
    """For drawing: leftward text in the order of speech."""
    leftward = any("\u0590" <= letter <= "\u06ff" for letter in text)
    return "".join(reversed(pieces_of(text))) if leftward else text


def _marked(text: str, alphabet: Alphabet) -> list[str]:
    """The text, and what it may be if a mark was taken for a second space: kerning hides commas from the search."""
    if "  " not in text:
        return [text]
    marks = (" ,", " .") if alphabet.leftward else (", ", ". ")
    return [*(text.replace("  ", mark) for mark in marks), text]


def _baselines(ink: Ink) -> list[int]:
    """Rows, counted within the ink, under which the ink drops most; the last row of the ink is always one."""
    dense = np.clip(ink.cover, 0, 1).sum(axis=1)
    drop = dense - np.concatenate((dense[1:], [0.0]))
    half = len(dense) // 2
    rows = [int(row) + half + 1 for row in np.argsort(-drop[half:])[:2]]
    return list(dict.fromkeys([*rows, len(dense)]))[:2]


def _decode(
    ink: Ink, alphabet: Alphabet, face: Face, size: float, baseline: int, stretch: float
) -> tuple[float, str] | None:
    up, down = -(-int(face.ascent * size * 10) // 10) + 1, -(-int(face.descent * size * 10) // 10) + 1
    height, width = up + down, ink.cover.shape[1]
    page = np.zeros((height, width + 2 * MARGIN + int(size)), np.float32)
    top = up - baseline
    rows = ink.cover[max(-top, 0) : height - top]
    page[max(top, 0) : max(top, 0) + len(rows), MARGIN : MARGIN + width] = rows
    cut_off = float((ink.cover**2).sum() - (rows**2).sum())
    glyphs = _glyphs(face, alphabet, size, up, down, stretch)
    energy = np.concatenate(([0.0], np.cumsum((page**2).sum(axis=0), dtype=np.float64)))
    table = _table(page, energy, glyphs)
    jumps = np.array([max(round(glyph[0].advance * STEPS), 1) for glyph in glyphs])
    order = np.argsort(jumps, kind="stable")
    finish, cost, came = _walk(table[order], jumps[order], (MARGIN + width) * STEPS, energy)
    if finish < 0:
        return None
    letters: list[str] = []
    at = finish
    while came[at, 0] >= 0:
        letters.append(glyphs[int(order[came[at, 1]])][0].text)
        at = int(came[at, 0])
    return cost + cut_off, "".join(reversed(letters)).strip(" ")


_SHIFTS = ((0, 0.0), (-1, 0.05), (1, 0.05), (-2, 0.25), (-3, 0.45), (-4, 0.6))
"""How far kerning and rounding may move a letter, and what that costs."""


def _walk(
    table: NDArray[np.float64], jumps: NDArray[np.intp], end: int, energy: NDArray[np.float64]
) -> tuple[int, float, NDArray[np.int64]]:
    """The cheapest way from the line's begin to its end; letters are ordered by how far they jump."""
    steps, groups = np.unique(jumps, return_index=True)
    ends = np.append(groups[1:], len(jumps))
    places = table.shape[1]
    cost = np.full(places, np.inf)
    came = np.full((places, 2), -1, np.int64)
    cost[: (MARGIN + 2) * STEPS] = 0.0
    cheapest = np.minimum.reduceat(table, groups, axis=0)
    leaps, prices, chosen = _leaps(steps, cheapest)
    for place in range(end):
        here = cost[place]
        if here == np.inf:
            continue
        fits_in = int(np.count_nonzero(leaps < places - place))
        goals, sums = place + leaps[:fits_in], here + prices[:fits_in, place]
        better = sums < cost[goals]
        goals = goals[better]
        cost[goals] = sums[better]
        came[goals, 0] = place
        came[goals, 1] = chosen[:fits_in, place][better]
    columns = np.minimum(np.arange(places, dtype=np.intp) // STEPS, len(energy) - 1)
    whole = cost + energy[-1] - energy[columns]
    whole[: end // 2] = np.inf
    finish = int(whole.argmin())
    if not np.isfinite(whole[finish]):
        return -1, 0.0, came
    at = finish
    while came[at, 0] >= 0:
        group = int(came[at, 1])
        part = table[groups[group] : ends[group], int(came[at, 0])]
        came[at, 1] = groups[group] + int(part.argmin())
        at = int(came[at, 0])
    return finish, float(whole[finish]), came


def _leaps(
    steps: NDArray[np.intp], cheapest: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """For each distance that a letter may cover, shifts included: its cost at each place, and its group."""
    ways: dict[int, list[tuple[int, float]]] = {}
    for group, step in enumerate(steps):
        for shift, extra in _SHIFTS:
            if step + shift > 0:
                ways.setdefault(int(step + shift), []).append((group, extra))
    leaps = np.array(sorted(ways), np.intp)
    prices = np.empty((len(leaps), cheapest.shape[1]))
    chosen = np.empty((len(leaps), cheapest.shape[1]), np.intp)
    for row, leap in enumerate(leaps):
        members = ways[int(leap)]
        sums = np.stack([cheapest[group] + extra for group, extra in members])
        best = sums.argmin(axis=0)
        prices[row] = sums[best, np.arange(sums.shape[1])]
        chosen[row] = np.array([group for group, _ in members])[best]
    return leaps, prices, chosen


def _table(
    page: NDArray[np.float32], energy: NDArray[np.float64], glyphs: list[tuple[_Glyph, ...]]
) -> NDArray[np.float64]:
    """For each letter and place, how much ink is wrong if it begins there."""
    columns = page.shape[1]
    table = np.full((len(glyphs), columns * STEPS), np.inf)
    by_width: dict[int, list[tuple[int, int, _Glyph]]] = {}
    for number, phases in enumerate(glyphs):
        for phase, glyph in enumerate(phases):
            by_width.setdefault(glyph.cover.shape[1], []).append((number, phase, glyph))
    for wide, members in by_width.items():
        if wide > columns:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(page, wide, axis=1)
        flat = np.ascontiguousarray(windows.transpose(1, 0, 2)).reshape(columns - wide + 1, -1)
        matches = flat @ np.stack([glyph.cover.ravel() for _, _, glyph in members], axis=1)
        present = energy[wide:] - energy[:-wide]
        for column, (number, phase, glyph) in enumerate(members):
            wrong = present - 2 * matches[:, column] + float((glyph.cover**2).sum()) + LETTER_COST
            fine = (np.arange(len(wrong)) + glyph.before) * STEPS + phase
            good = fine < table.shape[1]
            table[number, fine[good]] = wrong[good]
    return table


@lru_cache(maxsize=48)
def _glyphs(
    face: Face, alphabet: Alphabet, size: float, up: int, down: int, stretch: float
) -> list[tuple[_Glyph, ...]]:
    shapes: dict[str, str] = {letter: letter for letter in alphabet.letters + COMMON}
    if alphabet.joined:
        shapes = joined_shapes(alphabet.letters)
        shapes.update({letter: letter for letter in COMMON + ARABIC_DIGITS})
    found: list[tuple[_Glyph, ...]] = []
    for shape, letter in shapes.items():
        source = face if not face.missing(letter) else stand_in(face)
        if source.missing(letter):
            continue
        drawn = source.glyph(shape, size, stretch)
        advance = source.advance(shape) * size
        phases = [phase / STEPS for phase in range(STEPS)]
        found.append(tuple(_glyph(drawn(phase), letter, (up, down), phase, advance) for phase in phases))
    space = face.advance(" ") * size
    blank = np.zeros((up + down, max(round(space), 1)), np.float32)
    found.append(tuple(_Glyph(" ", blank, 0, space) for _ in range(STEPS)))
    return found


def _glyph(
    drawn: tuple[NDArray[np.float32], int, int], letter: str, line: tuple[int, int], phase: float, advance: float
) -> _Glyph:
    up, down = line
    cover, left, above = drawn
    wide = max(-(-int((advance + phase) * 100) // 100), left + cover.shape[1] - min(left, 0), 1)
    before = max(-left, 0)
    canvas = np.zeros((up + down, wide + before), np.float32)
    top = up - above
    rows = cover[max(-top, 0) : up + down - top]
    start = left + before
    canvas[max(top, 0) : max(top, 0) + len(rows), start : start + cover.shape[1]] = rows[:, : canvas.shape[1] - start]
    return _Glyph(letter, canvas, before, advance)
