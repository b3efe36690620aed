"""Finds panels: plain boxes with text that lie on a photograph."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heald_local.see.corners import corner_radius
from heald_local.see.ink import Ink
from heald_local.see.photographs import is_painted
from heald_local.see.styled_lines import is_certain_text
from heald_pictures.colours import dominant_colour, hex_colour
from heald_pictures.elements import Box, TextLine
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels, distance_between, label_islands

LEAST_PHOTO = 12_000  # pixels of a photograph that may have panels
LEAST_WIDE, LEAST_HIGH = 96, 28  # pixels of a panel
MOSTLY = 0.5  # the part of a text from which on it lies on a photograph or a panel
WHOLLY = 0.9  # the part from which on it lies wholly on it
EDGE = 2  # pixels by which a panel that is the whole photograph may be smaller
SAME_EDGE = 4  # pixels by which a panel ends below its last text without being extended
LEAST_AIR = 16.0  # pixels of the room above the first text
LEAST_COVER = 0.3  # the part of a panel that must have its colour; the rest is text
AIR = 1.6  # largest gap between content of a panel, in parts of the room above the first
EXACT, EXACT_LOSSY = 3, 12  # levels by which a panel differs from the page, and on a screenshot with loss


def find_panels(
    pixels: Pixels, page: Pixels, photo: Rect, boxes: Sequence[Box], inks: Sequence[Ink], lossy: bool = False
) -> list[Box]:
    """Find panels on a photograph: boxes that were found before, and new ones in the colour of the page."""
    if photo.area < LEAST_PHOTO:
        return []
    held = [ink.rect for ink in inks if photo.common(ink.rect) > MOSTLY * ink.rect.area]
    if not held:
        return []
    left, top, right, bottom = int(photo.x), int(photo.y), round(photo.right), round(photo.bottom)
    part = pixels[top:bottom, left:right]
    away = distance_between(part, page[top:bottom, left:right])
    flat = label_islands(away <= (EXACT_LOSSY if lossy else EXACT))
    wide, high = flat.edges[:, 2] - flat.edges[:, 0], flat.edges[:, 3] - flat.edges[:, 1]
    cover = flat.area / np.maximum(wide * high, 1)
    whole = (wide >= part.shape[1] - EDGE) & (high >= part.shape[0] - EDGE)
    panels: list[Box] = []
    for number in np.flatnonzero((wide >= LEAST_WIDE) & (high >= LEAST_HIGH) & (cover >= LEAST_COVER) & ~whole):
        near, start, far, end = (int(edge) for edge in flat.edges[number])
        place = spanning((left + near, top + start, left + far, top + end))
        if not any(place.common(rect) > WHOLLY * rect.area for rect in held):
            continue
        box = next((box for box in boxes if _is_same_place(box.rect, place, photo)), None)
        if box is not None:
            panels.append(replace(box, shadow=None) if photo.holds(box.rect, 1) else box)
            continue
        mask = flat.mask(int(number))
        radius = _radius(mask, start <= 1, end >= part.shape[0] - 1)
        if radius is None:
            continue
        around = [box.rect for box in boxes if max(box.rect.w, box.rect.h) < place.w]
        reach = _extend_panel(place, photo, [ink.rect for ink in inks], around)
        panels.append(Box(reach, hex_colour(dominant_colour(part[start:end, near:far][mask])), radius))
    places = {panel.rect for panel in panels}
    labels = [box for box in boxes if box.rect not in places and photo.holds(box.rect) and is_painted(pixels, box)]
    return panels + [replace(box, shadow=None) for box in labels if any(box.rect.holds(rect) for rect in held)]


def is_on_panel(rect: Rect, panels: Sequence[Box]) -> bool:
    return any(panel.rect.common(rect) > WHOLLY * rect.area for panel in panels)


def confirm_panels(panels: Sequence[Box], lines: Sequence[TextLine]) -> tuple[list[Box], list[TextLine]]:
    """Keep the panels with certain text on them, and drop the lines on the others."""
    confirmed = [
        panel for panel in panels if any(is_on_panel(line.ink, [panel]) and is_certain_text(line) for line in lines)
    ]
    others = [panel for panel in panels if panel not in confirmed]
    return confirmed, [line for line in lines if is_on_panel(line.ink, confirmed) or not is_on_panel(line.ink, others)]


def _is_same_place(box: Rect, place: Rect, photo: Rect) -> bool:
    shared = box.common(photo)
    return shared < WHOLLY * photo.area and box.common(place) > WHOLLY * max(shared, place.area)


def _radius(mask: Mask, open_above: bool, open_below: bool) -> float | None:
    """Measure the radius of the corners on the photograph; a side that is open to the page is ignored."""
    if open_above and open_below:
        return 0.0 if corner_radius(mask) is not None else None
    if open_below:
        mask = np.concatenate((mask, mask[::-1]))
    elif open_above:
        mask = np.concatenate((mask[::-1], mask))
    return corner_radius(mask)


def _extend_panel(place: Rect, photo: Rect, inks: Sequence[Rect], boxes: Sequence[Rect]) -> Rect:
    """Extend a panel that is open below the photograph by what follows on it."""
    things = [*inks, *boxes]
    inside = [rect for rect in things if place.common(rect) > MOSTLY * rect.area]
    if place.bottom < photo.bottom - 1 or not inside:
        return place
    first = min(rect.y for rect in inside)
    air = AIR * max(first - place.y, LEAST_AIR)
    last = max(max(rect.bottom for rect in inside), place.y)
    following = sorted((rect for rect in things if rect.bottom > last), key=lambda rect: rect.y)
    for rect in following:
        if rect.y - last > air or any(_beside(other, rect, place) for other in things):
            break
        last = max(last, rect.bottom)
    if last <= place.bottom - SAME_EDGE:
        return place
    below = [rect.y for rect in things if rect.y >= last]
    room = min([first - place.y, *((y - last) / 2 for y in below)])
    return spanning((place.x, place.y, place.right, max(round(last + max(room, 0)), place.bottom)))


def _beside(other: Rect, rect: Rect, place: Rect) -> bool:
    """Whether something outside the panel is level with this, or this is outside itself."""
    level = min(other.bottom, rect.bottom) - max(other.y, rect.y) > 0
    return level and (other.x < place.x - 1 or other.right > place.right + 1)
