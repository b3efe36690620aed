"""Panels: flat rectangles with text of their own that lie on a photograph, or cut into it from the page around it.

A panel in the colour of the page is no region of its own, because it runs on into the page; on the photograph it is a
rectangle that the page explains. It becomes a box, its text stays text, and the photograph is healed below it.
"""

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision.boxes import corner_radius
from weft.vision.colours import commonest, css
from weft.vision.geometry import Rect, spanning
from weft.vision.ink import Ink
from weft.vision.overlay import proven
from weft.vision.regions import Mask, Pixels, islands
from weft.vision.seen import Box, Line, Picture

LEAST_PHOTO = 12_000
LEAST_WIDE, LEAST_HIGH = 96, 28
LEAST_COVER = 0.3
"""The part of a panel that must have its colour; the rest is text."""
AIR = 1.6
"""What stands further below the last thing on a panel, in parts of the room above the first, is not on it."""
EXACT, EXACT_LOSSY = 3, 12


def find_panels(
    pixels: Pixels, page: Pixels, photo: Rect, boxes: Sequence[Box], inks: Sequence[Ink], lossy: bool = False
) -> list[Box]:
    """The panels on one photograph: boxes that are known, and new ones in the colour of the page."""
    if photo.area < LEAST_PHOTO:
        return []
    held = [ink.rect for ink in inks if photo.common(ink.rect) > 0.5 * ink.rect.area]
    if not held:
        return []
    left, top, right, bottom = int(photo.x), int(photo.y), round(photo.right), round(photo.bottom)
    part = pixels[top:bottom, left:right]
    away = np.abs(part.astype(np.int16) - page[top:bottom, left:right]).max(axis=2)
    flat = islands(away <= (EXACT_LOSSY if lossy else EXACT))
    wide, high = flat.edges[:, 2] - flat.edges[:, 0], flat.edges[:, 3] - flat.edges[:, 1]
    cover = flat.area / np.maximum(wide * high, 1)
    whole = (wide >= part.shape[1] - 2) & (high >= part.shape[0] - 2)
    found: list[Box] = []
    for number in np.flatnonzero((wide >= LEAST_WIDE) & (high >= LEAST_HIGH) & (cover >= LEAST_COVER) & ~whole):
        near, start, far, end = (int(edge) for edge in flat.edges[number])
        place = spanning((left + near, top + start, left + far, top + end))
        if not any(place.common(rect) > 0.9 * rect.area for rect in held):
            continue
        known = next((box for box in boxes if _same(box.rect, place, photo)), None)
        if known is not None:
            found.append(replace(known, shadow=None) if photo.holds(known.rect, 1) else known)
            continue
        mask = flat.mask(int(number))
        radius = _radius(mask, start <= 1, end >= part.shape[0] - 1)
        if radius is None:
            continue
        around = [box.rect for box in boxes if max(box.rect.w, box.rect.h) < place.w]
        reach = _reach(place, photo, [ink.rect for ink in inks], around)
        found.append(Box(reach, css(commonest(part[start:end, near:far][mask])), radius))
    return found


def on_panel(rect: Rect, panels: Sequence[Box]) -> bool:
    """Whether this lies on one of them."""
    return any(panel.rect.common(rect) > 0.9 * rect.area for panel in panels)


def settled(panels: Sequence[Box], lines: Sequence[Line]) -> tuple[list[Box], list[Line]]:
    """The panels that hold at least one line that is certainly type, and the lines without those on the others."""
    kept = [panel for panel in panels if any(on_panel(line.ink, [panel]) and proven(line) for line in lines)]
    lost = [panel for panel in panels if panel not in kept]
    return kept, [line for line in lines if on_panel(line.ink, kept) or not on_panel(line.ink, lost)]


def healed(picture: Picture, panels: Sequence[Box]) -> Picture:
    """The photograph with the colours around them where the panels were, so that nothing is there twice."""
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
    out = io.BytesIO()
    Image.fromarray(_filled(pixels, hole)).save(out, "PNG", optimize=False)
    return replace(picture, data=out.getvalue())


def _same(box: Rect, place: Rect, photo: Rect) -> bool:
    """Whether what a box covers of the photograph is this place."""
    shared = box.common(photo)
    return shared < 0.9 * photo.area and box.common(place) > 0.9 * max(shared, place.area)


def _radius(mask: Mask, open_above: bool, open_below: bool) -> float | None:
    """The radius of the corners on the photograph: a side that runs on into the page says nothing of them."""
    if open_above and open_below:
        return 0.0 if corner_radius(mask) is not None else None
    if open_below:
        mask = np.concatenate((mask, mask[::-1]))
    elif open_above:
        mask = np.concatenate((mask[::-1], mask))
    return corner_radius(mask)


def _reach(place: Rect, photo: Rect, inks: Sequence[Rect], boxes: Sequence[Rect]) -> Rect:
    """The panel with what follows on it below the photograph, if it is open there: nobody sees where it ends."""
    things = [*inks, *boxes]
    inside = [rect for rect in things if place.common(rect) > 0.5 * rect.area]
    if place.bottom < photo.bottom - 1 or not inside:
        return place
    first = min(rect.y for rect in inside)
    air = AIR * max(first - place.y, 16.0)
    last = max(max(rect.bottom for rect in inside), place.y)
    following = sorted((rect for rect in things if rect.bottom > last), key=lambda rect: rect.y)
    for rect in following:
        if rect.y - last > air or any(_beside(other, rect, place) for other in things):
            break
        last = max(last, rect.bottom)
    if last <= place.bottom - 4:
        return place
    below = [rect.y for rect in things if rect.y >= last]
    room = min([first - place.y, *((y - last) / 2 for y in below)])
    return spanning((place.x, place.y, place.right, max(round(last + max(room, 0)), place.bottom)))


def _beside(other: Rect, rect: Rect, place: Rect) -> bool:
    """Whether something stands level with this and outside the panel, or this does itself."""
    level = min(other.bottom, rect.bottom) - max(other.y, rect.y) > 0
    return level and (other.x < place.x - 1 or other.right > place.right + 1)


def _filled(pixels: Pixels, hole: Mask) -> Pixels:
    """Holes filled by halving: each level takes from the next coarser one what it does not know."""
    known = ~hole
    values: NDArray[np.float32] = pixels.astype(np.float32) * known[:, :, None]
    filled = _coarse(values, known.astype(np.float32))
    return np.where(hole[:, :, None], np.clip(filled, 0, 255), pixels).astype(np.uint8)


def _coarse(values: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    mean: NDArray[np.float32] = (values / np.maximum(weight, 1e-6)[:, :, None]).astype(np.float32)
    if bool((weight > 0).all()) or max(weight.shape) <= 1:
        return mean
    height, width = weight.shape
    tall, broad = -(-height // 2), -(-width // 2)
    padded = np.zeros((2 * tall, 2 * broad, 4), np.float32)
    padded[:height, :width, :3], padded[:height, :width, 3] = values, weight
    halved = padded.reshape(tall, 2, broad, 2, 4).sum(axis=(1, 3))
    share = np.minimum(halved[:, :, 3], 1.0)
    scale = share / np.maximum(halved[:, :, 3], 1e-6)
    rough = _coarse(halved[:, :, :3] * scale[:, :, None], share)
    image = [Image.fromarray(rough[:, :, channel]) for channel in range(3)]
    smooth = np.stack([np.asarray(each.resize((2 * broad, 2 * tall), Image.Resampling.BILINEAR)) for each in image], 2)
    return np.where((weight > 0)[:, :, None], mean, smooth[:height, :width]).astype(np.float32)
