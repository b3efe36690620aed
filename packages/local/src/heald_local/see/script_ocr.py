"""Reads Cyrillic, Greek, Hebrew, Arabic and Korean lines with Heald's own network, where the first reader is at a loss.

The network sees how much of each pixel is ink, and answers in the order of the eye: from left to right, a Hangul
syllable as its two or three jamo.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald_local.see import models
from heald_local.see.ocr import UNREAD, OcrResult, Report, read_lines
from heald_local.see.sign_confusion import has_chinese, replace_bars, replace_signs
from heald_local.see.workers import map_parallel
from heald_pictures.regions import Pixels
from heald_pictures.scripts import is_leftward

HEIGHT = 48  # pixels of a line that the network sees
WIDEST, NARROWEST, MULTIPLE = 4000, 16, 16  # columns that it sees, and of which their number is a multiple
USUAL_WIDTH = 8  # heights of the lines that are read first: they show the script best
FEWEST_LINES = 3  # in such a script, from which on the whole page is read
STRONGEST, STRONG = 0.97, 0.6  # the quantile of pixels that show the colour of ink, and their part of the contrast
COVERS = (-0.4, 1.2)  # the part of a pixel that is ink, as far as the network sees it
PROBES = 12  # doubtful lines that are read before the others, to see whether the page has such a script
CLEAR = 0.4  # of the first lines: so many are in such a script on a page that the network reads first
SURE = 0.9  # a less certain reading of the first reader is doubtful, one of the network is not used
BEYOND_DOUBT = 0.98  # how sure a single letter must be: it may be an icon
FEW = 0.6  # letters for each height of the line, below which letters were left out
SHARE = 0.2  # lines in such a script from which on the whole page is read
SMALL_SURE = 0.95  # a less certain capital within a word is a small letter: many differ by size alone
ALIKE = dict(zip("ABCEHKMOPTXaceopxy", "АВСЕНКМОРТХасеорху", strict=True))
LATIN_OF = {cyrillic: latin for latin, cyrillic in ALIKE.items()}
_LOOKALIKES = frozenset(LATIN_OF) | frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοІіЈјѕЅ")
_LEFTWARD = "\u0590-\u065f\u066a-\u06ef\u06fa-\u06ff"
_RIGHTWARD_RUN = re.compile(
    rf"[^\W\d_{_LEFTWARD}](?:[^{_LEFTWARD}]*[^\W_{_LEFTWARD}])?|[+$€£₪#№]?\d(?:[\d.,:/–-]*\d)?%?|.", re.DOTALL
)
_LEFTWARD_RUN = re.compile(rf"[{_LEFTWARD}](?:[^A-Za-z0-9]*[{_LEFTWARD}])?")
_PERSIAN = re.compile("[پچژگکی]")
_MIRRORED = str.maketrans("()[]«»<>", ")(][»«><")


def read_page_lines(crops: Sequence[Pixels], done: Report | None = None) -> list[OcrResult]:
    """Read the lines of a page, each with the reader of its script.

    Some lines show whether the page is in a script of the network. If it is, the first reader reads only the lines that
    the network does not; the readings are those of both readers reading all lines.
    """
    return replace_page_signs(_read_page_lines(crops, done))


def replace_page_signs(readings: list[OcrResult]) -> list[OcrResult]:
    """Return the readings without Chinese signs that stand for others, unless the page has Chinese."""
    if has_chinese(reading.text for reading in readings):
        return readings
    signs = [replace_bars(replace_signs(reading.text)) for reading in readings]
    return [
        reading if text == reading.text else replace(reading, text=text)
        for reading, text in zip(readings, signs, strict=True)
    ]


def _read_page_lines(crops: Sequence[Pixels], done: Report | None) -> list[OcrResult]:
    if models.script_network() is None:
        return read_lines(crops, done)
    script_readings: dict[int, OcrResult] = {}

    def probe(distinct: Sequence[Pixels], probed: Mapping[int, OcrResult]) -> dict[int, OcrResult]:
        if _is_script_page([(distinct[number], reading) for number, reading in probed.items()]):
            readings = [UNREAD] * len(distinct)
            _replace(readings, distinct, range(len(distinct)), in_script=True)
            script_readings.update(
                {number: reading for number, reading in enumerate(readings) if reading is not UNREAD}
            )
        return script_readings

    readings = read_lines(crops, done, probe)
    return _order_figures(readings) if script_readings else read_scripts(crops, readings)


def _is_script_page(probes: Sequence[tuple[Pixels, OcrResult]]) -> bool:
    """Whether clearly more of these lines are in a script of the network than a page needs to be read by it."""
    crops, readings = [crop for crop, _ in probes], [reading for _, reading in probes]
    doubtful = [number for number, reading in enumerate(readings) if _is_doubtful(crops[number], reading)]
    if len(doubtful) < CLEAR * len(probes):
        return False
    return _replace(readings, crops, doubtful, in_script=False) >= CLEAR * len(probes)


def read_scripts(crops: Sequence[Pixels], readings: Sequence[OcrResult]) -> list[OcrResult]:
    """Replace readings by those of the network where they are better.

    Doubtful lines are tried first, and all lines on a page where many of them are in such a script.
    """
    best = list(readings)
    if models.script_network() is None:
        return best
    doubtful = [number for number, reading in enumerate(readings) if _is_doubtful(crops[number], reading)]
    doubtful.sort(key=lambda number: abs(crops[number].shape[1] / len(crops[number]) - USUAL_WIDTH))
    better = _replace(best, crops, doubtful[:PROBES], in_script=False)
    if not better:
        return best
    better += _replace(best, crops, doubtful[PROBES:], in_script=False)
    if better >= max(FEWEST_LINES, SHARE * len(crops)):
        rest = [number for number, reading in enumerate(readings) if best[number] is reading]
        _replace(best, crops, rest, in_script=True)
    return _order_figures(best)


def _order_figures(readings: list[OcrResult]) -> list[OcrResult]:
    """Reorder the lines of figures, if most lines are written leftward."""
    if sum(is_leftward(reading.text) for reading in readings) > len(readings) / 2:
        return [_turn_figures(reading) for reading in readings]
    return readings


def _turn_figures(reading: OcrResult) -> OcrResult:
    """Reorder a line of figures on a page that is written leftward, such as a span of hours."""
    if any(letter.isalpha() for letter in reading.text):
        return reading
    text = "".join(reversed(_RIGHTWARD_RUN.findall(reading.text)))
    return reading if text == reading.text else OcrResult(text, reading.sure, (), ())


def _replace(readings: list[OcrResult], crops: Sequence[Pixels], numbers: Sequence[int], in_script: bool) -> int:
    """Read these lines, keep what is better, and return how many that are.

    `in_script` is whether the page is in a script of the network.
    """
    better = 0
    keys = {number: (crops[number].shape, crops[number].tobytes()) for number in numbers}
    distinct = {key: crops[number] for number, key in keys.items()}
    by_crop = dict(zip(distinct, map_parallel(read_script_line, distinct.values()), strict=True))
    for number in numbers:
        reading = by_crop[keys[number]]
        letters = [letter for letter in reading.text if _is_own(letter) and (in_script or letter not in _LOOKALIKES)]
        least = (BEYOND_DOUBT if len(reading.text) == 1 else SURE) if in_script else SURE
        if len(letters) >= (1 if in_script else 2) and reading.sure >= least:
            readings[number] = reading
            better += 1
    return better


def _is_doubtful(crop: Pixels, reading: OcrResult) -> bool:
    """Whether a reading is uncertain, or too short: the first reader leaves out letters that it does not know."""
    letters = sum(not letter.isspace() for letter in reading.text)
    return reading.sure < SURE or letters < FEW * crop.shape[1] / len(crop)


def _is_own(letter: str) -> bool:
    """Whether a letter belongs to one of the network's scripts."""
    return letter.isalpha() and ("\u0370" <= letter <= "\u06ff" or "\uac00" <= letter <= "\ud7a3")


def is_script(text: str) -> bool:
    """Whether the network of scripts may have read this text: it has letters that are not Latin or Chinese."""
    return any(map(_is_own, text))


def read_script_line(crop: Pixels) -> OcrResult:
    """Read one line."""
    network = models.script_network()
    assert network is not None
    seen = _to_input(crop)
    width = min(round(crop.shape[1] * HEIGHT / max(len(crop), 1)), WIDEST)
    return _decode(network(seen)[0], models.script_characters(), width / seen.shape[3])


def _to_input(crop: Pixels) -> NDArray[np.float32]:
    """Return how much of each pixel is ink, whatever the colours, at the network's height."""
    colours = crop.astype(np.float32)
    change = colours - np.median(colours.reshape(-1, colours.shape[-1]), axis=0)
    strength = np.abs(change).max(axis=2)
    strongest = (strength >= np.quantile(strength, STRONGEST)) & (strength > STRONG * strength.max())
    ink = change[strongest].mean(axis=0) if strongest.any() else np.ones(colours.shape[-1], np.float32)
    cover = np.clip(change @ ink / max(float(ink @ ink), 1.0), *COVERS).astype(np.float32)
    width = min(max(round(crop.shape[1] * HEIGHT / max(len(crop), 1)), NARROWEST), WIDEST)
    image = Image.fromarray(cover).resize((width, HEIGHT), Image.Resampling.BILINEAR)
    out = np.zeros((1, 1, HEIGHT, -(-width // MULTIPLE) * MULTIPLE), np.float32)
    out[0, 0, :, :width] = np.asarray(image)
    return out


def _decode(chances: NDArray[np.float32], letters: Sequence[str], part: float) -> OcrResult:
    """Decode the likeliest class at each step, without repeats and blanks, and join jamo to syllables."""
    best = chances.argmax(axis=1)
    bounds = [0, *(int(step) + 1 for step in np.flatnonzero(np.diff(best))), len(best)]
    spelt: list[tuple[str, float, float]] = []
    for start, end in pairwise(bounds):
        letter = letters[int(best[start])]
        if not letter:
            continue
        sure = float(chances[start:end, best[start]].max())
        place = min((start + end) / 2 / (len(best) * part), 1.0)
        joined = unicodedata.normalize("NFC", spelt[-1][0] + letter) if spelt else ""
        if len(joined) == 1:
            spelt[-1] = joined, min(sure, spelt[-1][1]), (place + spelt[-1][2]) / 2
        else:
            spelt.append((letter, sure, place))
    if any("\u1100" <= letter <= "\u11ff" for letter, _, _ in spelt):
        return OcrResult("", 0.0, (), ())  # jamo that form no syllable
    letter_sure = tuple(sure for _, sure, _ in spelt)
    text = _unify_words("".join(letter for letter, _, _ in spelt), letter_sure)
    sure = sum(letter_sure) / len(letter_sure) if letter_sure else 0.0
    if is_leftward(text):
        return OcrResult(to_logical_order(text), sure, (), ())
    return OcrResult(text, sure, letter_sure, tuple(place for _, _, place in spelt))


def _unify_words(text: str, letter_sure: Sequence[float]) -> str:
    """Give each word the letters of one script, and small letters within it where capitals are uncertain.

    A mixture of letters that both scripts have is Latin: Cyrillic words are hardly ever mixed.
    """
    letters = list(text)
    for word in re.finditer(r"[^\W\d_]+", text):
        span = range(word.start(), word.end())
        cyrillic = any("\u0400" <= text[at] <= "\u052f" and text[at] not in LATIN_OF for at in span)
        latin = any(text[at].isascii() and text[at] not in ALIKE for at in span)
        latin = latin or (not cyrillic and any(text[at].isascii() for at in span))
        if cyrillic != latin:
            for at in span:
                # pyrefly: ignore[no-matching-overload]
                letters[at] = (ALIKE if cyrillic else LATIN_OF).get(text[at], text[at])
        small = any(text[at].islower() for at in span)
        for at in span[1:]:
            if small and letter_sure[at] < SMALL_SURE:
                letters[at] = letters[at].lower()
    return "".join(letters)


def to_logical_order(text: str) -> str:
    """Reorder a line from the order of the eye to the one in which it is written and read."""
    leftward = sum(re.match(f"[{_LEFTWARD}]", letter) is not None for letter in text)
    if 2 * leftward < sum(letter.isalpha() for letter in text):
        return _LEFTWARD_RUN.sub(lambda run: run.group()[::-1].translate(_MIRRORED), text)
    runs = [run if len(run) > 1 else run.translate(_MIRRORED) for run in _RIGHTWARD_RUN.findall(text)]
    ordered = "".join(reversed(runs))
    if _PERSIAN.search(ordered):
        ordered = ordered.translate(str.maketrans("كيى", "کیی"))
    return ordered
