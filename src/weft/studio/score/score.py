"""Scores a rendering against its target: aligns sizes, paints over text, and computes the similarity of the rest."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from weft.studio.browser.page import TextBlock
from weft.studio.score.blocks import (
    PageImage,
    Pixels,
    background_colour,
    colour_distance,
    decode_pixels,
    encode_png,
    find_blocks,
    read_text,
    resize_to_width,
)
from weft.studio.score.matching import Difference, Matching, Size, find_differences, match_blocks

WIDTH = 640
"""Wider pictures are compared at this width, so that small shifts are a few pixels."""


def paint_over_text(pixels: Pixels, texts: Sequence[TextBlock]) -> Pixels:
    """Paint over each line of text with its background colour."""
    height, width = pixels.shape[:2]
    clean = pixels.copy()
    for text in texts:
        left, top = max(0, int(text.x) - 1), max(0, int(text.y) - 1)
        right, bottom = min(width, round(text.x + text.w) + 1), min(height, round(text.y + text.h) + 1)
        if right > left and bottom > top:
            clean[top:bottom, left:right] = background_colour(pixels, left, top, right - left, bottom - top)
    return clean


def align_sizes(target: Pixels, rendered: Pixels) -> tuple[Pixels, Pixels]:
    """Scale both pictures to one width and extend the shorter one with its last colour."""
    width = min(WIDTH, target.shape[1])
    one, other = resize_to_width(target, width), resize_to_width(rendered, width)
    height = max(one.shape[0], other.shape[0])
    return _extend_height(one, height), _extend_height(other, height)


def _extend_height(pixels: Pixels, height: int) -> Pixels:
    missing = height - pixels.shape[0]
    if not missing:
        return pixels
    last = np.median(pixels[-1], axis=0).astype(np.uint8)
    return np.concatenate([pixels, np.broadcast_to(last, (missing, pixels.shape[1], 3))])


Map = NDArray[np.float64]
_Plane = NDArray[np.float32]

_WINDOW = 7
_C1, _C2 = np.float32((0.01 * 255) ** 2), np.float32((0.03 * 255) ** 2)


def ssim_map(one: Pixels, other: Pixels) -> Map:
    """Return the structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) around each pixel, 1 for equal.

    It is the mean over the channels, with a uniform 7 × 7 window. The sizes must be equal.
    """
    found = np.ones(one.shape[:2], np.float64)
    reach = _WINDOW // 2
    for first, last in _unequal_rows(one, other, reach):
        top, bottom = max(first - reach, 0), min(last + reach, len(one))
        shown = one[top:bottom].astype(np.float32), other[top:bottom].astype(np.float32)
        likeness = sum(_channel(shown[0][..., channel], shown[1][..., channel]) for channel in range(3)) / 3
        found[first:last] = np.asarray(likeness)[first - top : last - top]
    return found


def _unequal_rows(one: Pixels, other: Pixels, reach: int) -> list[tuple[int, int]]:
    """Return the spans of rows whose windows hold a difference; everywhere else the similarity is 1."""
    rows = np.flatnonzero((one != other).any(axis=(1, 2)))
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > 4 * reach)
    return [
        (max(int(band[0]) - reach, 0), min(int(band[-1]) + reach + 1, len(one))) for band in np.split(rows, breaks + 1)
    ]


def _channel(x: _Plane, y: _Plane) -> _Plane:
    mean_x, mean_y = _window_mean(x), _window_mean(y)
    var_x, var_y = _window_mean(x * x) - mean_x * mean_x, _window_mean(y * y) - mean_y * mean_y
    both = _window_mean(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + _C1) * (2 * both + _C2)
    return np.asarray(above / ((mean_x * mean_x + mean_y * mean_y + _C1) * (var_x + var_y + _C2)), np.float32)


def _window_mean(values: _Plane) -> _Plane:
    """Return the mean over the window around each pixel, with edges repeated."""
    padded = np.pad(values, _WINDOW // 2, mode="edge")
    return np.asarray(_sum_of_seven(_sum_of_seven(padded).T).T / np.float32(_WINDOW**2), np.float32)


def _sum_of_seven(values: _Plane) -> _Plane:
    """Return the sum of each row and the six after it, as 4 + 2 + 1 rows."""
    two = values[:-1] + values[1:]
    four = two[:-2] + two[2:]
    return np.asarray(four[:-3] + two[4:-1] + values[6:], np.float32)


_RED = np.array((220, 30, 30), np.float64)


def heat_map(target: PageImage, rendering: PageImage) -> bytes:
    """Return a PNG of the rendering in grey, red where it differs from the target."""
    expected, rendered = align_sizes(decode_pixels(target.image), decode_pixels(rendering.image))
    heat = np.clip(1 - ssim_map(expected, rendered), 0, 1)[..., None]
    return encode_png(_blend(rendered, heat))


def _blend(rendered: Pixels, heat: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Pixels:
    grey = 160 + 0.35 * rendered.astype(np.float64).mean(axis=2, keepdims=True)
    grey = np.minimum(np.repeat(grey, 3, axis=2), 255)
    return (grey * (1 - heat) + _RED * heat).round().astype(np.uint8)


Read = Callable[[bytes], Sequence[TextBlock]]
"""A function that reads the text of a picture."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The figures, each from 0 to 1 for equal."""

    block: float
    text: float
    position: float
    colour: float
    ssim: float
    unread: int = 0
    """Places of the target that look like text, could not be read and are no text on the page; they are missing."""
    differences: tuple[Difference, ...] = ()

    @property
    def overall(self) -> float:
        return (self.block + self.text + self.position + self.colour + self.ssim) / 5


def score(target: PageImage, rendering: PageImage, *, read: Read = read_text) -> Score:
    """Score a rendering against its target and find the differences. Slow: run it in a thread."""
    pixels = decode_pixels(target.image), decode_pixels(rendering.image)
    given = _texts(target, read), _texts(rendering, read)
    texts = [text for text in given[0] if text.text], [text for text in given[1] if text.text]
    sizes = _size(pixels[0]), _size(pixels[1])
    unread = find_unexplained([text for text in given[0] if not text.text], texts[1], *sizes)
    matching = match_blocks(find_blocks(texts[0], pixels[0]), find_blocks(texts[1], pixels[1]), *sizes)
    bare = align_sizes(paint_over_text(pixels[0], texts[0]), paint_over_text(pixels[1], texts[1]))
    likeness = ssim_map(*bare)
    block, text, position, colour = _block_figures(matching, sum(place.w * place.h for place in unread))
    return Score(
        block=block,
        text=text,
        position=position,
        colour=colour,
        ssim=min(1.0, max(0.0, float(np.mean(likeness)))),
        unread=len(unread),
        differences=find_differences(matching, likeness, bare, sizes, unread),
    )


def find_unexplained(
    unread: Sequence[TextBlock], rendered: Sequence[TextBlock], target_size: Size, rendered_size: Size
) -> list[TextBlock]:
    """Return the unread places of the target where the rendering has no text either."""
    across, down = target_size[0] / rendered_size[0], target_size[1] / rendered_size[1]
    return [place for place in unread if _covered_part(place, rendered, across, down) < _EXPLAINED]


_EXPLAINED = 0.5
"""The part of an unread place from which text of the rendering explains it."""


def _covered_part(place: TextBlock, texts: Sequence[TextBlock], across: float, down: float) -> float:
    covered = 0.0
    for text in texts:
        wide = min(place.x + place.w, (text.x + text.w) * across) - max(place.x, text.x * across)
        high = min(place.y + place.h, (text.y + text.h) * down) - max(place.y, text.y * down)
        if wide > 0 and high > 0:
            covered += wide * high
    return covered / max(place.w * place.h, 1.0)


def _block_figures(matching: Matching, unread: float) -> tuple[float, float, float, float]:
    """Return block, text, position and colour; `unread` is the area of text that could not be read."""
    matched = sum(pair.target.area + pair.rendered.area for pair in matching.pairs)
    other = sum(block.area for block in (*matching.missing, *matching.extra)) + unread
    if not matched and not other:
        return 1.0, 1.0, 1.0, 1.0
    if not matched:
        return 0.0, 0.0, 0.0, 0.0
    colours = [max(0.0, 1 - colour_distance(pair.target.colour, pair.rendered.colour) / 100) for pair in matching.pairs]
    return (
        matched / (matched + other),
        _mean([pair.text for pair in matching.pairs]),
        _mean([pair.position for pair in matching.pairs]),
        _mean(colours),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _texts(picture: PageImage, read: Read) -> Sequence[TextBlock]:
    return picture.texts if picture.texts is not None else read(picture.image)


def _size(pixels: Pixels) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]
