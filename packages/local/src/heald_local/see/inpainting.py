"""Fills the area of text and panels in a picture with the colours around it."""

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald_local.see.ink import Ink
from heald_local.see.patches import join_rects
from heald_local.see.pictures import encode_png
from heald_local.see.pixel_units import BLOCK_AXES, LIGHTEST
from heald_local.see.rank_filters import largest_around
from heald_pictures.elements import Box, PictureElement, TextLine
from heald_pictures.regions import Mask, Pixels

LEAST_COVER = 0.06  # the part of a pixel from which on a letter is removed from it
LEAST_WEIGHT = 1e-6  # of a pixel whose colour is not known
FILL_REACH = 5  # pixels around a letter, beyond which the picture is not looked at


def inpaint_text(pixels: Pixels, lines: Sequence[TextLine], inks: Sequence[Ink], ratio: int) -> Pixels:
    """Remove letters from a picture: fill their area from around it."""
    rects = {line.ink for line in lines}
    removed = [ink for ink in inks if ink.rect in rects]
    filled = pixels.copy()
    for area in join_rects([ink.rect for ink in removed], 2 * FILL_REACH):
        part = area.grown(2 * FILL_REACH).within(pixels.shape[1] // ratio, pixels.shape[0] // ratio)
        left, top = int(part.x) * ratio, int(part.y) * ratio
        around = pixels[top : int(part.bottom) * ratio, left : int(part.right) * ratio]
        mask = np.zeros(around.shape[:2], np.uint8)
        for ink in removed:
            if area.holds(ink.rect):
                x, y = int(ink.rect.x) * ratio - left, int(ink.rect.y) * ratio - top
                cover = np.kron(
                    (ink.cover > LEAST_COVER).astype(np.uint8) * LIGHTEST, np.ones((ratio, ratio), np.uint8)
                )
                room = mask[y : y + cover.shape[0], x : x + cover.shape[1]]
                room |= cover[: room.shape[0], : room.shape[1]]
        filled[top : top + around.shape[0], left : left + around.shape[1]] = _fill_glyphs(around, mask, ratio)
    return filled


def _fill_glyphs(pixels: Pixels, mask: NDArray[np.uint8], ratio: int) -> Pixels:
    return fill_holes(pixels, largest_around(mask, 1 + ratio) > 0)


def inpaint_panels(picture: PictureElement, panels: Sequence[Box]) -> PictureElement:
    """Fill the area of panels in a photograph with the colours around them."""
    over = [panel.rect for panel in panels if picture.rect.common(panel.rect) > 0]
    if not over:
        return picture
    with Image.open(io.BytesIO(picture.data), formats=("PNG",)) as image:
        pixels = np.asarray(image.convert("RGB"))
    scale = pixels.shape[1] / picture.rect.w
    hole = np.zeros(pixels.shape[:2], np.bool_)
    for rect in over:
        part = rect.grown(1)
        top, left = max(part.y - picture.rect.y, 0), max(part.x - picture.rect.x, 0)
        bottom, right = part.bottom - picture.rect.y, part.right - picture.rect.x
        hole[round(top * scale) : round(bottom * scale), round(left * scale) : round(right * scale)] = True
    if hole.all():
        return picture
    return replace(picture, data=encode_png(Image.fromarray(fill_holes(pixels, hole))))


def fill_holes(pixels: Pixels, hole: Mask) -> Pixels:
    """Fill holes by halving: each level copies unknown values from the next coarser one."""
    around = ~hole
    values: NDArray[np.float32] = pixels.astype(np.float32) * around[:, :, None]
    filled = _fill_coarsely(values, around.astype(np.float32))
    return np.where(hole[:, :, None], np.clip(filled, 0, LIGHTEST), pixels).astype(np.uint8)


def _fill_coarsely(values: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the values where they have a weight, and elsewhere those of the picture of half the size."""
    mean: NDArray[np.float32] = (values / np.maximum(weight, LEAST_WEIGHT)[:, :, None]).astype(np.float32)
    if bool((weight > 0).all()) or max(weight.shape) <= 1:
        return mean
    height, width = weight.shape
    tall, broad = -(-height // 2), -(-width // 2)
    padded = np.zeros((2 * tall, 2 * broad, values.shape[-1] + 1), np.float32)
    padded[:height, :width, :-1], padded[:height, :width, -1] = values, weight
    halved = padded.reshape(tall, 2, broad, 2, -1).sum(axis=BLOCK_AXES)
    halved_weight = halved[:, :, -1]
    share = np.minimum(halved_weight, 1.0)
    scale = share / np.maximum(halved_weight, LEAST_WEIGHT)
    rough = _fill_coarsely(halved[:, :, :-1] * scale[:, :, None], share)
    channels = [Image.fromarray(rough[:, :, channel]) for channel in range(rough.shape[-1])]
    enlarged = [channel.resize((2 * broad, 2 * tall), Image.Resampling.BILINEAR) for channel in channels]
    smooth = np.stack([np.asarray(channel) for channel in enlarged], 2)
    return np.where((weight > 0)[:, :, None], mean, smooth[:height, :width]).astype(np.float32)
