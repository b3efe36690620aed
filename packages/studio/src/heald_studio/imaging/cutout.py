"""Cuts a subject out of its background, without a model.

A flat background (a logo, a product on white) is found by its colour and unmixed at the edges, which is exact. Any
other background is guessed from the colours of the border and of the middle, in a few rounds, each smoothed along the
edges of the picture. Areas that the subject encloses belong to it.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald.core.errors import HealdError
from heald_pictures.regions import label_islands

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
CutoutMethod = Literal["flat", "guessed"]

_RING = 0.7
"""The share of the border that a flat background covers."""
_SLACK = 14
_EXACT = 5
_EDGE = 3
_GUESS_SIDE = 448
_ROUNDS = 4
_BINS = 16
"""The steps of a channel in the colour histogram."""
_REACH = 40
"""The width of the border, and the reach of the smoothing, as a fraction of the picture's side."""
_LEAST, _MOST = 0.005, 0.985
_FEW_TONES = 48
_ALL, _HEAD, _TAIL = slice(None), slice(None, -1), slice(1, None)
_NEIGHBOURS = (
    ((_HEAD, _ALL), (_TAIL, _ALL)),
    ((_TAIL, _ALL), (_HEAD, _ALL)),
    ((_ALL, _HEAD), (_ALL, _TAIL)),
    ((_ALL, _TAIL), (_ALL, _HEAD)),
)


class CutoutError(HealdError):
    """The subject cannot be separated from its background; the message is the reason."""

    code = "invalid_request"


class Cutout(msgspec.Struct, frozen=True):
    picture: Image.Image
    how: CutoutMethod


def is_flat(picture: Image.Image) -> bool:
    """Whether the background has one colour."""
    return _flat_background(_pixels(picture)) is not None


def cut_out(picture: Image.Image) -> Cutout:
    """Make the background transparent. Raises CutoutError. Slow: run it in a thread."""
    if picture.mode == "RGBA" and float((np.asarray(picture.getchannel("A")) < 16).mean()) > 0.02:
        raise CutoutError("The picture has a transparent background already.")
    pixels = _pixels(picture)
    ground = _flat_background(pixels)
    if ground is not None:
        return Cutout(_check_subject_share(_remove_flat_background(pixels, ground)), "flat")
    return Cutout(_check_subject_share(_remove_guessed_background(pixels)), "guessed")


def _pixels(picture: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(picture.convert("RGB"))


def _flat_background(pixels: NDArray[np.uint8]) -> Floats | None:
    """Return the colour of a flat background: the colour of nearly all of the border."""
    border = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])).astype(np.int16)
    middle = np.median(border, axis=0)
    near = np.abs(border - middle).max(axis=1) <= _SLACK
    if float(near.mean()) < _RING:
        return None
    return border[near].mean(axis=0).astype(np.float32)


def _remove_flat_background(pixels: NDArray[np.uint8], ground: Floats) -> NDArray[np.uint8]:
    away = np.abs(pixels.astype(np.float32) - ground).max(axis=2)
    behind = _connected_to_border(away <= _SLACK)
    if _is_drawing(pixels):
        behind |= away <= _EXACT  # the inside of letters
    edge = _dilate(behind, _EDGE) & ~behind
    towards = _strongest_nearby(pixels, away, _EDGE)[edge] - ground
    share = ((pixels[edge] - ground) * towards).sum(axis=1) / np.maximum((towards**2).sum(axis=1), 1.0)
    alpha = np.where(behind, 0.0, 1.0).astype(np.float32)
    alpha[edge] = np.clip(share * 1.02, 0.0, 1.0)
    colours = pixels.astype(np.float32)
    colours[edge] = ground + (pixels[edge] - ground) / np.maximum(alpha[edge], 0.08)[:, None]
    colours[behind] = 0
    return _add_alpha(colours, alpha)


def _connected_to_border(like: Mask) -> Mask:
    """Return the part of the mask that is connected to the border."""
    regions = label_islands(like)
    labels = regions.labels
    touching = np.unique(np.concatenate((labels[0], labels[-1], labels[:, 0], labels[:, -1])))
    return np.isin(labels, touching[touching > 0])


def _is_drawing(pixels: NDArray[np.uint8]) -> bool:
    """Whether few colours cover nearly all of the picture, as in a logo or an icon."""
    codes = (pixels >> 4).astype(np.int32) @ np.array((256, 16, 1), np.int32)
    counts = np.sort(np.bincount(codes.ravel()))[::-1]
    return float(counts[:6].sum()) > 0.85 * codes.size or int((counts > 0).sum()) < _FEW_TONES


def _dilate(mask: Mask, by: int) -> Mask:
    for _ in range(by):
        wider = mask.copy()
        wider[1:] |= mask[:-1]
        wider[:-1] |= mask[1:]
        wider[:, 1:] |= mask[:, :-1]
        wider[:, :-1] |= mask[:, 1:]
        mask = wider
    return mask


def _strongest_nearby(pixels: NDArray[np.uint8], away: Floats, reach: int) -> Floats:
    """Return for each pixel the nearby colour that differs most from the background."""
    colours, strength = pixels.astype(np.float32), away.copy()
    for _ in range(reach):
        for pixel, neighbour in _NEIGHBOURS:
            better = strength[neighbour] > strength[pixel]
            colours[pixel][better] = colours[neighbour][better]
            strength[pixel][better] = strength[neighbour][better]
    return colours


def _remove_guessed_background(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = pixels.shape[:2]
    scale = min(1.0, _GUESS_SIDE / max(width, height))
    small = np.asarray(Image.fromarray(pixels).resize((max(8, round(width * scale)), max(8, round(height * scale)))))
    subject = _find_subject(small)
    rough = Image.fromarray((subject * 255).astype(np.uint8)).resize((width, height), Image.Resampling.BILINEAR)
    reach = max(2, round(3 / scale))
    soft = _guided_filter(np.asarray(rough, np.float32) / np.float32(255), _brightness(pixels), reach, 1e-4)
    return _add_alpha(pixels.astype(np.float32), np.clip((soft - 0.2) / 0.6, 0, 1).astype(np.float32))


def _find_subject(pixels: NDArray[np.uint8]) -> Mask:
    """Find the area with the colours of the middle instead of the border; both are measured anew in each round."""
    tall, wide = pixels.shape[:2]
    across, down = max(1, wide // _REACH), max(1, tall // _REACH)
    behind, before = np.ones((tall, wide), np.bool_), np.zeros((tall, wide), np.bool_)
    behind[down:-down, across:-across] = False
    before[tall * 2 // 5 : -(-tall * 3 // 5), wide * 2 // 5 : -(-wide * 3 // 5)] = True
    codes = (pixels.astype(np.int32) * _BINS // 256) @ np.array((_BINS * _BINS, _BINS, 1), np.int32)
    guide = _brightness(pixels)
    middle = _centre_prior(tall, wide)
    subject = before
    ground = behind
    for _ in range(_ROUNDS):
        odds = (
            np.log(_colour_frequency(codes, subject)[codes]) - np.log(_colour_frequency(codes, ground)[codes]) + middle
        )
        chance = 1 / (1 + np.exp(-np.clip(odds, -12, 12)))
        chance[behind], chance[before] = 0, 1
        chance = _guided_filter(chance.astype(np.float32), guide, max(2, wide // _REACH), 1e-3)
        subject = _keep_large_parts(((chance > 0.5) | before) & ~behind)
        ground = ~subject
    return subject


def _centre_prior(tall: int, wide: int) -> Floats:
    """Log odds of being the subject: higher in the middle."""
    y: NDArray[np.float64] = np.linspace(-1, 1, tall, dtype=np.float64)
    x: NDArray[np.float64] = np.linspace(-1, 1, wide, dtype=np.float64)
    return np.asarray(1.0 - 2.0 * np.sqrt(y[:, None] ** 2 + x[None, :] ** 2), np.float32)


def _colour_frequency(codes: NDArray[np.int32], among: Mask) -> Floats:
    """Return how common each colour is in an area; similar colours count a little."""
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


def _guided_filter(values: Floats, guide: Floats, reach: int, slack: float) -> Floats:
    """Smooth values, but not across edges of the guide (He, Sun, Tang 2010)."""
    signal, guidance = values.astype(np.float64), guide.astype(np.float64)
    mean_two, mean = _box_mean(guidance, reach), _box_mean(signal, reach)
    slope = (_box_mean(guidance * signal, reach) - mean_two * mean) / (
        _box_mean(guidance * guidance, reach) - mean_two**2 + slack
    )
    smooth = _box_mean(slope, reach) * guidance + _box_mean(mean - slope * mean_two, reach)
    return smooth.astype(np.float32)


def _box_mean(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Return the mean within `reach` of each pixel."""
    return _row_mean(_row_mean(values, reach).T, reach).T


def _row_mean(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Return the mean of the rows within `reach` of each row."""
    size = len(values)
    sums = np.zeros((size + 1, values.shape[1]), np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    rows: NDArray[np.intp] = np.arange(size, dtype=np.intp)
    first, last = np.maximum(rows - reach, 0), np.minimum(rows + reach + 1, size)
    return (sums[last] - sums[first]) / (last - first)[:, None]


def _keep_large_parts(subject: Mask) -> Mask:
    """Keep the large parts of the subject and fill their holes."""
    regions = label_islands(subject)
    if len(regions.area) < 2:
        return subject
    largest = int(regions.area[1:].max())
    large = np.flatnonzero(regions.area >= 0.05 * largest)
    subject = np.isin(regions.labels, large[large > 0])
    return ~_connected_to_border(~subject)


def _add_alpha(colours: Floats, alpha: Floats) -> NDArray[np.uint8]:
    whole = np.concatenate((np.clip(colours, 0, 255), alpha[..., None] * 255), axis=2)
    return whole.round().astype(np.uint8)


def _check_subject_share(pixels: NDArray[np.uint8]) -> Image.Image:
    share = float((pixels[..., 3] > 127).mean())
    if not _LEAST < share < _MOST:
        raise CutoutError("No subject stands out from the background of this picture; the picture is unchanged.")
    return Image.fromarray(pixels)
