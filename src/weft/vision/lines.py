"""Readings become lines in a style: every piece of ink gets a face, a size and a colour, agreed upon across the page.

Faces are tried on a sample of lines first; what the page clearly uses is then tried alone on the rest. A text that does
not look like its own reading is not trusted: it is kept as a picture.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.vision.blas import one_thread
from weft.vision.colours import css, distance
from weft.vision.fonts import Face, faces, needs_wide
from weft.vision.geometry import Rect
from weft.vision.ink import Ink
from weft.vision.letters import Speller, Spelling
from weft.vision.parting import squarish
from weft.vision.reader import Reading
from weft.vision.seen import Line, TextStyle
from weft.vision.typeface import Fit, fits, vote

SAMPLE = 18
MOST_SPELT = 90
MARKS = "©→←+×%$€£#&@•·–—…|/-"
DASHES = "–-—"
DASHES_READ = frozenset("-–—―一ー")
LEAST_SURE = 0.62
LEAST_LIKE = 0.60
HUGE = 72.0
"""A single letter larger than this is a shape."""
UNSURE_LIKE = 0.72
"""What a reading of middling certainty must look like."""
DOUBTFUL = 0.85
SHORT, RIGHT = 10, 0.96
"""Letters of a short reading, and the likeness from which one is beyond doubt."""

Draft = tuple[Ink, Reading, Fit]


@dataclass(frozen=True, slots=True)
class Styled:
    """The lines that can be trusted, and the ink that cannot be read."""

    lines: list[Line]
    unread: list[Ink]


def style(pieces: Sequence[tuple[Ink, Reading]], done: Callable[[float], None] | None = None) -> Styled:
    """Give each piece its style, or hand it back unread."""
    readable = [(ink, reading) for ink, reading in pieces if _legible(reading)]
    unread = [ink for ink, reading in pieces if not _legible(reading)]
    favourites = _favourites(readable)
    drafts: list[Draft] = []
    for number, (ink, reading) in enumerate(readable):
        fit = _best(ink, reading.text.strip(), favourites)
        if fit is None or fit.likeness < DOUBTFUL:
            reading, fit = _respaced(ink, reading, fit, favourites)
            reading, fit = _dashed(ink, reading, fit, favourites)
        if fit is None or not _trusted(reading, fit):
            unread.append(ink)
            continue
        drafts.append((ink, reading, fit))
        if done is not None and number % 8 == 7:
            done((number + 1) / len(readable))
    foreign = [ink for ink in unread if not squarish(ink.rect) and 6 <= ink.rect.h <= 60]
    speller = Speller()
    with one_thread():
        spelt = _spelt(speller, foreign) if len(foreign) >= max(3.0, 0.2 * len(drafts)) else []
        if speller.knows:
            drafts = [_reread(speller, draft) for draft in drafts]
    known = {id(ink) for ink, _, _ in spelt}
    lines = _agree([_line(*draft) for draft in (*drafts, *spelt)])
    return Styled(lines, [ink for ink in unread if id(ink) not in known])


def _respaced(ink: Ink, reading: Reading, fit: Fit | None, favourites: Sequence[Face]) -> tuple[Reading, Fit | None]:
    """The reading with a space wherever the ink has a gap, if that looks better: the reader overlooks some."""
    text = spaced(ink, reading)
    if text == reading.text:
        return reading, fit
    again = _best(ink, text, favourites)
    if again is None or (fit is not None and again.likeness < fit.likeness + 0.05):
        return reading, fit
    return replace(reading, text=text), again


def _dashed(ink: Ink, reading: Reading, fit: Fit | None, favourites: Sequence[Face]) -> tuple[Reading, Fit | None]:
    """The reading with another dash where one stands alone, if that looks better: the reader mixes them up."""
    for dash in DASHES:
        text = " ".join(dash if word in DASHES_READ else word for word in reading.text.split())
        if text == reading.text or text == dash:
            continue
        again = _best(ink, text, favourites)
        if again is not None and (fit is None or again.likeness > fit.likeness + 0.03):
            reading, fit = replace(reading, text=text), again
    return reading, fit


def spaced(ink: Ink, reading: Reading) -> str:
    """The text with a space at each wide gap of the ink."""
    if len(reading.places) != len(reading.text):
        return reading.text
    height = ink.cover.shape[0]
    filled = np.flatnonzero(ink.cover.max(axis=0) > 0.12)
    wide = np.flatnonzero(np.diff(filled) > max(0.33 * height, 3))
    gaps = [float(filled[at] + filled[at + 1]) / 2 for at in wide]
    letters = list(reading.text)
    places = reading.columns(ink.rect)
    for gap in reversed(gaps):
        after = next((number for number, place in enumerate(places) if place > gap), len(letters))
        if 0 < after < len(letters) and " " not in letters[after - 1 : after + 1]:
            letters.insert(after, " ")
            places.insert(after, gap)
    return "".join(letters).strip()


def _spelt(speller: Speller, wordy: Sequence[Ink]) -> list[Draft]:
    """What the reader could not read, letter by letter; lines of middling length first, they tell most."""
    found: list[Draft] = []
    for ink in sorted(wordy, key=lambda each: abs(each.rect.w / each.rect.h - 12))[:MOST_SPELT]:
        spelling = speller.spell(ink)
        if spelling is not None:
            found.append(_draft(ink, spelling))
    return found


def _reread(speller: Speller, draft: Draft) -> Draft:
    """A short reading that looks a little wrong, on a page in another script: perhaps it is in that script too."""
    ink, reading, fit = draft
    if len(reading.text) > SHORT or fit.likeness >= RIGHT or needs_wide(reading.text):
        return draft
    spelling = speller.spell(ink, bare=True)
    return _draft(ink, spelling) if spelling is not None and spelling.likeness > fit.likeness + 0.015 else draft


def _draft(ink: Ink, spelling: Spelling) -> Draft:
    fit = Fit(spelling.face, spelling.size, spelling.spacing, spelling.likeness)
    return ink, Reading(spelling.text, spelling.likeness, (), ()), fit


def _legible(reading: Reading) -> bool:
    text = reading.text.strip()
    return bool(text) and reading.sure >= LEAST_SURE and any(letter.isalnum() or letter in MARKS for letter in text)


def _trusted(reading: Reading, fit: Fit) -> bool:
    if len(reading.text.strip()) == 1 and fit.size > HUGE:
        return False
    if len(reading.text.strip()) == 1 and not reading.text.strip().isalnum():
        return reading.sure > 0.9 and fit.likeness > UNSURE_LIKE
    return fit.likeness >= (LEAST_LIKE if reading.sure >= 0.85 else UNSURE_LIKE)


def _favourites(pieces: Sequence[tuple[Ink, Reading]]) -> list[Face]:
    """The families that the page uses, from its longest lines."""
    latin = [(ink, reading) for ink, reading in pieces if not needs_wide(reading.text)]
    longest = sorted(latin, key=lambda piece: -min(len(piece[1].text), 40) * piece[1].sure)
    sizes: Counter[int] = Counter()
    chosen: list[tuple[Ink, Reading]] = []
    for ink, reading in longest:
        if sizes[round(ink.rect.h)] >= 4 or len(chosen) >= SAMPLE:
            continue
        sizes[round(ink.rect.h)] += 1
        chosen.append((ink, reading))
    ranked = vote([(fits(ink, reading.text.strip()), reading.text) for ink, reading in chosen])
    families = list(dict.fromkeys(face.family for face in ranked))[:3]
    return [face for family in families for face in faces() if face.family == family]


def _best(ink: Ink, text: str, favourites: Sequence[Face]) -> Fit | None:
    """The favourite that looks right, the page's first before the others, upright before slanted; any if none does."""
    if needs_wide(text):
        return next(iter(fits(ink, text)), None)
    first = favourites[0].family if favourites else ""

    def rank(fit: Fit) -> float:
        worth = fit.likeness + (0.025 if fit.face.family == first else 0.0)
        return worth - (0.03 if fit.face.italic else 0.0) - (0.04 if fit.spacing else 0.0)

    found = sorted(fits(ink, text, [face for face in favourites if not face.italic]), key=rank, reverse=True)
    if found and found[0].likeness >= 0.94:
        return found[0]
    italics = [face for face in favourites if face.italic]
    slanted = fits(ink, text, italics, spacing=False)
    if slanted and (not found or rank(slanted[0]) > rank(found[0])):
        slanted = fits(ink, text, italics)
    found = sorted([*found, *slanted], key=rank, reverse=True)
    if found and found[0].likeness >= 0.8:
        return found[0]
    return max([*found[:1], *fits(ink, text)[:1]], key=rank, default=None)


def _line(ink: Ink, reading: Reading, fit: Fit) -> Line:
    text = reading.text.strip()
    exact, face = ink.exact, fit.face
    left, top, _, bottom = face.ink(text)
    low = ink.rect.bottom - max(bottom, 0) * fit.size
    high = ink.rect.y - top * fit.size
    baseline = round((low + high) / 2) if bottom > 0.1 else round(ink.rect.bottom - bottom * fit.size * 0.5)
    ascent, descent = round(face.ascent * fit.size), round(face.descent * fit.size)
    width = face.advance(text) * fit.size + fit.spacing * len(text)
    weight = 700 if face.bold else 400
    spacing = round(fit.spacing, 2)
    text_style = TextStyle(face.family, fit.size, weight, face.italic, css(ink.colour), spacing, ink.underlined)
    rect = Rect(exact.x - left * fit.size, baseline - ascent, width, ascent + descent)
    return Line(text, ink.rect, rect, text_style, baseline, reading.sure, fit.likeness)


def _agree(lines: list[Line]) -> list[Line]:
    """Nearly the same size or colour is the same: the commoner one counts."""
    sizes: Counter[tuple[str, int, float]] = Counter()
    colours: Counter[str] = Counter()
    for line in lines:
        weight = len(line.text)
        if not line.style.spacing:
            sizes[line.style.family, line.style.weight, line.style.size] += weight
        colours[line.style.colour] += weight
    return [_with(line, _size(line, sizes), _colour(line, colours)) for line in lines]


def _size(line: Line, sizes: Counter[tuple[str, int, float]]) -> float:
    if line.style.spacing:
        return line.style.size
    slack = min(0.9 * line.style.size / max(line.rect.w, 1), 0.6)
    near = [
        (weight, size)
        for (family, heavy, size), weight in sizes.items()
        if family == line.style.family and heavy == line.style.weight and abs(size - line.style.size) <= slack
    ]
    return max(near)[1]


def _colour(line: Line, colours: Counter[str]) -> str:
    near = [(weight, colour) for colour, weight in colours.items() if distance(colour, line.style.colour) <= 9]
    return max(near)[1]


def _with(line: Line, size: float, colour: str) -> Line:
    return replace(line, style=replace(line.style, size=size, colour=colour))
