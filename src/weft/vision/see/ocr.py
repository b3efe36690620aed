"""Finds and reads lines of text with two neural networks."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision.elements import Box, Rect, hull, spanning
from weft.vision.see import models
from weft.vision.see.ink import FAINT, Ink, extract_ink
from weft.vision.see.regions import Mask, Pixels, label_islands

TILE = 480  # rows that the network sees at once; tiles share `OVERLAP` rows so that no line is cut in two
OVERLAP = 64
SURE, LEAST_MEAN = 0.3, 0.45  # of a line that is read: the least chance of a pixel, and their mean
LIKELY, LEAST_LIKELY = 0.15, 0.22  # of a place that looks like text, whether or not it can be read
GROWTH = 1.6  # the network marks the core of a line; its box is this much larger


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """Rough boxes of text lines: those that are read, and all that look like text."""

    lines: list[Rect]
    likely: list[Rect]


def find_text(pixels: Pixels, busy: Mask, done: Callable[[float], None] | None = None) -> TextPlaces:
    """Find text. `busy` marks pixels that are not plain background."""
    height, width = pixels.shape[:2]
    network = models.detection_network()
    chance = np.zeros((height, width), np.float32)
    tiles = sorted(_tiles(busy), key=lambda tile: -(tile[1] - tile[0]) * (tile[3] - tile[2]))  # none large at the end
    maps = models.map_parallel(lambda tile: _detect_tile(network, pixels[tile[0] : tile[1], tile[2] : tile[3]]), tiles)
    for number, (tile, found) in enumerate(zip(tiles, maps, strict=True)):
        top, bottom, left, right = tile
        part = chance[top:bottom, left:right]
        np.maximum(part, found, out=part)
        if done is not None:
            done((number + 1) / len(tiles))
    return TextPlaces(_boxes(chance, SURE, LEAST_MEAN), _boxes(chance, LIKELY, LEAST_LIKELY))


def _tiles(busy: Mask) -> Iterator[tuple[int, int, int, int]]:
    """Yield bands of rows that are not empty, cropped to their columns."""
    height, width = busy.shape
    rows = np.flatnonzero(busy.any(axis=1))
    if not len(rows):
        return
    breaks = np.flatnonzero(np.diff(rows) > OVERLAP)
    for band in np.split(rows, breaks + 1):
        top, end = max(int(band[0]) - 16, 0), min(int(band[-1]) + 17, height)
        while top < end:
            bottom = min(top + TILE, end)
            if end - bottom < OVERLAP:
                bottom = end
            columns = np.flatnonzero(busy[top:bottom].any(axis=0))
            if len(columns):
                yield top, bottom, max(int(columns[0]) - 16, 0), min(int(columns[-1]) + 17, width)
            if bottom == end:
                break
            top = bottom - OVERLAP


def _detect_tile(network: models.Network, tile: Pixels) -> NDArray[np.float32]:
    height, width = tile.shape[:2]
    padded = np.zeros((-(-height // 32) * 32, -(-width // 32) * 32, 3), np.float32)
    padded[:height, :width] = tile[:, :, ::-1]
    padded[height:, :width] = padded[height - 1, :width]
    padded[:, width:] = padded[:, width - 1 : width]
    batch = ((padded / 127.5) - 1.0).transpose(2, 0, 1)[None]
    return network(np.ascontiguousarray(batch, np.float32))[0, 0, :height, :width]


def _boxes(chance: NDArray[np.float32], least: float, least_mean: float) -> list[Rect]:
    height, width = chance.shape
    marked = label_islands(chance > least)
    found: list[Rect] = []
    for number in range(1, len(marked.area)):
        left, top, right, bottom = (int(edge) for edge in marked.edges[number])
        wide, high = right - left, bottom - top
        if min(wide, high) < 3:
            continue
        mean = float(chance[top:bottom, left:right][marked.mask(number)].mean())
        if mean < least_mean:
            continue
        out = wide * high * GROWTH / (2 * (wide + high))
        found.append(Rect(left - out, top - out, wide + 2 * out, high + 2 * out).within(width, height))
    return found


HEIGHT = 48
BATCH_WIDTH = 1600  # columns in one batch: enough to keep the processor busy, little enough to report progress
WIDEST_CROP = 2400
SQUEEZE = 0.7
SHORT = 192  # columns of a short word, which is not narrowed: it costs little
UNSURE = 0.55  # a line with a less certain letter is read again
PROBES = 12  # lines that are read before the others


@dataclass(frozen=True, slots=True)
class OcrResult:
    """The text of a line, its confidence, and the place of each character (0 to 1 of the crop's width)."""

    text: str
    sure: float
    each: tuple[float, ...]
    places: tuple[float, ...]

    def columns(self, ink: Rect) -> list[float]:
        """Return the place of each character on the ink, in pixels."""
        margin = crop_margin(ink)
        return [place * (round(ink.w) + 2 * margin) - margin for place in self.places]


def crop_margin(ink: Rect) -> int:
    return max(2, round(ink.h * 0.18))


Probe = Callable[[Sequence[Pixels], Mapping[int, OcrResult]], Mapping[int, OcrResult]]
"""Called with all crops and the readings of some of them, by their numbers; returns the readings that are known."""


Report = Callable[[float, Sequence[OcrResult]], None]
"""Called with the part that is done and what was read last, while the networks read on."""


def read_lines(crops: Sequence[Pixels], done: Report | None = None, probe: Probe | None = None) -> list[OcrResult]:
    """Read each crop, equal ones once; lines with an uncertain letter are read again at full width.

    With a probe, a few lines are read first, and the others only if the probe does not know their readings.
    """
    if not crops:
        return []
    report: Report = done or (lambda _part, _read: None)
    keys = [(crop.shape, crop.tobytes()) for crop in crops]
    distinct = dict(zip(keys, crops, strict=True))
    known = dict(zip(distinct, _read_distinct(list(distinct.values()), report, probe), strict=True))
    report(1.0, ())
    return [known[key] for key in keys]


def _read_distinct(crops: Sequence[Pixels], report: Report, probe: Probe | None) -> list[OcrResult]:
    known: dict[int, OcrResult] = {}
    found = _readings(crops, SQUEEZE, lambda part, read: report(0.85 * part, read), probe, known)
    unsure = [number for number, reading in enumerate(found) if min(reading.each, default=1.0) < UNSURE]
    again = [number for number in unsure if number not in known]
    closer = _readings([crops[number] for number in again], 1.0, lambda part, read: report(0.85 + 0.15 * part, read))
    for number, reading in zip(again, closer, strict=True):
        if reading.sure > found[number].sure:
            found[number] = reading
    return found


def _readings(
    crops: Sequence[Pixels],
    squeeze: float,
    done: Report,
    probe: Probe | None = None,
    known: dict[int, OcrResult] | None = None,
) -> list[OcrResult]:
    """Read the crops. What the probe knows is added to `known`, and not read."""
    network, letters = models.reading_network(), models.characters()
    widths = [_width(crop, squeeze) for crop in crops]
    found: dict[int, OcrResult] = {}

    def work(batch: list[int]) -> list[OcrResult]:
        widest = widths[batch[-1]]
        pictures = np.stack([_to_input(crops[number], widths[number], widest) for number in batch])
        chances = network(pictures)
        return [_decode(each, letters, widths[number] / widest) for number, each in zip(batch, chances, strict=True)]

    def read(batches: Sequence[list[int]]) -> None:
        for batch, readings in zip(batches, models.map_parallel(work, batches), strict=True):
            found.update(zip(batch, readings, strict=True))
            done(len(found) / len(crops), readings)

    batches = list(_batches(widths))
    if probe is not None and known is not None and len(crops) >= 2 * PROBES:
        first = _choose_probes(batches)
        read(first)
        known.update(probe(crops, found))
        found.update(known)
        batches = [batch for batch in batches if batch not in first]
        if known:
            rest = [number for batch in batches for number in batch if number not in known]
            batches = [[rest[at] for at in batch] for batch in _batches([widths[number] for number in rest])]
    read(batches)
    return [found[number] for number in range(len(crops))]


def _choose_probes(batches: Sequence[list[int]]) -> list[list[int]]:
    """Return the batches of middle width that have `PROBES` crops together."""
    chosen: list[list[int]] = []
    for batch in sorted(batches, key=lambda each: abs(batches.index(each) - len(batches) // 2)):
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
        if widest * (len(batch) + 1) > BATCH_WIDTH or widest > widths[batch[0]] * 1.25 + 32:
            break
        batch.append(number)
    return batch


def _width(crop: Pixels, squeeze: float) -> int:
    height, width = crop.shape[:2]
    whole = width * HEIGHT / max(height, 1)
    wanted = max(whole * squeeze, min(whole, SHORT))
    return int(min(max(-(-wanted // 16) * 16, 48), WIDEST_CROP))


def _to_input(crop: Pixels, width: int, widest: int) -> NDArray[np.float32]:
    image = Image.fromarray(crop).resize((width, HEIGHT), Image.Resampling.BILINEAR)
    out = np.zeros((3, HEIGHT, widest), np.float32)
    out[:, :, :width] = (np.asarray(image, np.float32)[:, :, ::-1] / 127.5 - 1.0).transpose(2, 0, 1)
    return out


def _decode(chances: NDArray[np.float32], letters: list[str], part: float) -> OcrResult:
    """Decode the likeliest class at each step, without repeats and blanks."""
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(best)), best]
    fresh = (best != 0) & np.concatenate(([True], best[1:] != best[:-1]))
    steps = np.flatnonzero(fresh)
    text = normalize_width("".join(letters[int(best[step])] for step in steps))
    each = tuple(float(sure[step]) for step in steps)
    places = tuple(min((float(step) + 0.5) / (len(best) * part), 1.0) for step in steps)
    return OcrResult(text, sum(each) / len(each) if each else 0.0, each, places)


def normalize_width(text: str) -> str:
    """Replace full-width forms in text that has no wide script."""
    if any("\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" for letter in text):
        return text
    return unicodedata.normalize("NFKC", text).replace("°°", "°") if text else text


Piece = tuple[Ink, OcrResult]
GAP = 0.2  # between a mark and a text, in parts of the ink's height; at least 3 pixels
SLACK = 0.05  # how far beyond the gap a letter may seem to stand, in the same parts: its place is not exact
LEAST_SURE = 0.85  # a less certain reading may be of an unknown script, and its places mean nothing
DOTS = "•●▪■◦○"
MOST_MARKS, WIDEST_MARK = 3, 3.0  # marks that stand together, and their width in parts of the height
UNREAD = OcrResult("", 0.0, (), ())


def split_marks(pixels: Pixels, page: Pixels, pieces: Sequence[Piece], boxes: Sequence[Box] = ()) -> list[Piece]:
    """Split each piece into a mark, the text, and a mark. Marks that are boxes are dropped."""
    found: list[Piece] = []
    for ink, reading in pieces:
        if reading.text and all(_is_mark(letter) for letter in reading.text) and are_marks(split_at_gaps(ink)):
            found += _marks(pixels, page, split_at_gaps(ink), ink.rect, boxes)
            continue
        text = _text_alone(pixels, page, ink, reading)
        if text is None:
            found.append((ink, reading))
            continue
        found.append(text)
        found += _marks(pixels, page, _rest_beside(ink.rect, text[0].rect), text[0].rect, boxes)
    return found


def _marks(pixels: Pixels, page: Pixels, rects: Sequence[Rect], text: Rect, boxes: Sequence[Box]) -> list[Piece]:
    whole = [extract_ink(pixels, page, rect) for rect in rects]
    inks = [extract_ink(pixels, page, part) for ink in whole if ink is not None for part in split_at_gaps(ink)]
    return [(ink, UNREAD) for ink in inks if ink is not None and not _is_in_box(ink.rect, text, boxes)]


def split_at_gaps(ink: Ink) -> list[Rect]:
    """Return the places of the pieces of a line between wide gaps."""
    bounds = [0, *(each for gap in _gaps(ink) for each in gap), ink.cover.shape[1]]
    rect = ink.rect
    ends = zip(bounds[::2], bounds[1::2], strict=True)
    return [spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)) for start, end in ends]


def are_marks(rects: Sequence[Rect]) -> bool:
    """Whether these are a few marks, none as wide as a word."""
    return len(rects) <= MOST_MARKS and all(map(is_squarish, rects))


def is_squarish(rect: Rect) -> bool:
    return rect.w < 1.7 * rect.h


def join_rows(rects: list[Rect]) -> list[Rect]:
    """Join unread pieces of one line; a few marks beside each other stay apart."""
    rows: list[list[Rect]] = []
    for rect in sorted(rects, key=lambda each: each.x):
        near = next((row for row in rows if _continues_row(hull(row), rect)), None)
        if near is None:
            rows.append([rect])
        else:
            near.append(rect)
    return [rect for row in rows for rect in (row if are_marks(row) else [hull(row)])]


def _continues_row(row: Rect, rect: Rect) -> bool:
    level = min(row.bottom, rect.bottom) - max(row.y, rect.y) > 0.5 * min(row.h, rect.h)
    return level and rect.x - row.right < rect.h


def _gaps(ink: Ink) -> list[tuple[int, int]]:
    """Find the wide spans of columns without ink."""
    filled = np.flatnonzero(ink.cover.max(axis=0) > FAINT)
    wide = np.flatnonzero(np.diff(filled) > max(GAP * ink.cover.shape[0], 3.0))
    return [(int(filled[at]) + 1, int(filled[at + 1])) for at in wide]


def _text_alone(pixels: Pixels, page: Pixels, ink: Ink, reading: OcrResult) -> Piece | None:
    """Return the text without marks; None if there are no marks."""
    letters = [number for number, letter in enumerate(reading.text) if not _is_mark(letter)]
    if (
        not letters
        or (len(letters) < 2 and not _has_symbol(reading.text))
        or len(reading.places) != len(reading.text)
        or reading.sure < LEAST_SURE
    ):
        return None
    height, width = ink.cover.shape
    places = reading.columns(ink.rect)
    gaps = _gaps(ink)
    first, last, slack = places[letters[0]], places[letters[-1]], SLACK * height
    start = max((end for _, end in gaps if end <= first + slack), default=0)
    end = min((begin for begin, _ in gaps if begin >= last - slack), default=width)
    start, end = start if start <= WIDEST_MARK * height else 0, end if width - end <= WIDEST_MARK * height else width
    if (start, end) == (0, width) or end - start < 2:
        return None
    rect = ink.rect
    alone = extract_ink(pixels, page, spanning((rect.x + start, rect.y, rect.x + end, rect.bottom)))
    if alone is None:
        return None
    span = slice(letters[0], letters[-1] + 1)
    return alone, _move_reading(reading, span, places, rect.x - alone.rect.x, alone.rect)


def _move_reading(reading: OcrResult, span: slice, places: Sequence[float], by: float, rect: Rect) -> OcrResult:
    """Return a span of a reading, with places in the new crop."""
    margin = crop_margin(rect)
    within = tuple(min(max((place + by + margin) / (rect.w + 2 * margin), 0.0), 1.0) for place in places[span])
    each = reading.each[span] if len(reading.each) == len(reading.text) else reading.each
    return OcrResult(reading.text[span], reading.sure, each, within)


def _rest_beside(whole: Rect, text: Rect) -> list[Rect]:
    """Return the ink before and behind the text."""
    before = spanning((whole.x, whole.y, text.x, whole.bottom))
    behind = spanning((text.right, whole.y, whole.right, whole.bottom))
    return [rect for rect in (before, behind) if rect.w >= 3]


def _is_in_box(mark: Rect, text: Rect, boxes: Sequence[Box]) -> bool:
    """Whether the mark is a box, or part of one that the text is not on."""
    around = [box.rect for box in boxes if box.rect.grown(2).holds(mark)]
    return any(mark.grown(3).holds(rect) or not rect.holds(text, 2) for rect in around)


def _has_symbol(text: str) -> bool:
    """Whether a text begins with a symbol that is no letter, such as the square that an icon was read as."""
    return unicodedata.category(text.strip()[0]) == "So"


def _is_mark(letter: str) -> bool:
    """Whether this is a symbol, the dot of a list or a space, which texts do not begin or end with."""
    return letter.isspace() or letter in DOTS or (unicodedata.category(letter) == "So" and letter not in "©®™°")
