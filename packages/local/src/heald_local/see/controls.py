"""Finds check boxes, radio buttons, switches and sliders with their state, and puts them in their place."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heald_local.see.icon_boxes import NEAR
from heald_local.see.native_ticks import mark_native_ticks
from heald_local.see.parts import FoundPart
from heald_pictures.colours import dominant_colour, hex_colour
from heald_pictures.elements import Box, Control, ControlKind, PictureElement
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Mask, Pixels

LEAST_TICK, SMALLEST_TICK = 0.5, 10  # the chance, and the pixels of a side, of a check box or radio button
SLIDER_ROOM = 4  # pixels by which the thumb of a slider may reach over it
LONGEST_THUMB = 2  # a slider is longer than so many of its thumbs
FRAME_REACH = 3  # pixels around a control to where its ground is seen, and inside to where its sides are drawn
DRAWN = 16  # levels by which a drawn pixel differs from the ground
DRAWN_SIDE = 0.7  # the part of a side that is drawn
MIDDLE = (0.35, 0.65)  # the part of a side that is looked at: corners may be round
PLAIN = 24  # levels by which the pixels of one colour differ
RICH, RICH_QUANTILE = 40, 0.75
"""Levels between the channels of a strong colour, and the quantile of pixels that show it."""
KNOB = 8  # a knob is looked at within this part of the height of its switch
ON_PICTURE = 0.1  # the part of a control that may lie on a picture that is not its own
LEAST_PLACE = 0.4  # the part of a control that what is drawn covers
WIDE_NEAR = 0.02  # the part of the length of a slider that its ends may be off
EXACT = 0.7  # the part of a control that a box must cover to show its place
_TICKS: dict[str, ControlKind] = {"checkbox": "checkbox", "radio": "radio", "switch": "switch"}


def find_controls(pixels: Pixels, parts: Sequence[FoundPart]) -> list[tuple[Rect, Control]]:
    """Return check boxes, radio buttons, switches and sliders with their state and colours."""
    controls: list[tuple[Rect, Control]] = []
    thumbs = [part.rect for part in parts if part.name == "thumb"]
    for part in parts:
        name, _, state = part.name.partition("_")
        rect = spanning((round(part.rect.x), round(part.rect.y), round(part.rect.right), round(part.rect.bottom)))
        if name in _TICKS and (name == "switch" or _is_tick_shape(part.sure, rect)) and _is_framed(pixels, rect):
            on = state == "on"
            colour, mark = _colours(pixels, rect, on if name == "switch" else None)
            controls.append((rect, Control(_TICKS[name], on, 0.0, colour, mark)))
        elif name == "slider":
            held = [thumb for thumb in thumbs if rect.grown(SLIDER_ROOM).holds(Rect(*thumb.middle, 0, 0))]
            if len(held) == 1 and rect.w > LONGEST_THUMB * held[0].w:
                share = (held[0].middle[0] - rect.x - held[0].w / 2) / (rect.w - held[0].w)
                colour, mark = _colours(pixels, held[0], None)
                controls.append((rect, Control("slider", False, min(max(share, 0.0), 1.0), colour, mark)))
    return controls


def _is_tick_shape(sure: float, rect: Rect) -> bool:
    """Whether a check box or radio button is as large and square as one; icons and dots look like them."""
    return sure >= LEAST_TICK and min(rect.w, rect.h) >= SMALLEST_TICK and abs(rect.w - rect.h) <= 1


def _is_framed(pixels: Pixels, rect: Rect) -> bool:
    """Whether all four sides are drawn around something else: the tick of a list is not a check box."""
    left, top, right, bottom = int(rect.x), int(rect.y), int(rect.right), int(rect.bottom)
    reach = FRAME_REACH
    if min(left, top) < reach or right + reach > pixels.shape[1] or bottom + reach > pixels.shape[0]:
        return False
    around = pixels[top - reach : bottom + reach, left - reach : right + reach].astype(np.int16)
    ring = np.concatenate([around[0], around[-1], around[:, 0], around[:, -1]])
    ground = np.median(ring, axis=0)
    drawn: Mask = (np.abs(around - ground) > DRAWN).any(axis=2)  # pyrefly: ignore[bad-assignment]
    rows, columns = _middle(drawn.shape[0]), _middle(drawn.shape[1])
    sides = (
        drawn[1 : 2 * reach, columns].any(axis=0),
        drawn[-2 * reach : -1, columns].any(axis=0),
        drawn[rows, 1 : 2 * reach].any(axis=1),
        drawn[rows, -2 * reach : -1].any(axis=1),
    )
    return all(float(side.mean()) > DRAWN_SIDE for side in sides) and not _is_plain(around, ground, drawn)


def _is_plain(around: NDArray[np.int16], ground: NDArray[np.float64], drawn: Mask) -> bool:
    """Whether a mark has one colour from edge to edge."""
    rows, columns = _middle(around.shape[0]), _middle(around.shape[1])
    inner = around[rows, columns].reshape(-1, around.shape[-1])
    if not drawn[rows, columns].all() or int((inner.max(axis=0) - inner.min(axis=0)).max()) > PLAIN:
        return False
    colour = np.median(inner, axis=0)
    low, high = np.minimum(colour, ground) - DRAWN, np.maximum(colour, ground) + DRAWN
    across = np.concatenate([around[around.shape[0] // 2], around[:, around.shape[1] // 2]])
    return bool(((across >= low) & (across <= high)).all())


def _middle(length: int) -> slice:
    start, end = (int(part * length) for part in MIDDLE)
    return slice(start, max(end, start + 1))


def _colours(pixels: Pixels, rect: Rect, knob_right: bool | None) -> tuple[str, str]:
    """Return the strongest colour of a control, and that of its knob."""
    part = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.int16)
    if knob_right is None:
        rich = part.max(axis=2) - part.min(axis=2)
        strong = (
            part[rich >= max(int(np.quantile(rich, RICH_QUANTILE)), 1)]
            if rich.max() > RICH
            else part.reshape(-1, part.shape[-1])
        )
        return hex_colour(dominant_colour(strong.astype(np.uint8))), "#ffffff"
    half = part.shape[1] // 2
    reach = max(part.shape[0] // KNOB, 1)
    middle, at = part.shape[0] // 2, part.shape[0] // 2
    column = part.shape[1] - at if knob_right else at
    knob = part[middle - reach : middle + reach, max(column - reach, 0) : column + reach]
    inner = part[reach:-reach]
    track = inner[:, at:half] if knob_right else inner[:, half : part.shape[1] - at]
    return _common_colour(track if track.size else inner), _common_colour(knob)


def _common_colour(part: NDArray[np.int16]) -> str:
    return hex_colour(dominant_colour(part.reshape(-1, part.shape[-1]).astype(np.uint8)))


def _reach(rect: Rect, control: Control) -> Rect:
    """Return the place that the drawing of a control may reach; the ends of a long one are less certain."""
    along = WIDE_NEAR * rect.w if control.kind == "slider" else 0.0
    return spanning((rect.x - NEAR - along, rect.y - NEAR, rect.right + NEAR + along, rect.bottom + NEAR))


def _find_place(rect: Rect, control: Control, drawn: Sequence[Box], cut: Sequence[PictureElement]) -> Rect:
    """Return the place of a control: that of its boxes, which is exact, or of its pictures, if it has no soft edge."""
    boxed = hull(box.rect for box in drawn) if drawn else rect
    if not (drawn or cut) or (control.on and boxed.area < EXACT * rect.area):
        return rect
    return boxed if control.on else hull(element.rect for element in (*drawn, *cut))


def place_controls(
    boxes: Sequence[Box], pictures: Sequence[PictureElement], controls: Sequence[tuple[Rect, Control]]
) -> tuple[list[Box], list[PictureElement]]:
    """Replace what a control was drawn with by one box; a control on a larger picture stays part of it."""
    all_boxes, all_pictures = list(boxes), list(pictures)
    for rect, control in controls:
        around = _reach(rect, control)
        drawn = [box for box in all_boxes if around.holds(box.rect)]
        cut = [picture for picture in all_pictures if around.holds(picture.rect)]
        others = [picture for picture in all_pictures if picture not in cut and picture.kind != "ground"]
        if any(picture.rect.common(rect) > ON_PICTURE * rect.area for picture in others):
            continue
        place = _find_place(rect, control, drawn, cut)
        if place.area < LEAST_PLACE * rect.area:
            continue
        all_boxes = [box for box in all_boxes if box not in drawn]
        all_pictures = [picture for picture in all_pictures if picture not in cut]
        bend = place.h / 2 if control.kind in ("radio", "switch") else 0.0
        plain = Box(place, control.colour, bend)
        frame = max(drawn, key=lambda box: box.rect.area, default=plain) if control.kind != "slider" else plain
        all_boxes.append(replace(frame, rect=place, control=control))
    boxes_with_ticks, other_pictures = mark_native_ticks(all_boxes, all_pictures)
    return sorted(boxes_with_ticks, key=lambda box: -box.rect.area), other_pictures
