"""What text says: crops of lines go through the recogniser in batches of like width, on all cores.

Letters are narrowed first, which costs a third less and reads as well; a line that is unsure then is read as it is.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision import models
from weft.vision.geometry import Rect
from weft.vision.regions import Pixels

HEIGHT = 48
BATCH_WIDTH = 1600
"""Columns in one batch: enough to keep the processor busy, little enough to report progress."""
WIDEST = 2400
SQUEEZE = 0.7
SHORT = 192
"""Columns of a short word, which is not narrowed: it costs little."""
UNSURE = 0.55
"""A line with a letter less sure than this is looked at again."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A line as read: its characters, how sure, and where each stands (0 to 1 of the crop's width)."""

    text: str
    sure: float
    each: tuple[float, ...]
    places: tuple[float, ...]

    def columns(self, ink: Rect) -> list[float]:
        """Where each character stands on the ink, in pixels from its left edge."""
        margin = crop_margin(ink)
        return [place * (round(ink.w) + 2 * margin) - margin for place in self.places]


def crop_margin(ink: Rect) -> int:
    """What a crop has around its ink."""
    return max(2, round(ink.h * 0.18))


def read(crops: Sequence[Pixels], done: Callable[[float], None] | None = None) -> list[Reading]:
    """One reading for each crop, in order."""
    if not crops:
        return []
    tell: Callable[[float], None] = done or (lambda _part: None)
    found = _readings(crops, SQUEEZE, lambda part: tell(0.85 * part))
    again = [number for number, reading in enumerate(found) if min(reading.each, default=1.0) < UNSURE]
    closer = _readings([crops[number] for number in again], 1.0, lambda part: tell(0.85 + 0.15 * part))
    for number, reading in zip(again, closer, strict=True):
        if reading.sure > found[number].sure:
            found[number] = reading
    tell(1.0)
    return found


def _readings(crops: Sequence[Pixels], squeeze: float, done: Callable[[float], None]) -> list[Reading]:
    network, letters = models.reader(), models.characters()
    widths = [_width(crop, squeeze) for crop in crops]

    def work(batch: list[int]) -> list[Reading]:
        widest = widths[batch[-1]]
        pictures = np.stack([_shape(crops[number], widths[number], widest) for number in batch])
        chances = network(pictures)
        return [_decode(each, letters, widths[number] / widest) for number, each in zip(batch, chances, strict=True)]

    batches = list(_batches(widths))
    found: dict[int, Reading] = {}
    for batch, readings in zip(batches, models.spread(work, batches), strict=True):
        found.update(zip(batch, readings, strict=True))
        done(len(found) / len(crops))
    return [found[number] for number in range(len(crops))]


def _batches(widths: Sequence[int]) -> Iterator[list[int]]:
    """All crops, a few of nearly the same width at a time, the widest first: then no core waits long for the last."""
    order = sorted(range(len(widths)), key=lambda number: widths[number])
    batches: list[list[int]] = []
    while order:
        batches.append(_take(order, widths))
        order = order[len(batches[-1]) :]
    return reversed(batches)


def _take(order: Sequence[int], widths: Sequence[int]) -> list[int]:
    """The next few crops of nearly the same width."""
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
    return int(min(max(-(-wanted // 16) * 16, 48), WIDEST))


def _shape(crop: Pixels, width: int, widest: int) -> NDArray[np.float32]:
    image = Image.fromarray(crop).resize((width, HEIGHT), Image.Resampling.BILINEAR)
    out = np.zeros((3, HEIGHT, widest), np.float32)
    out[:, :, :width] = (np.asarray(image, np.float32)[:, :, ::-1] / 127.5 - 1.0).transpose(2, 0, 1)
    return out


def _decode(chances: NDArray[np.float32], letters: list[str], part: float) -> Reading:
    """The likeliest class at each step, repeats and blanks taken out."""
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(best)), best]
    fresh = (best != 0) & np.concatenate(([True], best[1:] != best[:-1]))
    steps = np.flatnonzero(fresh)
    text = plain("".join(letters[int(best[step])] for step in steps))
    each = tuple(float(sure[step]) for step in steps)
    places = tuple(min((float(step) + 0.5) / (len(best) * part), 1.0) for step in steps)
    return Reading(text, sum(each) / len(each) if each else 0.0, each, places)


def plain(text: str) -> str:
    """Without the wide forms that the reader sometimes prefers in text that has no wide script."""
    if any("\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" for letter in text):
        return text
    return unicodedata.normalize("NFKC", text).replace("°°", "°") if text else text
