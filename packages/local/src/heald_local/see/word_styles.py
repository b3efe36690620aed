"""Styles within a line: bold or slanted words among others, and the weight that the ink of a line has."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from statistics import median

import numpy as np

from heald_local.see.face_fits import Fit, fit_faces
from heald_local.see.ink import FAINT, Ink
from heald_local.see.line_icons import Draft, crop_ink
from heald_local.see.ocr import OcrResult
from heald_pictures.elements import Family
from heald_pictures.fonts import Face, faces, needs_wide
from heald_pictures.rect import spanning
from heald_pictures.scripts import is_leftward

DOUBTFUL = 0.93  # a line that looks less like its letters may have words in other styles, or another weight
FEWEST_LETTERS = 2  # of a word that shows its style
FEWEST_STYLED = 4  # letters of a run in another style than the line
FEWEST = 4  # letters of a word; longer ones show the size and, less clearly, the style
CLEAR_WORD, LIKELY_WORD = 0.9, 0.84  # likeness of a word that shows its style, and of a long one that does
CLEARLY, FAR_BETTER = 0.04, 0.1  # likeness by which the style of such a word must be better than that of its line
BETTER = 0.03  # likeness by which the runs must be better than the line as a whole, on average
LEAST_GAP = 2  # pixels between two words
NEAREST = 0.6  # heights of the line by which a gap may be off the place where a space was read
HEAVIER = 0.1  # how much nearer, as a logarithm, the amount of ink must be to that of the other weight
EMBOLDENED = 1.25  # times the ink of a regular face, from which on it is one that a browser has made bold
LARGEST = 24.0  # pixels of type whose weight is in doubt: larger letters show it
LEAST_MASS = 40.0  # pixels of ink that show a weight
SPACED = 0.06  # ems between the letters of a title in wide spacing, at least
UNLIKE = 0.8  # a spaced line that looks less like its letters may have those of another family
MUCH_WORSE = 0.12  # likeness that the weight of the ink may cost
WIDE_SPACE, LEAST_WIDE_SPACE = 0.5, 6  # of a gap that parts two texts: heights of the line, and pixels
SIZE_APART = 0.12  # the share by which the size of a run may differ from that of its line


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int  # columns of the line
    end: int


def split_by_style(ink: Ink, reading: OcrResult, fit: Fit, favourites: Sequence[Face] = ()) -> list[Draft] | None:
    """Split a line into runs of words of one style; None if all of it has one, or it cannot be told.

    A line of several styles may look most like a family that none of its words has, so that the first of the
    `favourites` of the page is tried too.
    """
    text = reading.text.strip()
    if fit.likeness >= DOUBTFUL or " " not in text or needs_wide(text) or ink.underlined:
        return None
    words = _find_words(ink, reading)
    if words is None:
        return None
    best: list[Draft] | None = None
    least = fit.likeness + BETTER
    for family in dict.fromkeys((fit.face.family, *(face.family for face in favourites[:1]))):
        drafts = _split_in_family(ink, reading, words, fit, family)
        if drafts is not None and (mean := _mean_likeness(drafts)) >= least:
            best, least = drafts, mean
    return best


def _split_in_family(
    ink: Ink, reading: OcrResult, words: Sequence[_Word], fit: Fit, family: Family
) -> list[Draft] | None:
    """Split a line into runs of one style each in a family; None if its words do not show several."""
    kin = [face for face in faces() if face.family == family]
    word_fits = [_fit_word(ink, word, kin) for word in words]
    if fit.face.family == family:
        face, size = fit.face, fit.size
    else:
        sizes = [fits[0].size for word, fits in zip(words, word_fits, strict=True) if fits and len(word.text) > FEWEST]
        plain = next((candidate for candidate in kin if not candidate.bold and not candidate.italic), None)
        if not sizes or plain is None:
            return None
        face, size = plain, median(sizes)
    shown = [_style_of(word, fits, face, size) for word, fits in zip(words, word_fits, strict=True)]
    styles = _even_styles(words, shown, face)
    if len(set(styles)) < 2:
        return None
    drafts: list[Draft] = []
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and styles[end] is styles[start]:
            continue
        draft = _fit_run(ink, reading, words[start:end], styles[start], size)
        if draft is None:
            return None
        drafts.append(draft)
        start = end
    return drafts


def _mean_likeness(drafts: Sequence[Draft]) -> float:
    """Return the likeness of runs, each by its letters."""
    letters = [len(draft_reading.text) for _, draft_reading, _ in drafts]
    return sum(count * draft_fit.likeness for count, (_, _, draft_fit) in zip(letters, drafts, strict=True)) / sum(
        letters
    )


def split_at_wide_gaps(ink: Ink, reading: OcrResult) -> list[tuple[Ink, OcrResult]]:
    """Split a line where the space between two words is wider than one space; none if there is no such place."""
    words = _find_words(ink, reading) if " " in reading.text.strip() else None
    if words is None:
        return []
    groups = [[words[0]]]
    for before, word in pairwise(words):
        if word.start - before.end > max(WIDE_SPACE * len(ink.cover), LEAST_WIDE_SPACE):
            groups.append([])
        groups[-1].append(word)
    if len(groups) < 2:
        return []
    parts: list[tuple[Ink, OcrResult]] = []
    for group in groups:
        part = _crop(ink, group[0].start, group[-1].end)
        if part is None:
            return []
        text = " ".join(word.text for word in group)
        parts.append((part, replace(reading, text=text, letter_sure=(), places=())))
    return parts


def weigh_line(ink: Ink, text: str, fit: Fit) -> Fit:
    """Return the fit in the other weight, if the line has clearly as much ink as that.

    Browsers thicken the letters of a regular face where a font of another script has no bold one.
    """
    mass = float(ink.cover.sum())
    if is_leftward(text) and not fit.face.bold and fit.likeness < DOUBTFUL and mass >= LEAST_MASS:
        drawn = float(fit.face.draw(text, fit.size, fit.spacing).sum())
        thick = replace(fit, face=replace(fit.face, bold=True), likeness=DOUBTFUL)
        return thick if mass >= EMBOLDENED * max(drawn, 1.0) else fit
    is_spaced = fit.spacing >= SPACED * fit.size  # such letters are as wide in one weight as in the other
    is_large = fit.size > LARGEST and not is_spaced
    if fit.likeness >= DOUBTFUL or is_large or mass < LEAST_MASS or needs_wide(text):
        return fit
    families = {face.family for face in faces()} if is_spaced and fit.likeness < UNLIKE else {fit.face.family}
    others = [
        face
        for face in faces()
        if face.family in families and face.italic == fit.face.italic and face.bold != fit.face.bold
    ]
    refits = [
        refit
        for refit in fit_faces(ink, text, others)
        if abs(log(refit.size / fit.size)) <= SIZE_APART and refit.likeness >= fit.likeness - MUCH_WORSE
    ]
    is_nearer = bool(refits) and _distance(mass, refits[0], text) + HEAVIER <= _distance(mass, fit, text)
    return refits[0] if is_nearer else fit


def _distance(mass: float, fit: Fit, text: str) -> float:
    """Return by how much the ink of a fit differs from that of a line, as a logarithm."""
    drawn = float(fit.face.draw(text, fit.size).sum())
    return abs(log(mass / max(drawn, 1.0)))


def _find_words(ink: Ink, reading: OcrResult) -> list[_Word] | None:
    """Find the columns of each word by the gaps of the ink; None if a space stands at no gap."""
    if len(reading.places) != len(reading.text):
        return None
    filled = np.flatnonzero(ink.cover.max(axis=0) > FAINT)
    steps = np.flatnonzero(np.diff(filled) > LEAST_GAP)
    gaps = [(int(filled[at]) + 1, int(filled[at + 1])) for at in steps]
    places = reading.columns(ink.rect)
    words: list[_Word] = []
    start, first = 0, 0
    for number, letter in enumerate(reading.text):
        if letter != " " or number in (0, len(reading.text) - 1):
            continue
        between = (places[number - 1] + places[number + 1]) / 2
        gap = min(gaps, key=lambda span: abs(sum(span) / 2 - between), default=None)
        if gap is None or abs(sum(gap) / 2 - between) > NEAREST * len(ink.cover) or gap[0] <= start:
            return None
        words.append(_Word(reading.text[first:number].strip(), start, gap[0]))
        start, first = gap[1], number + 1
    words.append(_Word(reading.text[first:].strip(), start, ink.cover.shape[1]))
    return words if all(word.text for word in words) else None


def _fit_word(ink: Ink, word: _Word, kin: Sequence[Face]) -> list[Fit]:
    """Fit a word in the faces of a family; none if it is too short to show one."""
    if len(word.text) < FEWEST_LETTERS:
        return []
    alone = _crop(ink, word.start, word.end)
    return fit_faces(alone, word.text, kin, spacing=False) if alone is not None else []


def _style_of(word: _Word, fits: Sequence[Fit], line: Face, size: float) -> Face | None:
    """Return the face of a word, if it shows one: it is very like it, or much more so than another."""
    near = [fit for fit in fits if abs(log(fit.size / size)) <= SIZE_APART]
    if not near:
        return None
    best = near[0]
    same = max((fit.likeness for fit in near if fit.face is line), default=0.0)
    if best.likeness >= CLEAR_WORD:
        return best.face if best.likeness >= same + CLEARLY else line
    others = max((fit.likeness for fit in near if fit.face is not best.face), default=0.0)
    if best.face is line:
        return line if best.likeness >= others + CLEARLY else None
    is_long = len(word.text) > FEWEST and best.likeness >= LIKELY_WORD
    return best.face if is_long and best.likeness >= same + FAR_BETTER else None


def _even_styles(words: Sequence[_Word], styles: Sequence[Face | None], line: Face) -> list[Face]:
    """Give words that show no style that of the words around them, or the line's; so do runs of few letters."""
    even: list[Face] = []
    current = next((style for style in styles if style is not None), line)
    for number, style in enumerate(styles):
        following = next((later for later in styles[number:] if later is not None), line)
        current = style or (current if following is current else line)
        even.append(current)
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and even[end] is even[start]:
            continue
        if sum(len(word.text) for word in words[start:end]) < FEWEST_STYLED:
            even[start:end] = [even[start - 1] if start else line] * (end - start)
        start = end
    return even


def _fit_run(ink: Ink, reading: OcrResult, words: Sequence[_Word], face: Face, size: float) -> Draft | None:
    alone = _crop(ink, words[0].start, words[-1].end)
    text = " ".join(word.text for word in words)
    fits = fit_faces(alone, text, [face], spacing=False) if alone is not None else []
    if alone is None or not fits or abs(log(fits[0].size / size)) > SIZE_APART:
        return None
    return alone, replace(reading, text=text, letter_sure=(), places=()), fits[0]


def _crop(ink: Ink, start: int, end: int) -> Ink | None:
    rect = ink.rect
    return crop_ink(ink, spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)))
