"""Styles lines of text: their typeface, size, weight and colour."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heald_local.see.close_reading import ReadClosely, read_doubtful_lines
from heald_local.see.face_fits import Fit, fit_faces
from heald_local.see.font_weights import BOLD, REGULAR
from heald_local.see.ink import Ink
from heald_local.see.letter_spacing import are_in_order
from heald_local.see.line_fits import best_fit, find_families
from heald_local.see.line_icons import Draft, cut_icon, part_icons
from heald_local.see.line_marks import is_squarish
from heald_local.see.ocr import OcrResult
from heald_local.see.script_ocr import is_script
from heald_local.see.sign_shapes import correct_signs
from heald_local.see.word_styles import split_at_wide_gaps, split_by_style, weigh_line
from heald_local.see.zero_confusion import replace_zeros
from heald_pictures.colours import colour_distance, hex_colour
from heald_pictures.elements import TextLine, TextStyle
from heald_pictures.fonts import Face, faces
from heald_pictures.rect import Rect
from heald_pictures.scripts import wide_letter

MARKS = "©→←+×%$€£#&@•·–—…|/-"
BRACKETS, STOPS = frozenset("{}()[];?!"), frozenset(",.:'\"<>=_")
PUNCTUATION_SLACK = 0.05  # how much less sure these may be: their shape decides
BRACKETS_LIKE = 0.89  # likeness of a line that has nothing but these, such as the end of a block of code
BAR = "|"
DASHES = "–-—"
MINUS = "−"
DASHES_READ = frozenset("-–—―一ー")
LEAST_SURE = 0.62  # of a reading that is used
LEAST_LIKE = 0.60  # likeness of a line to its letters
CERTAIN = 0.85  # how sure a reading is that may look less like its letters
SIGN_SURE = 0.9  # how sure a single sign is: icons are read as signs
HUGE = 72.0  # a single letter larger than this is a shape
UNSURE_LIKE = 0.72  # least likeness of a reading of medium certainty
OWNERSHIP = frozenset("©®™")  # signs whose shape no icon has, so that a drawing that is like them is enough
DOUBTFUL = 0.85  # a line that looks less like its letters is tried with other spaces, dashes and letters
UNLIKE = 0.8  # one that looks even less like them may begin or end with an icon
BETTER_SPACES, BETTER_DASHES = 0.05, 0.03  # likeness by which other spaces and other dashes must be better
BETTER_BARS, WORSE_BARS = 0.01, 0.02  # likeness by which spaces at bars must or may be better or worse
FEWEST_SPACED, WORSE_WORD = 4, 0.03  # letters of a word in wide spacing, and likeness by which it may be worse
BETTER_ZEROS = 0.05  # likeness by which O must be better than 0
EDGE, BETTER_EDGE = 0.3, 0.05  # heights from the end of the ink of a letter beyond it, and likeness without it
INKED = 0.12  # the part of a pixel from which on it is ink
WIDE_GAP, LEAST_GAP = 0.33, 3  # of a gap between words: heights of the line, and pixels
REPORTED = 8  # lines after which progress is reported
DESCENDER = 0.1  # ems below the baseline from which on a text shows where its baseline is
HANGING = 0.5  # the part of the ink's lower end by which the baseline of another text is moved
SPACING_DECIMALS = 2  # pixels
SAME_SIZE, LENGTH_SLACK = 0.6, 0.9
"""Pixels by which sizes may differ to be one; at most what changes the length by this."""
SAME_COLOUR = 9  # levels by which colours may differ to be one
LONG = 12  # letters from which on the strength of strokes is comparable
ALIKE_STROKES, CLEAR_WEIGHT = 0.09, 0.94  # the part by which strokes of one weight differ, and a certain likeness
ALIKE_HEIGHT = 2  # pixels by which the heights of lines of one size differ
LEAST_STRENGTH = 1e-3  # the part of a line that ink covers
WORSE = 0.06  # how much less alike a line may be in the weight of its kin
PHOTO_SURE, PHOTO_LIKE, PHOTO_SIZE, PHOTO_LETTERS = 0.9, 0.8, 11.0, 3  # the least of a line on a photograph
BEYOND_DOUBT = 0.98  # how sure a reading on a photograph must be to look less like the fonts here
SEVERAL, SEVERAL_LIKE, SCRIPT_LIKE = 6, 0.7, 0.5  # its least likeness, with several letters and in another script
FOREIGN_SURE, FOREIGN_LIKE = 0.95, 0.3  # a sure reading in another script, where few fonts can be compared
WORDS_SURE, WORDS_LETTERS, WORDS_LIKE = 0.93, 4, 0.3  # of words in a typeface that is not here
LONG_SURE, LONG_LETTERS, LONG_LIKE = 0.8, 10, 0.4  # the same for a longer line
LONG_LETTER_SURE = 0.5  # of the least certain letter of it
LOGO_SIZE, LOGO_LIKE = 26.0, 0.5  # what is larger and looks less like its letters is a logo, unless it is sure words


@dataclass(frozen=True, slots=True)
class StyledLines:
    """The lines that were read for certain, and the ink that was not."""

    lines: list[TextLine]
    unread: list[Ink]


def style_lines(
    pieces: Sequence[tuple[Ink, OcrResult]],
    done: Callable[[float], None] | None = None,
    read_closely: ReadClosely | None = None,
) -> StyledLines:
    """Find the style of each piece, or return it as unread. With `read_closely`, doubtful lines are read again."""
    readable = [(ink, reading) for ink, reading in pieces if _is_legible(reading)]
    unread = [(ink, reading) for ink, reading in pieces if not _is_legible(reading)]
    favourites = find_families(readable)
    if read_closely is not None:
        readable = read_doubtful_lines(readable, favourites, read_closely)
    drafts: list[Draft] = []
    icons: list[Ink] = []
    for number, (ink, reading) in enumerate(readable):
        fit = best_fit(ink, reading.text.strip(), favourites)
        if fit is None or fit.likeness < DOUBTFUL:
            reading, fit = _try_spaces(ink, reading, fit, favourites)
            reading, fit = _try_dashes(ink, reading, fit, favourites)
            reading, fit = _try_zeros(ink, reading, fit, favourites)
            reading, fit = _try_edge(ink, reading, fit, favourites)
        reading, fit = _try_bars(ink, reading, fit, favourites)
        reading, fit = _try_word(ink, reading, fit, favourites)
        runs = split_by_style(ink, reading, fit, favourites) if fit is not None else None
        if runs is not None:
            drafts += runs
            continue
        if fit is None or fit.likeness < UNLIKE:
            likeness = fit.likeness if fit is not None else 0.0
            parted = cut_icon(ink, reading, likeness, lambda part, text: best_fit(part, text, favourites))
            if parted is not None:
                (ink, reading, fit), icon = parted
                icons.append(icon)
        if fit is None or fit.likeness < LEAST_LIKE:
            columns = _split_columns(ink, reading, favourites)
            if columns:
                drafts += columns
                continue
        if fit is None or not _is_trusted(reading, fit):
            unread.append((ink, reading))
            continue
        drafts.append((ink, reading, weigh_line(ink, reading.text.strip(), fit)))
        if done is not None and number % REPORTED == REPORTED - 1:
            done((number + 1) / len(readable))
    text_drafts, letters = part_icons(drafts, [ink.rect for ink, _ in unread if is_squarish(ink.rect)])
    signed = [correct_signs(draft) for draft in _unify_weights(text_drafts)]
    lines = _unify_styles([build_line(*draft) for draft in signed])
    return StyledLines(lines, [*(ink for ink, _ in unread), *icons, *letters])


def _split_columns(ink: Ink, reading: OcrResult, favourites: Sequence[Face]) -> list[Draft]:
    """Split a line at gaps that are wider than its other ones, if each text then looks like its letters."""
    drafts: list[Draft] = []
    for part, part_reading in split_at_wide_gaps(ink, reading):
        part_fit = best_fit(part, part_reading.text, favourites)
        if part_fit is None or part_fit.likeness < UNLIKE:
            return []
        drafts.append((part, part_reading, part_fit))
    return drafts


def _unify_weights(drafts: list[Draft]) -> list[Draft]:
    """Fit lines anew whose strokes are as strong as those of many lines of the other weight and the same height."""
    unified = list(drafts)
    long = [number for number, (_, reading, _) in enumerate(drafts) if _length(reading.text) >= LONG]
    strength = {number: _stroke_strength(drafts[number][0]) for number in long}
    for number in long:
        ink, reading, fit = drafts[number]
        if fit.likeness >= CLEAR_WEIGHT:
            continue
        kin = [
            other
            for other in long
            if abs(drafts[other][0].rect.h - ink.rect.h) <= ALIKE_HEIGHT
            and abs(strength[other] / strength[number] - 1) < ALIKE_STROKES
            and drafts[other][2].face.family == fit.face.family
        ]
        bold = sum(len(drafts[other][1].text) * (1 if drafts[other][2].face.bold else -1) for other in kin) > 0
        if bold == fit.face.bold:
            continue
        family = [face for face in faces() if face.family == fit.face.family]
        pool = [face for face in family if face.bold == bold and not face.italic]
        refits = fit_faces(ink, reading.text.strip(), pool, spacing=False)
        if refits and refits[0].likeness >= fit.likeness - WORSE:
            unified[number] = ink, reading, refits[0]
    return unified


def _length(text: str) -> float:
    """Return the letters of a text; wide ones have as many strokes as two."""
    return sum(2 if wide_letter(letter) else 1 for letter in text)


def _stroke_strength(ink: Ink) -> float:
    """Return the part of a line's area that its ink covers."""
    return max(float(ink.cover.mean()), LEAST_STRENGTH)


def _try_spaces(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Insert spaces at gaps of the ink if that looks better: the network misses some."""
    spaced = insert_spaces(ink, reading)
    if spaced.text == reading.text:
        return reading, fit
    spaced_fit = best_fit(ink, spaced.text.strip(), favourites)
    if spaced_fit is None or (fit is not None and spaced_fit.likeness < fit.likeness + BETTER_SPACES):
        return reading, fit
    return spaced, spaced_fit


def _try_bars(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try a space on both sides of bars between words, which the network reads next to them."""
    words = [word.strip() for word in reading.text.strip().split(BAR)]
    text = f" {BAR} ".join(words)
    if len(words) < 2 or not all(words) or text == reading.text.strip():
        return reading, fit
    spaced_fit = best_fit(ink, text, favourites)
    # Wide letter spacing explains the gaps beside bars nearly as well, and nobody writes a space on one side only.
    is_odd = f"{BAR} " in reading.text or f" {BAR}" in reading.text or (fit is not None and fit.spacing > 0)
    least = (fit.likeness if fit is not None else 0.0) + (-WORSE_BARS if is_odd else BETTER_BARS)
    if spaced_fit is None or spaced_fit.likeness < least:
        return reading, fit
    return replace(reading, text=text, letter_sure=(), places=()), spaced_fit


def _try_word(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try single letters with spaces between them as one word in wide letter spacing."""
    letters = reading.text.split()
    is_spaced = len(letters) >= FEWEST_SPACED and all(len(letter) == 1 and letter.isalpha() for letter in letters)
    if not is_spaced or are_in_order(letters):
        return reading, fit
    text = "".join(letters)
    word_fit = best_fit(ink, text, favourites)
    if word_fit is None or (fit is not None and word_fit.likeness < fit.likeness - WORSE_WORD):
        return reading, fit
    return replace(reading, text=text, letter_sure=(), places=()), word_fit


def _try_dashes(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try other dashes where one stands alone, and a minus before an amount: the network confuses them."""
    tried = [" ".join(dash if word in DASHES_READ else word for word in reading.text.split()) for dash in DASHES]
    if reading.text[:1] in DASHES_READ and len(reading.text) > 1 and not reading.text[1].isalpha():
        tried.append(MINUS + reading.text[1:])
    best_reading, best = reading, fit
    for text in tried:
        if text == best_reading.text or len(text) < 2:
            continue
        dashed_fit = best_fit(ink, text, favourites)
        if dashed_fit is not None and (best is None or dashed_fit.likeness > best.likeness + BETTER_DASHES):
            best_reading, best = replace(best_reading, text=text), dashed_fit
    return best_reading, best


def _try_zeros(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try O for zeros beside letters: it is wider than a zero in nearly every typeface."""
    text = replace_zeros(reading.text.strip())
    if text == reading.text.strip():
        return reading, fit
    letters_fit = best_fit(ink, text, favourites)
    if letters_fit is None or (fit is not None and letters_fit.likeness < fit.likeness + BETTER_ZEROS):
        return reading, fit
    return replace(reading, text=text), letters_fit


def _try_edge(
    ink: Ink, reading: OcrResult, fit: Fit | None, favourites: Sequence[Face]
) -> tuple[OcrResult, Fit | None]:
    """Try the line without a lone letter at its end, which may be the first one of the text beside it."""
    text, _, last = reading.text.rstrip().rpartition(" ")
    if len(last) != 1 or not text or len(reading.places) != len(reading.text):
        return reading, fit
    if reading.columns(ink.rect)[len(text) + 1] < ink.rect.w - EDGE * ink.rect.h:
        return reading, fit
    edge_fit = best_fit(ink, text.strip(), favourites)
    if edge_fit is None or (fit is not None and edge_fit.likeness < fit.likeness + BETTER_EDGE):
        return reading, fit
    length = len(text)
    shorter = replace(reading, text=text, letter_sure=reading.letter_sure[:length], places=reading.places[:length])
    return shorter, edge_fit


def insert_spaces(ink: Ink, reading: OcrResult) -> OcrResult:
    """Return the reading of a line with spaces where its ink has wide gaps."""
    if len(reading.places) != len(reading.text):
        return reading
    height = ink.cover.shape[0]
    filled = np.flatnonzero(ink.cover.max(axis=0) > INKED)
    wide = np.flatnonzero(np.diff(filled) > max(WIDE_GAP * height, LEAST_GAP))
    gaps = [float(filled[at] + filled[at + 1]) / 2 for at in wide]
    letters, places, sure = list(reading.text), list(reading.places), list(reading.letter_sure)
    columns = reading.columns(ink.rect)
    for gap in reversed(gaps):
        after = next((number for number, column in enumerate(columns) if column > gap), len(letters))
        if 0 < after < len(letters) and " " not in letters[after - 1 : after + 1]:
            letters.insert(after, " ")
            places.insert(after, (places[after - 1] + places[after]) / 2)
            columns.insert(after, gap)
            sure.insert(after, 1.0)
    return replace(reading, text="".join(letters), places=tuple(places), letter_sure=tuple(sure))


def _is_legible(reading: OcrResult) -> bool:
    text = reading.text.strip()
    if _is_punctuation(text):
        return reading.sure >= LEAST_SURE - PUNCTUATION_SLACK
    return bool(text) and reading.sure >= LEAST_SURE and any(letter.isalnum() or letter in MARKS for letter in text)


def _is_punctuation(text: str) -> bool:
    """Whether a line has only brackets and stops: as the end of a block of code does, or a sign between two words."""
    letters = frozenset(text) - {" "}
    return bool(letters) and letters <= BRACKETS | STOPS and (bool(letters & BRACKETS) or text == ":")


def _is_trusted(reading: OcrResult, fit: Fit) -> bool:
    if _is_punctuation(reading.text.strip()):
        return fit.likeness >= BRACKETS_LIKE
    if len(reading.text.strip()) == 1 and fit.size > HUGE:
        return False
    if len(reading.text.strip()) == 1 and not reading.text.strip().isalnum():
        is_mark = reading.text.strip() in OWNERSHIP and fit.likeness >= DOUBTFUL
        return is_mark or (reading.sure > SIGN_SURE and fit.likeness > UNSURE_LIKE)
    if reading.sure >= FOREIGN_SURE and is_script(reading.text):
        return fit.likeness >= FOREIGN_LIKE
    if fit.likeness >= (LEAST_LIKE if reading.sure >= CERTAIN else UNSURE_LIKE):
        return True
    return _are_words(reading, fit)


def _are_words(reading: OcrResult, fit: Fit) -> bool:
    """Whether several letters are read so surely that their typeface may be one that is not here."""
    letters = sum(letter.isalnum() for letter in reading.text)
    has_clear_letters = min(reading.letter_sure, default=1.0) >= LONG_LETTER_SURE
    if fit.size > LOGO_SIZE and fit.likeness < LOGO_LIKE:
        is_sure = reading.sure >= WORDS_SURE and has_clear_letters
        if not is_sure or " " not in reading.text.strip():
            return False
    if reading.sure >= WORDS_SURE and letters >= WORDS_LETTERS:
        return fit.likeness >= WORDS_LIKE
    is_legible = reading.sure >= LONG_SURE and has_clear_letters
    return is_legible and letters >= LONG_LETTERS and fit.likeness >= LONG_LIKE


def is_certain_text(line: TextLine) -> bool:
    """Whether a line on a photograph is certainly text, not a pattern in it."""
    letters = sum(letter.isalnum() * (2 if wide_letter(letter) else 1) for letter in line.text)
    if line.sure < PHOTO_SURE or line.style.size < PHOTO_SIZE or letters < PHOTO_LETTERS:
        return False
    if line.sure < BEYOND_DOUBT:
        return line.likeness >= PHOTO_LIKE
    least = SCRIPT_LIKE if is_script(line.text) else SEVERAL_LIKE if letters >= SEVERAL else PHOTO_LIKE
    return line.likeness >= least


def build_line(ink: Ink, reading: OcrResult, fit: Fit) -> TextLine:
    """Return the line that ink shows when it is read and drawn in a face."""
    text = reading.text.strip()
    exact, face = ink.exact, fit.face
    left, top, _, bottom = face.ink(text)
    low = ink.rect.bottom - max(bottom, 0) * fit.size
    high = ink.rect.y - top * fit.size
    baseline = round((low + high) / 2) if bottom > DESCENDER else round(ink.rect.bottom - bottom * fit.size * HANGING)
    ascent, descent = round(face.ascent * fit.size), round(face.descent * fit.size)
    width = face.advance(text) * fit.size + fit.spacing * len(text)
    weight = BOLD if face.bold else REGULAR
    spacing = round(fit.spacing, SPACING_DECIMALS)
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
    slack = min(LENGTH_SLACK * line.style.size / max(line.rect.w, 1), SAME_SIZE)
    near = [
        (weight, size)
        for (family, heavy, size), weight in sizes.items()
        if family == line.style.family and heavy == line.style.weight and abs(size - line.style.size) <= slack
    ]
    return max(near)[1]


def _colour(line: TextLine, colours: Counter[str]) -> str:
    near = [
        (weight, colour)
        for colour, weight in colours.items()
        if colour_distance(colour, line.style.colour) <= SAME_COLOUR
    ]
    return max(near)[1]
