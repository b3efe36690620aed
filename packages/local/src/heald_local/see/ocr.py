"""Reads lines of text with a neural network."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald_local.see import models
from heald_local.see.pixel_units import PIXEL_MIDDLE
from heald_local.see.workers import map_parallel
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

HEIGHT = 48  # pixels of a line that the network sees
BATCH_WIDTH = 1600  # columns in one batch: enough to keep the processor busy, little enough to report progress
WIDEST_CROP, NARROWEST_CROP = 2400, 48  # columns that it sees
MULTIPLE = 16  # columns: the width that it sees is a multiple of it
SIMILAR, SIMILAR_BY = 1.25, 32  # how much wider the widest crop of a batch may be, and columns more
GREY = 127.5  # half of the lightest level: the network sees colours from -1 to 1
SQUEEZE = 0.7  # the part of its width to which a line is narrowed
FIRST_PART, SECOND_PART = 0.85, 0.15  # of the time that reading takes: all lines, then the uncertain ones
MARGIN, LEAST_MARGIN = 0.18, 2  # around a line that is read: heights, and pixels
WIDE_SCRIPTS = (("\u2e80", "\u9fff"), ("\uac00", "\ud7af"))  # Chinese and Japanese, Korean: full-width forms are usual
SHORT = 192  # columns of a short word, which is not narrowed: it costs little
UNSURE = 0.55  # a line with a less certain letter is read a second time
PROBES = 12  # lines that are read before the others


@dataclass(frozen=True, slots=True)
class OcrResult:
    """The text of a line, its confidence and that of each character, and their places (0 to 1 of the crop's width)."""

    text: str
    sure: float
    letter_sure: tuple[float, ...]
    places: tuple[float, ...]

    def columns(self, ink: Rect) -> list[float]:
        """Return the place of each character on the ink, in pixels."""
        margin = crop_margin(ink)
        return [place * (round(ink.w) + 2 * margin) - margin for place in self.places]


def crop_margin(ink: Rect) -> int:
    return max(LEAST_MARGIN, round(ink.h * MARGIN))


Probe = Callable[[Sequence[Pixels], Mapping[int, OcrResult]], Mapping[int, OcrResult]]
"""Called with all crops and the readings of some of them, by their numbers; returns the readings that are known."""
Report = Callable[[float, Sequence[OcrResult]], None]
"""Called with the part that is done and what was read last, while the networks read on."""


def read_lines(crops: Sequence[Pixels], done: Report | None = None, probe: Probe | None = None) -> list[OcrResult]:
    """Read each crop, equal ones once; lines with an uncertain letter are read a second time at full width.

    With a probe, a few lines are read first, and the others only if the probe does not know their readings.
    """
    if not crops:
        return []
    report: Report = done or (lambda _part, _read: None)
    keys = [(crop.shape, crop.tobytes()) for crop in crops]
    distinct = dict(zip(keys, crops, strict=True))
    readings = dict(zip(distinct, _read_distinct(list(distinct.values()), report, probe), strict=True))
    report(1.0, ())
    return [readings[key] for key in keys]


def read_whole_lines(crops: Sequence[Pixels]) -> list[OcrResult]:
    """Read each crop at its full width, which takes longer and leaves out fewer letters."""
    return _readings(crops, 1.0, lambda _part, _read: None)


def _read_distinct(crops: Sequence[Pixels], report: Report, probe: Probe | None) -> list[OcrResult]:
    probed: dict[int, OcrResult] = {}
    readings = _readings(crops, SQUEEZE, lambda part, read: report(FIRST_PART * part, read), probe, probed)
    unsure = [number for number, reading in enumerate(readings) if min(reading.letter_sure, default=1.0) < UNSURE]
    reread = [number for number in unsure if number not in probed]
    closer = _readings(
        [crops[number] for number in reread],
        1.0,
        lambda part, read: report(FIRST_PART + SECOND_PART * part, read),
    )
    for number, reading in zip(reread, closer, strict=True):
        if reading.sure > readings[number].sure:
            readings[number] = reading
    return readings


def _readings(
    crops: Sequence[Pixels],
    squeeze: float,
    done: Report,
    probe: Probe | None = None,
    probed: dict[int, OcrResult] | None = None,
) -> list[OcrResult]:
    """Read the crops. What the probe reads is added to `probed`, and not read here."""
    network, letters = models.reading_network(), models.characters()
    widths = [_width(crop, squeeze) for crop in crops]
    results: dict[int, OcrResult] = {}

    def work(batch: list[int]) -> list[OcrResult]:
        widest = widths[batch[-1]]
        pictures = np.stack([_to_input(crops[number], widths[number], widest) for number in batch])
        chances = network(pictures)
        return [
            _decode(chance, letters, widths[number] / widest) for number, chance in zip(batch, chances, strict=True)
        ]

    def read(batches: Sequence[list[int]]) -> None:
        for batch, readings in zip(batches, map_parallel(work, batches), strict=True):
            results.update(zip(batch, readings, strict=True))
            done(len(results) / len(crops), readings)

    batches = list(_batches(widths))
    if probe is not None and probed is not None and len(crops) >= 2 * PROBES:
        first = _choose_probes(batches)
        read(first)
        probed.update(probe(crops, results))
        results.update(probed)
        batches = [batch for batch in batches if batch not in first]
        if probed:
            rest = [number for batch in batches for number in batch if number not in probed]
            batches = [[rest[at] for at in batch] for batch in _batches([widths[number] for number in rest])]
    read(batches)
    return [results[number] for number in range(len(crops))]


def _choose_probes(batches: Sequence[list[int]]) -> list[list[int]]:
    """Return the batches of middle width that have `PROBES` crops together."""
    chosen: list[list[int]] = []
    for batch in sorted(batches, key=lambda batch: abs(batches.index(batch) - len(batches) // 2)):
        if sum(map(len, chosen)) >= PROBES:
            break
        chosen.append(batch)
    return chosen


def _batches(widths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of crops of similar width, widest first, so that no core waits long for the last."""
    order = sorted(range(len(widths)), key=lambda number: widths[number])
    batches: list[list[int]] = []
    while order:
        batches.append(_next_batch(order, widths))
        order = order[len(batches[-1]) :]
    return reversed(batches)


def _next_batch(order: Sequence[int], widths: Sequence[int]) -> list[int]:
    batch = [order[0]]
    for number in order[1:]:
        widest = widths[number]
        if widest * (len(batch) + 1) > BATCH_WIDTH or widest > widths[batch[0]] * SIMILAR + SIMILAR_BY:
            break
        batch.append(number)
    return batch


def _width(crop: Pixels, squeeze: float) -> int:
    height, width = crop.shape[:2]
    whole = width * HEIGHT / max(height, 1)
    narrowed = max(whole * squeeze, min(whole, SHORT))
    return int(min(max(-(-narrowed // MULTIPLE) * MULTIPLE, NARROWEST_CROP), WIDEST_CROP))


def _to_input(crop: Pixels, width: int, widest: int) -> NDArray[np.float32]:
    image = Image.fromarray(crop).resize((width, HEIGHT), Image.Resampling.BILINEAR)
    out = np.zeros((crop.shape[-1], HEIGHT, widest), np.float32)
    out[:, :, :width] = (np.asarray(image, np.float32)[:, :, ::-1] / GREY - 1.0).transpose(2, 0, 1)
    return out


def _decode(chances: NDArray[np.float32], letters: list[str], part: float) -> OcrResult:
    """Decode the likeliest class at each step, without repeats and blanks."""
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(best)), best]
    fresh = (best != 0) & np.concatenate(([True], best[1:] != best[:-1]))
    steps = np.flatnonzero(fresh)
    text = normalize_width("".join(letters[int(best[step])] for step in steps))
    letter_sure = tuple(float(sure[step]) for step in steps)
    places = tuple(min((float(step) + PIXEL_MIDDLE) / (len(best) * part), 1.0) for step in steps)
    mean = sum(letter_sure) / len(letter_sure) if letter_sure else 0.0
    return OcrResult(text, mean, letter_sure, places)


def normalize_width(text: str) -> str:
    """Replace full-width forms in text that has no wide script."""
    if any(first <= letter <= last for letter in text for first, last in WIDE_SCRIPTS):
        return text
    return unicodedata.normalize("NFKC", text).replace("°°", "°") if text else text


UNREAD = OcrResult("", 0.0, (), ())
