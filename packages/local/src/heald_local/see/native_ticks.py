"""Recognises check boxes and radio buttons in the default style of browsers, by their size and colours."""

from collections.abc import Sequence
from dataclasses import replace

from heald_pictures.colours import colour_distance
from heald_pictures.elements import Box, Control, PictureElement

SIDES = (12.0, 14.5)  # pixels
SQUARE = 1.0  # pixels by which the sides may differ
FRAME, CHOSEN = "#767676", "#0075ff"  # of a tick that is off and of one that is on
NEAR = 14  # levels by which a colour may differ
ROUND = 0.4  # the radius in parts of the side, from which on a tick is a radio button


def mark_native_ticks(
    boxes: Sequence[Box], pictures: Sequence[PictureElement]
) -> tuple[list[Box], list[PictureElement]]:
    """Return the boxes with the state of those that are check boxes or radio buttons, and the other pictures."""
    marked = [_as_tick(box) for box in boxes]
    ticks = [box for box, before in zip(marked, boxes, strict=True) if box is not before]
    if not ticks:
        return list(boxes), list(pictures)
    inner = [box for box in marked if any(_is_inside(box, tick) for tick in ticks)]
    rest = [picture for picture in pictures if not any(tick.rect.holds(picture.rect, 1) for tick in ticks)]
    return [box for box in marked if box not in inner], rest


def _is_inside(box: Box, tick: Box) -> bool:
    return box.rect.area < tick.rect.area and tick.rect.holds(box.rect, 1)


def _as_tick(box: Box) -> Box:
    rect = box.rect
    if box.control is not None or box.image or abs(rect.w - rect.h) > SQUARE:
        return box
    if not all(SIDES[0] <= side <= SIDES[1] for side in (rect.w, rect.h)):
        return box
    edge = box.border.colour if box.border is not None else box.fill
    chosen = _is_near(edge, CHOSEN)
    if not chosen and (box.border is None or not _is_near(edge, FRAME)):
        return box
    kind = "radio" if box.radius >= ROUND * rect.w else "checkbox"
    return replace(box, control=Control(kind, chosen, 0.0, CHOSEN if chosen else edge, "#ffffff"))


def _is_near(colour: str, other: str) -> bool:
    return colour.startswith("#") and colour_distance(colour, other) <= NEAR
