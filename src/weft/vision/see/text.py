"""Styles lines of text and groups them into paragraphs."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.vision.elements import Align, Rect, TextElement, TextLine, TextStyle, hull, is_even, wide_letter
from weft.vision.see.fonts import Face, Fit, face, face_for, faces, fit_faces, needs_wide, rank_faces
from weft.vision.see.ink import Ink
from weft.vision.see.line_icons import Draft, cut_icon, part_icons
from weft.vision.see.ocr import OcrResult, is_squarish
from weft.vision.see.regions import colour_distance, hex_colour
from weft.vision.see.script_ocr import is_script

SAMPLE_LINES = 18
MARKS = "©→←+×%$€£#&@•·–—…|/-"
DASHES = "–-—"
MINUS = "−"
DASHES_READ = frozenset("-–—―一ー")
LEAST_SURE = 0.62
LEAST_LIKE = 0.60
HUGE = 72.0  # a single letter larger than this is a shape
UNSURE_LIKE = 0.72  # least likeness of a reading of medium certainty
DOUBTFUL = 0.85  # a line that looks less like its letters is tried with other spaces and dashes
UNLIKE = 0.8  # one that looks even less like them may begin or end with an icon
LONG = 12  # letters from which on the strength of strokes is comparable
ALIKE_STROKES, CLEAR_WEIGHT = 0.09, 0.94
WORSE = 0.06  # how much less alike a line may be in the weight of its kin
PHOTO_SURE, PHOTO_LIKE, PHOTO_SIZE, PHOTO_LETTERS = 0.9, 0.8, 11.0, 3  # the least of a line on a photograph
BEYOND_DOUBT = 0.98  # how sure a reading on a photograph must be to look less like the fonts here
SEVERAL, SEVERAL_LIKE, SCRIPT_LIKE = 6, 0.7, 0.5  # its least likeness, with several letters and in another script
FOREIGN_SURE, FOREIGN_LIKE = 0.95, 0.3  # a sure reading in another script, where few fonts can be compared


@dataclass(frozen=True, slots=True)
class StyledLines:
    """The lines that were read for certain, and the ink that was not."""

    lines: list[TextLine]
    unread: list[Ink]


def style_lines(pieces: Sequence[tuple[Ink, OcrResult]], done: Callable[[float], None] | None = None) -> StyledLines:
    """Find the style of each piece, or return it as unread."""
    readable = [(ink, reading) for ink, reading in pieces if _is_legible(reading)]
    unread = [(ink, reading) for ink, reading in pieces if not _is_legible(reading)]
    favourites = _find_families(readable)
    drafts: list[Draft] = []
    icons: list[Ink] = []
    for number, (ink, reading) in enumerate(readable):
        fit = _best_fit(ink, reading.text.strip(), favourites)
        if fit is None or fit.likeness < DOUBTFUL:
            reading, fit = _try_spaces(ink, reading, fit, favourites)
            reading, fit = _try_dashes(ink, reading, fit, favourites)
        if fit is None or fit.likeness < UNLIKE:
            likeness = fit.likeness if fit is not None else 0.0
            parted = cut_icon(ink, reading, likeness, lambda part, text: _best_fit(part, text, favourites))
            if parted is not None:
                (ink, reading, fit), icon = parted
                icons.append(icon)
        if fit is None or not _is_trusted(reading, fit):
            unread.append((ink, reading))
            continue
        drafts.append((ink, reading, fit))
        if done is not None and number % 8 == 7:
            done((number + 1) / len(readable))
    drafts, letters = part_icons(drafts, [ink.rect for ink, _ in unread if is_squarish(ink.rect)])
    drafts = _unify_weights(drafts)
    lines = _unify_styles([_build_line(*draft) for draft in drafts])
    return StyledLines(lines, [*(ink for ink, _ in unread), *icons, *letters])


def _unify_weights(drafts: list[Draft]) -> list[Draft]:
    """Fit lines anew whose strokes are as strong as those of many lines of the other weight and the same height."""
    found = list(drafts)
    long = [number for number, (_, reading, _) in enumerate(drafts) if _length(reading.text) >= LONG]
    strength = {number: _stroke_strength(drafts[number][0]) for number in long}
    for number in long:
        ink, reading, fit = drafts[number]
        if fit.likeness >= CLEAR_WEIGHT:
            continue
        kin = [
            other
            for other in long
            if abs(drafts[other][0].rect.h - ink.rect.h) <= 2
            and abs(strength[other] / strength[number] - 1) < ALIKE_STROKES
            and drafts[other][2].face.family == fit.face.family
        ]
        bold = sum(len(drafts[other][1].text) * (1 if drafts[other][2].face.bold else -1) for other in kin) > 0
        if bold == fit.face.bold:
            continue
        pool = [each for each in faces() if each.family == fit.face.family and each.bold == bold and not each.italic]
        again = fit_faces(ink, reading.text.strip(), pool, spacing=False)
        if again and again[0].likeness >= fit.likeness - WORSE:
            found[number] = ink, reading, again[0]
    return found


def _length(text: str) -> float:
    """Return the letters of a text; wide ones have as many strokes as two."""
    return sum(2 if wide_letter(letter) else 1 for letter in text)


def _stroke_strength(ink: Ink) -> float:
    """Return the part of a line's area that its ink covers."""
    return max(float(ink.cover.mean()), 1e-3)


def _try_spaces(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Insert spaces at gaps of the ink if that looks better: the network misses some."""
    text = insert_spaces(ink, reading)
    if text == reading.text:
        return reading, fit
    again = _best_fit(ink, text, favourites)
    if again is None or (fit is not None and again.likeness < fit.likeness + 0.05):
        return reading, fit
    return replace(reading, text=text), again


def _try_dashes(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try other dashes where one stands alone, and a minus before an amount: the network confuses them."""
    tried = [" ".join(dash if word in DASHES_READ else word for word in reading.text.split()) for dash in DASHES]
    if reading.text[:1] in DASHES_READ and len(reading.text) > 1 and not reading.text[1].isalpha():
        tried.append(MINUS + reading.text[1:])
    for text in tried:
        if text == reading.text or len(text) < 2:
            continue
        again = _best_fit(ink, text, favourites)
        if again is not None and (fit is None or again.likeness > fit.likeness + 0.03):
            reading, fit = replace(reading, text=text), again
    return reading, fit


def insert_spaces(ink: Ink, reading: OcrResult) -> str:
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


def _is_legible(reading: OcrResult) -> bool:
    text = reading.text.strip()
    return bool(text) and reading.sure >= LEAST_SURE and any(letter.isalnum() or letter in MARKS for letter in text)


def _is_trusted(reading: OcrResult, fit: Fit) -> bool:
    if len(reading.text.strip()) == 1 and fit.size > HUGE:
        return False
    if len(reading.text.strip()) == 1 and not reading.text.strip().isalnum():
        return reading.sure > 0.9 and fit.likeness > UNSURE_LIKE
    if reading.sure >= FOREIGN_SURE and is_script(reading.text):
        return fit.likeness >= FOREIGN_LIKE
    return fit.likeness >= (LEAST_LIKE if reading.sure >= 0.85 else UNSURE_LIKE)


def is_certain_text(line: TextLine) -> bool:
    """Whether a line on a photograph is certainly text, not a pattern in it."""
    letters = sum(letter.isalnum() * (2 if wide_letter(letter) else 1) for letter in line.text)
    if line.sure < PHOTO_SURE or line.style.size < PHOTO_SIZE or letters < PHOTO_LETTERS:
        return False
    if line.sure < BEYOND_DOUBT:
        return line.likeness >= PHOTO_LIKE
    least = SCRIPT_LIKE if is_script(line.text) else SEVERAL_LIKE if letters >= SEVERAL else PHOTO_LIKE
    return line.likeness >= least


def _find_families(pieces: Sequence[tuple[Ink, OcrResult]]) -> list[Face]:
    """Find the families that the page uses, by its longest lines."""
    latin = [(ink, reading) for ink, reading in pieces if not needs_wide(reading.text)]
    longest = sorted(latin, key=lambda piece: -min(len(piece[1].text), 40) * piece[1].sure)
    sizes: Counter[int] = Counter()
    chosen: list[tuple[Ink, OcrResult]] = []
    for ink, reading in longest:
        if sizes[round(ink.rect.h)] >= 4 or len(chosen) >= SAMPLE_LINES:
            continue
        sizes[round(ink.rect.h)] += 1
        chosen.append((ink, reading))
    ranked = rank_faces([(fit_faces(ink, reading.text.strip()), reading.text) for ink, reading in chosen])
    families = list(dict.fromkeys(face.family for face in ranked))[:3]
    return [face for family in families for face in faces() if face.family == family]


def _best_fit(ink: Ink, text: str, favourites: Sequence[Face]) -> Fit | None:
    """Return the best fit of the page's families, upright before slanted; of any face if none fits."""
    if needs_wide(text):
        return next(iter(fit_faces(ink, text)), None)
    first = favourites[0].family if favourites else ""

    def rank(fit: Fit) -> float:
        worth = fit.likeness + (0.025 if fit.face.family == first else 0.0)
        return worth - (0.03 if fit.face.italic else 0.0) - (0.04 if fit.spacing else 0.0)

    found = sorted(fit_faces(ink, text, [face for face in favourites if not face.italic]), key=rank, reverse=True)
    if found and found[0].likeness >= 0.94:
        return found[0]
    italics = [face for face in favourites if face.italic]
    slanted = fit_faces(ink, text, italics, spacing=False)
    if slanted and (not found or rank(slanted[0]) > rank(found[0])):
        slanted = fit_faces(ink, text, italics)
    found = sorted([*found, *slanted], key=rank, reverse=True)
    if found and found[0].likeness >= 0.8:
        return found[0]
    found = [*found[:1], *fit_faces(ink, text)[:1]] or fit_faces(ink, text, [face_for(text)])
    return max(found, key=rank, default=None)


def _build_line(ink: Ink, reading: OcrResult, fit: Fit) -> TextLine:
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
    text_style = TextStyle(face.family, fit.size, weight, face.italic, hex_colour(ink.colour), spacing, ink.underlined)
    rect = Rect(exact.x - left * fit.size, baseline - ascent, width, ascent + descent)
    return TextLine(text, ink.rect, rect, text_style, baseline, reading.sure, fit.likeness)


def _unify_styles(lines: list[TextLine]) -> list[TextLine]:
    """Replace nearly equal sizes and colours by the commoner one."""
    sizes: Counter[tuple[str, int, float]] = Counter()
    colours: Counter[str] = Counter()
    for line in lines:
        weight = len(line.text)
        if not line.style.spacing:
            sizes[line.style.family, line.style.weight, line.style.size] += weight
        colours[line.style.colour] += weight
    styles = [replace(line.style, size=_size(line, sizes), colour=_colour(line, colours)) for line in lines]
    return [replace(line, style=style) for line, style in zip(lines, styles, strict=True)]


def _size(line: TextLine, sizes: Counter[tuple[str, int, float]]) -> float:
    if line.style.spacing:
        return line.style.size
    slack = min(0.9 * line.style.size / max(line.rect.w, 1), 0.6)
    near = [
        (weight, size)
        for (family, heavy, size), weight in sizes.items()
        if family == line.style.family and heavy == line.style.weight and abs(size - line.style.size) <= slack
    ]
    return max(near)[1]


def _colour(line: TextLine, colours: Counter[str]) -> str:
    near = [(weight, colour) for colour, weight in colours.items() if colour_distance(colour, line.style.colour) <= 9]
    return max(near)[1]


TIGHTEST, LOOSEST = 0.95, 2.1  # line heights of a paragraph, in ems
WIDE_PITCH, WIDE_LETTERS = 1.95, 10  # the same for wide letters, whose paragraphs are looser
LIST_PITCH, LIST_LETTERS = 1.78, 28  # short lines that are farther apart are a list, such as links
SLACK = 2.5


def group_paragraphs(lines: Sequence[TextLine]) -> list[TextElement]:
    """Group lines into texts in reading order. Each line is in exactly one."""
    groups: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda each: (each.baseline, each.rect.x)):
        home = next((group for group in reversed(groups) if _follows(group, line)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    parted = [part for group in groups for part in _parts(group)]
    texts = [as_text(group) for group in parted]
    return sorted(texts, key=lambda text: (text.rect.y, text.rect.x))


def _follows(group: list[TextLine], line: TextLine) -> bool:
    last = group[-1]
    size = last.style.size
    if not same_style(last.style, line.style):
        return False
    pitch = line.baseline - last.baseline
    if not TIGHTEST * size <= pitch <= LOOSEST * size:
        return False
    loose, longest = (WIDE_PITCH, WIDE_LETTERS) if needs_wide(line.text) else (LIST_PITCH, LIST_LETTERS)
    if pitch > loose * size and max(len(last.text), len(line.text)) <= longest:
        return False
    if len(group) > 1 and abs(pitch - (last.baseline - group[-2].baseline)) > max(1.6, 0.06 * size):
        return False
    return _aligned(last, line)


def same_style(one: TextStyle, two: TextStyle) -> bool:
    """Whether two styles are equal, apart from what a short line does not show."""
    return (
        one.family == two.family
        and abs(one.size - two.size) <= 0.35
        and one.weight == two.weight
        and one.italic == two.italic
        and one.colour == two.colour
    )


def _aligned(one: TextLine, two: TextLine) -> bool:
    return (
        abs(one.rect.x - two.rect.x) <= SLACK
        or abs(one.rect.middle[0] - two.rect.middle[0]) <= SLACK
        or abs(one.rect.right - two.rect.right) <= SLACK
    )


def _parts(group: list[TextLine]) -> list[list[TextLine]]:
    """Split a group after each line on which the next word would have fitted."""
    if len(group) == 1:
        return [group]
    widest = max(line.rect.w for line in group)
    parts = [[group[0]]]
    for last, line in itertools.pairwise(group):
        title = line.style.size >= 24 and line.baseline - last.baseline <= 1.4 * line.style.size
        if last.rect.w + first_word(line) <= widest - 1 and not title:
            parts.append([])
        parts[-1].append(line)
    return parts


def first_word(line: TextLine) -> float:
    """Return the width that the first word would have needed on the line before."""
    text = line.text
    if wide_letter(text[0]):
        return line.style.size
    word = " " + text.split(" ")[0]
    drawn = face(line.style.family, line.style.weight >= 600, line.style.italic)
    return drawn.advance(word) * line.style.size + line.style.spacing * len(word)


def as_text(group: Sequence[TextLine]) -> TextElement:
    """Make one text of lines, from the top down."""
    style = max(
        (line.style for line in group), key=lambda each: sum(len(line.text) for line in group if line.style == each)
    )
    rect = hull(line.rect for line in group)
    if len(group) == 1:
        return TextElement(tuple(group), rect, style, "left", rect.h)
    pitch = (group[-1].baseline - group[0].baseline) / (len(group) - 1)
    leading = pitch - group[0].rect.h
    top = group[0].rect.y - (leading // 2)
    placed = Rect(rect.x, top, rect.w, round(pitch * len(group), 2))
    return TextElement(tuple(group), placed, replace(style), _align(group), round(pitch, 2))


def _align(group: Sequence[TextLine]) -> Align:
    if is_even([line.rect.x for line in group], SLACK / 2):
        return "left"
    if is_even([line.rect.middle[0] for line in group], SLACK / 2):
        return "center"
    return "right" if is_even([line.rect.right for line in group], SLACK / 2) else "left"


def wrap_width(text: TextElement) -> tuple[float, float]:
    """Return the widths at which a browser wraps the text as detected: at least the first, less than the second."""
    least = max(line.rect.w for line in text.lines)
    pairs = zip(text.lines, text.lines[1:], strict=False)
    return least, min((one.rect.w + first_word(two) for one, two in pairs), default=float("inf"))


def wrapped_lines(text: TextElement) -> tuple[str, ...]:
    """Return one line if the text wraps by itself as detected, else its lines."""
    least, most = wrap_width(text)
    if least + 1 < most:
        return (text.text,)
    return tuple(line.text for line in text.lines)
