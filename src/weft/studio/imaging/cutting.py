"""A subject freed from its background, without a model.

A flat background (a logo, a product on white) is told by its colour and unmixed at the edges, which is exact. Any other
is guessed: the colours of the border against those of the middle, in a few rounds, each smoothed along the edges of the
picture. What is enclosed by the subject stays with it.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.core.errors import WeftError
from weft.vision.regions import islands

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
How = Literal["flat", "guessed"]

_RING = 0.7
"""The part of the border that a flat background covers."""
_SLACK = 14
_EXACT = 5
_EDGE = 3
_GUESS_SIDE = 448
_ROUNDS = 4
_BINS = 16
"""Steps of a channel in which colours are counted."""
_REACH = 40
"""The border and the softness of the guess, as a part of the picture's side."""
_LEAST, _MOST = 0.005, 0.985
_FEW_TONES = 48
_ALL, _HEAD, _TAIL = slice(None), slice(None, -1), slice(1, None)
_NEIGHBOURS = (
    ((_HEAD, _ALL), (_TAIL, _ALL)),
    ((_TAIL, _ALL), (_HEAD, _ALL)),
    ((_ALL, _HEAD), (_ALL, _TAIL)),
    ((_ALL, _TAIL), (_ALL, _HEAD)),
)


class CuttingError(WeftError):
    """The subject cannot be told from its background; the sentence says why."""

    code = "invalid_request"


class Cut(msgspec.Struct, frozen=True):
    picture: Image.Image
    how: How


def is_flat(picture: Image.Image) -> bool:
    """Whether the background has one colour, so that nothing need be guessed."""
    return _ground(_pixels(picture)) is not None


def cut_out(picture: Image.Image) -> Cut:
    """The subject on nothing. Raises CuttingError. It takes a while: run it in a thread."""
    if picture.mode == "RGBA" and float((np.asarray(picture.getchannel("A")) < 16).mean()) > 0.02:
        raise CuttingError("The picture has a transparent background already.")
    pixels = _pixels(picture)
    ground = _ground(pixels)
    if ground is not None:
        return Cut(_checked(_unmixed(pixels, ground)), "flat")
    return Cut(_checked(_guessed(pixels)), "guessed")


def _pixels(picture: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(picture.convert("RGB"))


def _ground(pixels: NDArray[np.uint8]) -> Floats | None:
    """The colour of a flat background: the one that nearly all of the border has."""
    border = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])).astype(np.int16)
    middle = np.median(border, axis=0)
    near = np.abs(border - middle).max(axis=1) <= _SLACK
    if float(near.mean()) < _RING:
        return None
    return border[near].mean(axis=0).astype(np.float32)


# --- a flat background -----------------------------------------------------------------------------------------------


def _unmixed(pixels: NDArray[np.uint8], ground: Floats) -> NDArray[np.uint8]:
    away = np.abs(pixels.astype(np.float32) - ground).max(axis=2)
    behind = _outside(away <= _SLACK)
    if _is_drawing(pixels):
        behind |= away <= _EXACT  # the inside of letters
    edge = _grown(behind, _EDGE) & ~behind
    towards = _strongest(pixels, away, _EDGE)[edge] - ground
    share = ((pixels[edge] - ground) * towards).sum(axis=1) / np.maximum((towards**2).sum(axis=1), 1.0)
    alpha = np.where(behind, 0.0, 1.0).astype(np.float32)
    alpha[edge] = np.clip(share * 1.02, 0.0, 1.0)
    shown = pixels.astype(np.float32)
    shown[edge] = ground + (pixels[edge] - ground) / np.maximum(alpha[edge], 0.08)[:, None]
    shown[behind] = 0
    return _with_alpha(shown, alpha)


def _outside(like: Mask) -> Mask:
    """What is like the background and hangs together with the border."""
    regions = islands(like)
    labels = regions.labels
    touching = np.unique(np.concatenate((labels[0], labels[-1], labels[:, 0], labels[:, -1])))
    return np.isin(labels, touching[touching > 0])


def _is_drawing(pixels: NDArray[np.uint8]) -> bool:
    """Few colours cover nearly all of it: a logo or an icon, no photograph."""
    codes = (pixels >> 4).astype(np.int32) @ np.array((256, 16, 1), np.int32)
    counts = np.sort(np.bincount(codes.ravel()))[::-1]
    return float(counts[:6].sum()) > 0.85 * codes.size or int((counts > 0).sum()) < _FEW_TONES


def _grown(mask: Mask, by: int) -> Mask:
    for _ in range(by):
        wider = mask.copy()
        wider[1:] |= mask[:-1]
        wider[:-1] |= mask[1:]
        wider[:, 1:] |= mask[:, :-1]
        wider[:, :-1] |= mask[:, 1:]
        mask = wider
    return mask


def _strongest(pixels: NDArray[np.uint8], away: Floats, reach: int) -> Floats:
    """For each pixel the colour nearby that is least like the background: what it would be without any of that."""
    colours, strength = pixels.astype(np.float32), away.copy()
    for _ in range(reach):
        for here, there in _NEIGHBOURS:
            better = strength[there] > strength[here]
            colours[here][better] = colours[there][better]
            strength[here][better] = strength[there][better]
    return colours


# --- any other -------------------------------------------------------------------------------------------------------


def _guessed(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = pixels.shape[:2]
    scale = min(1.0, _GUESS_SIDE / max(width, height))
    small = np.asarray(Image.fromarray(pixels).resize((max(8, round(width * scale)), max(8, round(height * scale)))))
    subject = _subject(small)
    rough = Image.fromarray((subject * 255).astype(np.uint8)).resize((width, height), Image.Resampling.BILINEAR)
    reach = max(2, round(3 / scale))
    soft = _along_edges(np.asarray(rough, np.float32) / np.float32(255), _brightness(pixels), reach, 1e-4)
    return _with_alpha(pixels.astype(np.float32), np.clip((soft - 0.2) / 0.6, 0, 1).astype(np.float32))


def _subject(pixels: NDArray[np.uint8]) -> Mask:
    """What has the middle's colours rather than the border's; both are learned anew from each guess."""
    tall, wide = pixels.shape[:2]
    across, down = max(1, wide // _REACH), max(1, tall // _REACH)
    behind, before = np.ones((tall, wide), np.bool_), np.zeros((tall, wide), np.bool_)
    behind[down:-down, across:-across] = False
    before[tall * 2 // 5 : -(-tall * 3 // 5), wide * 2 // 5 : -(-wide * 3 // 5)] = True
    codes = (pixels.astype(np.int32) * _BINS // 256) @ np.array((_BINS * _BINS, _BINS, 1), np.int32)
    guide = _brightness(pixels)
    middle = _middle_first(tall, wide)
    subject = before
    ground = behind
    for _ in range(_ROUNDS):
        odds = np.log(_share(codes, subject)[codes]) - np.log(_share(codes, ground)[codes]) + middle
        chance = 1 / (1 + np.exp(-np.clip(odds, -12, 12)))
        chance[behind], chance[before] = 0, 1
        chance = _along_edges(chance.astype(np.float32), guide, max(2, wide // _REACH), 1e-3)
        subject = _whole(((chance > 0.5) | before) & ~behind)
        ground = ~subject
    return subject


def _middle_first(tall: int, wide: int) -> Floats:
    """What is in the middle is more likely the subject."""
    y: NDArray[np.float64] = np.linspace(-1, 1, tall, dtype=np.float64)
    x: NDArray[np.float64] = np.linspace(-1, 1, wide, dtype=np.float64)
    return np.asarray(1.0 - 2.0 * np.sqrt(y[:, None] ** 2 + x[None, :] ** 2), np.float32)


def _share(codes: NDArray[np.int32], among: Mask) -> Floats:
    """How common each colour is there; like colours count a little too."""
    counts = np.zeros((_BINS + 2,) * 3, np.float64)
    inner = counts[1:-1, 1:-1, 1:-1]
    inner += np.bincount(codes[among], minlength=_BINS**3).reshape(inner.shape)
    near = 0.4 * inner
    for axis in range(3):
        turned = np.moveaxis(counts, axis, 0)[:, 1:-1, 1:-1]
        near += 0.1 * np.moveaxis(turned[:-2] + turned[2:], 0, axis)
    return (near.ravel() / max(float(near.sum()), 1.0) + 1e-5).astype(np.float32)


def _brightness(pixels: NDArray[np.uint8]) -> Floats:
    return np.asarray(pixels @ np.array((0.299, 0.587, 0.114)) / 255, np.float32)


def _along_edges(values: Floats, guide: Floats, reach: int, slack: float) -> Floats:
    """Smoothed, but not across edges of the guide: a guided filter (He, Sun, Tang 2010)."""
    one, two = values.astype(np.float64), guide.astype(np.float64)
    mean_two, mean = _box(two, reach), _box(one, reach)
    slope = (_box(two * one, reach) - mean_two * mean) / (_box(two * two, reach) - mean_two**2 + slack)
    smooth = _box(slope, reach) * two + _box(mean - slope * mean_two, reach)
    return smooth.astype(np.float32)


def _box(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The mean within `reach` of each pixel."""
    return _running(_running(values, reach).T, reach).T


def _running(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The mean of the rows within `reach` of each."""
    size = len(values)
    sums = np.zeros((size + 1, values.shape[1]), np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    rows: NDArray[np.intp] = np.arange(size, dtype=np.intp)
    first, last = np.maximum(rows - reach, 0), np.minimum(rows + reach + 1, size)
    return (sums[last] - sums[first]) / (last - first)[:, None]


def _whole(subject: Mask) -> Mask:
    """Its large parts, without dust and without holes."""
    regions = islands(subject)
    if len(regions.area) < 2:
        return subject
    largest = int(regions.area[1:].max())
    kept = np.flatnonzero(regions.area >= 0.05 * largest)
    subject = np.isin(regions.labels, kept[kept > 0])
    return ~_outside(~subject)


# --- both ------------------------------------------------------------------------------------------------------------


def _with_alpha(colours: Floats, alpha: Floats) -> NDArray[np.uint8]:
    whole = np.concatenate((np.clip(colours, 0, 255), alpha[..., None] * 255), axis=2)
    return whole.round().astype(np.uint8)


def _checked(pixels: NDArray[np.uint8]) -> Image.Image:
    share = float((pixels[..., 3] > 127).mean())
    if not _LEAST < share < _MOST:
        raise CuttingError("No subject can be told from the background of this picture; it was left as it is.")
    return Image.fromarray(pixels)
