"""Reads Cyrillic, Hebrew and Arabic lines by drawing candidates and comparing them with the ink."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from weft.vision.see.fonts import Face, faces, likeness
from weft.vision.see.glyphs import (
    ALPHABETS,
    Alphabet,
    decode_line,
    fallback_face,
    is_latin,
    split_runs,
    to_logical_order,
)
from weft.vision.see.ink import Ink

PATIENCE = 4  # unread lines after which reading stops; one less for lines of one height
MOST_TRIES = 240  # faces and sizes that are tried on one page
LEAST, LEAST_KNOWN, SURE = 0.9, 0.87, 0.9
"""Likeness of the first line, of lines on a page whose script is known, and of those after which nothing is tried."""
CONFUSED = {"Т": "Г", "Ґ": "Г", "о": "б", "О": "б", "е": "ё", "и": "й", "ш": "щ", "Ш": "Щ", "ו": "ן", "ה": "ח"}
"""Letters that differ by a stroke."""
SHOWN = 0.4  # the part of its possible gain in likeness that a stroke must reach
LATIN_GAIN = 0.005  # how much more alike a Latin word must be
MOST_SPACED = 0.08  # letter spacing, in ems
MOST_GAP = 0.15  # how far a space may differ, in ems: a browser draws it in the first font, letters in another
EXPLAINED = 0.13  # the part of a line's ink that may be wrong in the right face and size
STRETCHES = (1.0, 1.07)  # hinting makes letters a little taller, to whole pixels


FaceGuess = tuple[Alphabet, Face, float]  # a script, a face and a size that lines are in


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """A line as read: its text in logical order, its face and size, and the likeness."""

    text: str
    face: Face
    size: float
    likeness: float
    spacing: float = 0.0


@dataclass(frozen=True, slots=True)
class _Redrawn:
    """A text in visual order, drawn again: its likeness and its letter spacing."""

    text: str
    likeness: float
    spacing: float = 0.0


class ScriptReader:
    """Reads lines, and remembers the faces and sizes of the last ones.

    A line that looks like an earlier one is not read again. After a few lines that no alphabet explains the reader
    stops: the page is in none of its scripts.
    """

    def __init__(self, alphabets: Sequence[Alphabet] = ALPHABETS) -> None:
        self._alphabets = alphabets
        self._known: list[FaceGuess] = []
        self._results: dict[tuple[bytes, bool], ScriptLine] = {}
        self._failed: Counter[int] = Counter()
        self._tries = 0

    @property
    def knows_script(self) -> bool:
        return bool(self._known)

    def read_line(self, ink: Ink, bare: bool = False, latin: str = "") -> ScriptLine | None:
        """Read a line; None if nothing explains it well. `bare` text may consist of figures only.

        `latin` is the line as a reader of Latin has it: its words are tried where they look more alike.
        """
        if self._failed.total() >= PATIENCE and not self._known:
            return None
        look = np.round(15 * ink.cover).astype(np.uint8)
        key = repr(look.shape).encode() + look.tobytes(), bare
        found = self._results.get(key) or self._read_new(ink, bare, latin)
        if found is None:
            self._failed[round(ink.exact.h)] += 1
        else:
            self._results[key] = found
        return found

    def _read_new(self, ink: Ink, bare: bool, latin: str) -> ScriptLine | None:
        least = LEAST_KNOWN if self._known else LEAST
        tall = ink.exact.h
        misfit = cache(partial(_misfit, ink))
        near = [fact for fact in self._known if 0.45 * fact[2] <= tall <= 1.3 * fact[2]][:6]
        best: ScriptLine | None = None
        for fact in chain(sorted(near, key=lambda each: misfit(*each))[:2], self._likely_faces(ink, misfit)):
            found = read_with_face(ink, *fact, bare, latin)
            if found is None or (best is not None and found.likeness <= best.likeness):
                continue
            best = found
            if best.likeness >= SURE:
                self._known = [fact, *(other for other in self._known if other != fact)][:12]
                return best
        return best if best is not None and best.likeness >= least else None

    def _likely_faces(self, ink: Ink, misfit: Callable[[Alphabet, Face, float], float]) -> Iterable[FaceGuess]:
        """Yield the faces and sizes that explain the start of the line best."""
        tries: dict[FaceGuess, float] = {}
        if self._known and (self._failed[round(ink.exact.h)] >= PATIENCE - 1 or self._tries >= MOST_TRIES):
            return
        for alphabet, face in self._face_stages():
            if alphabet is None or face is None:
                if tries and min(tries.values()) < EXPLAINED:
                    break
                continue
            sizes = [size for size in _sizes(ink.exact.h, alphabet) if _fits_height(ink, alphabet, face, size)]
            tries.update({(alphabet, face, size): misfit(alphabet, face, size) for size in sizes})
        for alphabet, face, size in sorted(tries, key=tries.__getitem__)[:2]:
            for near in (size - 1, size + 1):
                if (alphabet, face, near) not in tries and near >= 9:
                    tries[alphabet, face, near] = misfit(alphabet, face, near)
        self._tries += len(tries)
        yield from (fact for fact in sorted(tries, key=tries.__getitem__)[:2] if tries[fact] < 0.5)

    def _face_stages(self) -> Iterable[tuple[Alphabet | None, Face | None]]:
        """Yield faces to try, likeliest first; a pair of None ends each stage."""
        known = {(alphabet.name, face.family) for alphabet, face, _ in self._known}
        for bold in (False, True):
            for first in (True, False):
                for alphabet in self._alphabets:
                    for face in [each for family in alphabet.families for each in faces() if each.family == family]:
                        early = face.family in alphabet.families[:2]
                        allowed = not face.italic and (not known or (alphabet.name, face.family) in known)
                        if face.bold == bold and early == first and allowed:
                            yield alphabet, face
                yield None, None


def _misfit(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> float:
    """Return the part of the ink at the start of the line that this face and size do not explain."""
    head = _line_start(ink)
    energy = float((head.cover**2).sum())
    baseline = _baselines(ink)[0]
    found = decode_line(head, alphabet, face, size, baseline, 1.0)
    return found[0] / energy if found is not None and energy else 1.0


def _line_start(ink: Ink) -> Ink:
    """Return the first few letters, cut at an empty column."""
    reach = round(5 * ink.exact.h)
    if ink.cover.shape[1] <= 1.3 * reach:
        return ink
    empty = np.flatnonzero(ink.cover[:, reach // 2 : reach].max(axis=0) < 0.1)
    end = reach // 2 + int(empty[-1]) if len(empty) else reach
    return replace(ink, cover=ink.cover[:, :end])


def _sizes(tall: float, alphabet: Alphabet) -> list[float]:
    """Return sizes that the height allows, an eighth apart."""
    least, most = (0.62, 1.3) if alphabet.joined else (0.55, 0.98)
    sizes = [max(round(tall / most), 10)]
    while sizes[-1] * 1.125 < min(tall / least, 60):
        sizes.append(max(round(sizes[-1] * 1.125), sizes[-1] + 1))
    return [float(size) for size in sizes]


def _fits_height(ink: Ink, alphabet: Alphabet, face: Face, size: float) -> bool:
    """Whether the dense rows of the line, from the baseline to the x-height, can be of this size."""
    if alphabet.joined:
        _, top, _, bottom = face.ink(alphabet.letters)
        tall = (bottom - top) * size
        return ink.rect.w < 6 * ink.rect.h or 0.68 * tall - 1 <= ink.exact.h <= 1.05 * tall + 1
    band = _dense_rows(ink.cover)
    small, large = _dense_heights(face, alphabet)
    return 0.86 * small * size - 1 <= band <= 1.16 * small * size + 1 or abs(band - large * size) <= 0.14 * band + 1


def _dense_rows(cover: NDArray[np.float32]) -> int:
    """Count the rows between the outermost dense ones."""
    dense = np.clip(cover, 0, 1).sum(axis=1)
    rows = np.flatnonzero(dense >= 0.45 * np.sort(dense)[-max(len(dense) // 4, 1) :].mean())
    return int(rows[-1] - rows[0] + 1)


@lru_cache(maxsize=64)
def _dense_heights(face: Face, alphabet: Alphabet) -> tuple[float, float]:
    """Return the height of the dense rows for all letters of a face, and for its capitals, in ems."""
    letters = [letter for letter in alphabet.letters if not face.missing(letter)]
    capitals = "".join(letter for letter in letters if letter.lower() != letter) or "".join(letters)
    small = "".join(letter for letter in letters if letter not in capitals) or capitals
    large = 40.0
    return _dense_rows(face.draw(small, large)) / large, _dense_rows(face.draw(capitals, large)) / large


def read_with_face(
    ink: Ink, alphabet: Alphabet, face: Face, size: float, bare: bool = False, latin: str = ""
) -> ScriptLine | None:
    """Read the cheapest text in this face and size, at the best baseline and stretch."""
    best: tuple[float, str, float] | None = None
    energy = float((ink.cover**2).sum())
    for baseline in _baselines(ink):
        for stretch in STRETCHES:
            found = decode_line(ink, alphabet, face, size, baseline, stretch)
            if found is not None and (best is None or found[0] < best[0]):
                best = (*found, stretch)
            if found is None or found[0] > 0.6 * energy or found[0] < 0.1 * energy:
                break
        if best is not None and best[0] < 0.4 * energy:
            break
    if best is None or not best[1]:
        return None
    tried = [
        _redraw(ink, text, face, size, best[2], not alphabet.joined)
        for text in _punctuation_variants(best[1], alphabet)
    ]
    spelt = max(tried, key=lambda each: each.likeness)
    if not bare and not any(letter in alphabet.letters for letter in spelt.text):
        return None
    if not alphabet.joined and spelt.likeness > 0.7:
        spelt = _resolve_confusions(ink, spelt, face, size)
    if not alphabet.leftward and latin and spelt.likeness > 0.6:
        spelt = _insert_latin(ink, spelt, face, size, latin)
    return ScriptLine(to_logical_order(spelt.text, alphabet), face, size, spelt.likeness, spelt.spacing)


def _resolve_confusions(ink: Ink, spelt: _Redrawn, face: Face, size: float) -> _Redrawn:
    """Try letters that differ by one stroke against each other, word by word."""
    if not any(letter in CONFUSED for letter in spelt.text):
        return spelt
    words = spelt.text.split(" ")
    for number, word in enumerate(words):
        part = _word_ink(ink, spelt, face, (len(" ".join(words[:number]) + " ") if number else 0, len(word)))
        if part is None:
            continue
        alike = cache(partial(_word_likeness, part, face, size, spelt.spacing))
        for place, letter in enumerate(word):
            for other in CONFUSED.get(letter, ""):
                tried = words[number][:place] + other + words[number][place + 1 :]
                stroke = abs(_energy(face, other, size) - _energy(face, letter, size))
                if SHOWN * stroke / max(float((part**2).sum()), 1.0) < alike(tried) - alike(words[number]):
                    words[number] = tried
    text = " ".join(words)
    if text == spelt.text:
        return spelt
    drawn = max((_redraw(ink, text, face, size, each, True) for each in STRETCHES), key=lambda each: each.likeness)
    return replace(drawn, likeness=max(drawn.likeness, spelt.likeness))


def _insert_latin(ink: Ink, spelt: _Redrawn, face: Face, size: float, latin: str) -> _Redrawn:
    """Replace words by those of the Latin reading at the same place that look more like the ink."""
    others = [word for word in latin.split() if is_latin(word)]
    best = spelt
    for number in range(len(spelt.text.split(" ")) if others else 0):
        words = best.text.split(" ")
        word = words[number]
        part = _word_ink(ink, best, face, (len(" ".join(words[:number]) + " ") if number else 0, len(word)))
        if part is None or not word:
            continue
        alike = cache(partial(_word_likeness, part, face, size, spelt.spacing))
        chosen = max(others, key=alike)
        if alike(chosen) <= alike(word) + LATIN_GAIN:
            continue
        text = " ".join([*words[:number], chosen, *words[number + 1 :]])
        drawn = max((_redraw(ink, text, face, size, each, True) for each in STRETCHES), key=lambda each: each.likeness)
        if drawn.likeness > best.likeness:
            best = drawn
    return best


def _word_ink(ink: Ink, spelt: _Redrawn, face: Face, span: tuple[int, int]) -> NDArray[np.float32] | None:
    """Return the ink of one word, up to the gaps around it."""
    start, length = span
    whole = face.advance(_drawing_order(spelt.text))
    scale = ink.cover.shape[1] / max(whole, 1e-3)
    before = face.advance(_drawing_order(spelt.text[:start])) if start else 0.0
    space = 0.5 * face.advance(" ")
    left = int(max((before - space) * scale, 0))
    right = int((before + face.advance(_drawing_order(spelt.text[start : start + length])) + space) * scale) + 1
    cut = ink.cover[:, left:right]
    if not cut.size or cut.max() <= 0.1:
        return None
    rows, columns = np.flatnonzero(cut.max(axis=1) > 0.1), np.flatnonzero(cut.max(axis=0) > 0.1)
    return cut[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _word_likeness(part: NDArray[np.float32], face: Face, size: float, spacing: float, word: str) -> float:
    return max(likeness(part, _compose(face, word, size, stretch, spacing)) for stretch in STRETCHES)


@lru_cache(maxsize=2000)
def _energy(face: Face, letter: str, size: float) -> float:
    return float((face.place(letter, size, 0.0, 1.0)[0] ** 2).sum())


def _redraw(ink: Ink, text: str, face: Face, size: float, stretch: float, spaced: bool) -> _Redrawn:
    """Draw the text again, with letter spacing if its width differs and `spaced` allows it."""
    drawn = _compose(face, text, size, stretch)
    lacking = ink.rect.w - drawn.shape[1]
    plain = likeness(ink.cover, drawn) if abs(lacking) <= max(3, 0.03 * ink.rect.w) else 0.0
    if plain and abs(lacking) < 2:
        return _Redrawn(text, plain)
    gap = lacking / max(text.count(" "), 1)
    if not spaced and " " in text and abs(gap) <= MOST_GAP * size:
        return _Redrawn(text, max(plain, likeness(ink.cover, _compose(face, text, size, stretch, gap=gap))))
    spacing = lacking / max(len(text) - 1, 1)
    if not spaced or len(text) < 4 or abs(spacing) > MOST_SPACED * size:
        return _Redrawn(text, plain)
    again = likeness(ink.cover, _compose(face, text, size, stretch, spacing))
    return _Redrawn(text, again, round(spacing, 2)) if again > plain + 0.01 else _Redrawn(text, plain)


def _compose(
    face: Face, text: str, size: float, stretch: float, spacing: float = 0.0, gap: float = 0.0
) -> NDArray[np.float32]:
    """Draw the text from left to right, missing letters in the fallback face; spaces are wider by `gap`."""
    pen, top, bottom = 0.0, 1, 1
    pieces: list[tuple[NDArray[np.float32], int, int]] = []
    words = [part for word in text.split(" ") for part in (" ", word) if part][1:] if gap else [text]
    for lacking, letters in (run for word in words for run in _runs(face, word, alone=bool(spacing))):
        if gap and letters == " ":
            pen += face.advance(" ") * size + gap
            continue
        run = _drawing_order(letters)
        drawn = fallback_face(face) if lacking else face
        place = drawn.place if len(run) > 1 else drawn.letter
        cover, left, above = place(run, size, pen % 1, stretch)
        pieces.append((cover, int(pen // 1) + left, above))
        top, bottom = max(top, above), max(bottom, len(cover) - above)
        pen += drawn.advance(run) * size + spacing
    first = min(left for _, left, _ in pieces)
    canvas = np.zeros((top + bottom, max(left + cover.shape[1] for cover, left, _ in pieces) - first), np.float32)
    for cover, left, above in pieces:
        part = canvas[top - above : top - above + len(cover), left - first : left - first + cover.shape[1]]
        np.maximum(part, cover, out=part)
    rows, columns = np.flatnonzero(canvas.any(axis=1)), np.flatnonzero(canvas.any(axis=0))
    return canvas[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) else canvas


def _runs(face: Face, text: str, alone: bool) -> list[tuple[bool, str]]:
    """Split into runs of letters that are drawn together: present in the face, or missing; or each letter alone."""
    if alone:
        return [(letter != " " and face.missing(letter), letter) for letter in text]
    runs = groupby(text, key=lambda letter: letter != " " and face.missing(letter))
    return [(lacking, "".join(letters)) for lacking, letters in runs]


def _drawing_order(text: str) -> str:
    """Return leftward text in logical order, as it is drawn."""
    leftward = any("\u0590" <= letter <= "\u06ff" for letter in text)
    return "".join(reversed(split_runs(text))) if leftward else text


def _punctuation_variants(text: str, alphabet: Alphabet) -> list[str]:
    """Return the text, and variants where kerning misleads: a comma read as a space, Г as two letters."""
    if "І " in text:
        return [text.replace("І ", "Г"), text]
    if "  " not in text:
        return [text]
    marks = (" ,", " .") if alphabet.leftward else (", ", ". ")
    return [*(text.replace("  ", mark) for mark in marks), text]


def _baselines(ink: Ink) -> list[int]:
    """Return rows under which the ink drops most; the last row is always one."""
    dense = np.clip(ink.cover, 0, 1).sum(axis=1)
    drop = dense - np.concatenate((dense[1:], [0.0]))
    half = len(dense) // 2
    rows = [int(row) + half + 1 for row in np.argsort(-drop[half:])[:2]]
    return list(dict.fromkeys([*rows, len(dense)]))[:2]
