"""What text says: crops of lines go through the recogniser in batches of like width."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision import models
from weft.vision.regions import Pixels

HEIGHT = 48
BATCH_WIDTH = 1600
"""Columns in one batch: enough to keep the processor busy, little enough to report progress."""
WIDEST = 2400


@dataclass(frozen=True, slots=True)
class Reading:
    """A line as read: its characters, how sure, and where each stands (0 to 1 of the crop's width)."""

    text: str
    sure: float
    each: tuple[float, ...]
    places: tuple[float, ...]


def read(crops: Sequence[Pixels], done: Callable[[float], None] | None = None, squeeze: float = 1.0) -> list[Reading]:
    """One reading for each crop, in order. `squeeze` under 1 narrows the letters: faster, a little less sure."""
    if not crops:
        return []
    network, letters = models.reader(), models.characters()
    widths = [_width(crop, squeeze) for crop in crops]
    order = sorted(range(len(crops)), key=lambda number: widths[number])
    found: dict[int, Reading] = {}
    finished = 0
    while finished < len(order):
        batch = _take(order[finished:], widths)
        pictures = np.stack([_shape(crops[number], widths[number], widths[batch[-1]]) for number in batch])
        for number, chances in zip(batch, network(pictures), strict=True):
            found[number] = _decode(chances, letters, widths[number] / widths[batch[-1]])
        finished += len(batch)
        if done is not None:
            done(finished / len(order))
    return [found[number] for number in range(len(crops))]


def _take(order: list[int], widths: list[int]) -> list[int]:
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
    wanted = width * HEIGHT / max(height, 1) * squeeze
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
