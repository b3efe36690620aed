"""Finds the parts of a page with Weft's own network: icons, and controls with their state.

The network is small data of the `weft-local` distribution; `packages/local/training` has its recipe. Where it is
missing, `find_parts` finds nothing, and the page is built without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Box, Control, ControlKind, PictureElement, Rect, hull, spanning
from weft.vision.see import models
from weft.vision.see.regions import Mask, Pixels, dominant_colour, hex_colour

SMALL = ("icon", "checkbox", "checkbox_on", "radio", "radio_on", "switch", "switch_on", "thumb")
LARGE = ("button", "field", "textarea", "select", "slider", "photo")
NAMES = SMALL + LARGE
CHANNELS = len(NAMES) + 8 + 3  # heat, edges of small and of large parts, masks
TEXT = CHANNELS - 2  # the mask of text; those of photographs and of text on them are not used
STRIDE = 4
TILE, OVERLAP = 768, 128  # rows that the network sees at once, and those that tiles share
MARGIN = 48  # pixels of background that it sees around what is drawn
SURE = 0.4
LEAST_ICON = 0.55
LEAST_TICK, SMALLEST_TICK = 0.5, 10  # the chance, and the pixels of a side, of a check box or radio button
WORDY = 0.35  # an icon of which more than this part looks like text is text
WIDE_NEAR = 0.02  # the part of the length of a slider that its ends may be off
EXACT = 0.7  # the part of a control that a box must cover to show its place
WIDEST_ICON = 1.45  # times as wide as tall is an icon on a line of text, at most
NEAR = 3.0  # pixels around a control that its drawing may reach
LARGEST_OUTLINE = 30  # pixels of an icon whose outline looks like a box
LEAST_INNER = 0.6  # the part of such an outline that its inner lines reach over
_TICKS: dict[str, ControlKind] = {"checkbox": "checkbox", "radio": "radio", "switch": "switch"}


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part of the page: its class, its place, and the chance that it is one."""

    name: str
    rect: Rect
    sure: float


def find_parts(pixels: Pixels, busy: Mask) -> list[FoundPart]:
    """Find the parts of a page; none without the network. `busy` marks pixels that are not plain background."""
    network = models.parts_network()
    if network is None:
        return []
    found = models.map_parallel(lambda tile: _see_tile(network, pixels, tile), _tiles(busy))
    return _without_doubles([part for parts in found for part in parts])


@dataclass(frozen=True, slots=True)
class _Tile:
    """A part of the page that the network sees, and the rows of it whose answer is used."""

    rows: slice
    columns: slice
    first: int
    last: int


def _tiles(busy: Mask) -> Iterator[_Tile]:
    """Yield the bands of rows between wide empty ones, cut where they are tall and cropped to their columns.

    Tiles overlap where a band is cut; at its ends there is only the margin.
    """
    height, width = busy.shape
    filled = np.flatnonzero(busy.any(axis=1))
    step = TILE - OVERLAP
    for band in np.split(filled, np.flatnonzero(np.diff(filled) > 2 * MARGIN) + 1) if len(filled) else ():
        start, end = max(int(band[0]) - MARGIN, 0), min(int(band[-1]) + MARGIN, height)
        for first in range(start, end, step):
            last = min(first + step, end)
            top, bottom = max(first - OVERLAP // 2, start), min(last + OVERLAP // 2, end)
            columns = np.flatnonzero(busy[top:bottom].any(axis=0))
            left, right = max(int(columns[0]) - MARGIN, 0), min(int(columns[-1]) + MARGIN, width)
            yield _Tile(slice(top, bottom), slice(left, right), first, last)


def _see_tile(network: models.Network, pixels: Pixels, tile: _Tile) -> list[FoundPart]:
    """Return the parts whose middle lies on the rows of a tile that are used."""
    shown = pixels[tile.rows, tile.columns]
    height, width = shown.shape[:2]
    padded = np.zeros((1, 3, -(-height // 32) * 32, -(-width // 32) * 32), np.float32)
    padded[0, :, :height, :width] = shown.transpose(2, 0, 1)
    seen = network(padded)[0]
    down, right = tile.rows.start, tile.columns.start
    parts = [part for part in _peaks(seen) if tile.first <= part.rect.middle[1] + down < tile.last]
    kept = [part for part in parts if part.name != "icon" or _is_icon(part, seen[TEXT])]
    return [
        replace(part, rect=Rect(part.rect.x + right, part.rect.y + down, part.rect.w, part.rect.h)) for part in kept
    ]


def _peaks(seen: NDArray[np.float32]) -> Iterator[FoundPart]:
    """Yield a part for each peak of the heat."""
    heat = seen[: len(NAMES)]
    height, width = heat.shape[1:]
    for each in np.argwhere(heat > SURE):
        kind, row, column = int(each[0]), int(each[1]), int(each[2])
        sure = float(heat[kind, row, column])
        if float(heat[kind, max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max()) > sure:
            continue
        start = len(NAMES) + (0 if kind < len(SMALL) else 4)
        left, top, right, bottom = (float(edge) for edge in seen[start : start + 4, row, column])
        x, y = (column + 0.5) * STRIDE, (row + 0.5) * STRIDE
        rect = spanning((x - left, y - top, x + right, y + bottom)).within(width * STRIDE, height * STRIDE)
        yield FoundPart(NAMES[kind], rect, sure)


def _without_doubles(parts: list[FoundPart]) -> list[FoundPart]:
    """Keep the surest of parts at the same place: a control is on or off, a frame is a field or a button."""
    kept: list[FoundPart] = []
    for part in sorted(parts, key=lambda each: -each.sure):
        large = part.name in LARGE
        same = [other for other in kept if (other.name in LARGE) == large]
        if not any(_overlap(part.rect, other.rect) > 0.5 for other in same):
            kept.append(part)
    switches = [part.rect for part in kept if part.name.startswith("switch")]
    return [part for part in kept if part.name in LARGE or not _is_knob(part.rect, switches)]


def _is_knob(rect: Rect, switches: Sequence[Rect]) -> bool:
    """Whether a mark is the knob of a switch."""
    return any(rect.area < 0.8 * other.area and rect.common(other) > 0.6 * rect.area for other in switches)


def _overlap(one: Rect, two: Rect) -> float:
    both = one.common(two)
    return both / max(one.area + two.area - both, 1.0)


def _is_icon(part: FoundPart, text: NDArray[np.float32]) -> bool:
    return part.sure >= LEAST_ICON and float(_part_of(text, part.rect).mean()) < WORDY


def _part_of(mask: NDArray[np.float32], rect: Rect) -> NDArray[np.float32]:
    top, left = int(rect.y) // STRIDE, int(rect.x) // STRIDE
    return mask[top : max(-(-int(rect.bottom) // STRIDE), top + 1), left : max(-(-int(rect.right) // STRIDE), left + 1)]


def without_marks(lines: Sequence[Rect], parts: Sequence[FoundPart]) -> list[Rect]:
    """Cut icons and small controls off the lines of text that they lie on."""
    marks = [part for part in parts if part.name in SMALL and part.name != "thumb"]
    return [piece for line in lines for piece in _cut_marks(line, marks)]


def _cut_marks(line: Rect, marks: Sequence[FoundPart]) -> list[Rect]:
    on = [mark for mark in marks if _is_on_line(mark.rect, line)]
    on = [mark for mark in on if mark.name != "icon" or (_is_at_end(mark.rect, line) and not _is_word(mark.rect))]
    if not on:
        return [line]
    pieces: list[Rect] = []
    start = line.x
    for mark in sorted((each.rect for each in on), key=lambda rect: rect.x):
        pieces.append(spanning((start, line.y, mark.x - 1, line.bottom)))
        start = mark.right + 1
    pieces.append(spanning((start, line.y, line.right, line.bottom)))
    return [piece for piece in pieces if piece.w > 0.45 * line.h]


def _is_on_line(mark: Rect, line: Rect) -> bool:
    level = min(mark.bottom, line.bottom) - max(mark.y, line.y)
    beside = min(mark.right, line.right) - max(mark.x, line.x)
    return level > 0.6 * min(mark.h, line.h) and beside > 0.5 * min(mark.w, line.w) and mark.h < 3 * line.h


def _is_at_end(mark: Rect, line: Rect) -> bool:
    """Whether an icon begins or ends a line: between two words it is a sign such as &."""
    return min(mark.x - line.x, line.right - mark.right) < 0.5 * line.h


def _is_word(mark: Rect) -> bool:
    """Whether what looks like an icon is as wide as a word of two letters; it stands on a line of text."""
    return mark.w > WIDEST_ICON * mark.h


def find_cut_icons(lines: Sequence[Rect], parts: Sequence[FoundPart]) -> list[Rect]:
    """Return the icons that were cut off lines of text, or are all of one; they may be letters."""
    icons = [part.rect for part in parts if part.name == "icon" and not _is_word(part.rect)]
    return [
        icon.grown(2) for icon in icons if any(_is_on_line(icon, line) and _is_at_end(icon, line) for line in lines)
    ]


def is_icon_ground(pixels: Pixels, box: Box, parts: Sequence[FoundPart]) -> bool:
    """Whether a box is the ground of an icon, such as the disc of a logo: both are one picture."""
    icons = [part.rect for part in parts if part.name == "icon"]
    if (box.border is not None and box.radius < 0.45 * box.rect.h) or not any(
        icon.grown(NEAR).holds(box.rect) and box.rect.area > 0.5 * icon.area for icon in icons
    ):
        return False
    rect = box.rect
    inner = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.int16)
    rows, columns = (slice(length // 5, length - length // 5) for length in inner.shape[:2])
    middle = inner[rows, columns].reshape(-1, 3)
    return middle.size > 0 and float((np.abs(middle - np.median(middle, axis=0)) > 40).any(axis=1).mean()) > 0.03


def is_icon_outline(box: Box, inks: Sequence[Rect], read: Sequence[Rect]) -> bool:
    """Whether a small box is the outline of an icon, such as an envelope: what fills it looks like text and is none.

    `inks` are the places that look like text, `read` those of text that was read.
    """
    if max(box.rect.w, box.rect.h) > LARGEST_OUTLINE or box.border is not None:
        return False
    around = box.rect.grown(1)
    fills = any(around.holds(rect) and rect.area >= LEAST_INNER * box.rect.area for rect in inks)
    return fills and not any(around.common(rect) for rect in read)


def find_controls(pixels: Pixels, parts: Sequence[FoundPart]) -> list[tuple[Rect, Control]]:
    """Return check boxes, radio buttons, switches and sliders with their state and colours."""
    found: list[tuple[Rect, Control]] = []
    thumbs = [part.rect for part in parts if part.name == "thumb"]
    for part in parts:
        name, _, state = part.name.partition("_")
        rect = spanning((round(part.rect.x), round(part.rect.y), round(part.rect.right), round(part.rect.bottom)))
        if name in _TICKS and (name == "switch" or _is_tick_shape(part.sure, rect)) and _is_framed(pixels, rect):
            on = state == "on"
            colour, mark = _colours(pixels, rect, on if name == "switch" else None)
            found.append((rect, Control(_TICKS[name], on, 0.0, colour, mark)))
        elif name == "slider":
            held = [thumb for thumb in thumbs if rect.grown(4).holds(Rect(*thumb.middle, 0, 0))]
            if len(held) == 1 and rect.w > 2 * held[0].w:
                share = (held[0].middle[0] - rect.x - held[0].w / 2) / (rect.w - held[0].w)
                colour, mark = _colours(pixels, held[0], None)
                found.append((rect, Control("slider", False, min(max(share, 0.0), 1.0), colour, mark)))
    return found


def _is_tick_shape(sure: float, rect: Rect) -> bool:
    """Whether a check box or radio button is as large and square as one; icons and dots look like them."""
    return sure >= LEAST_TICK and min(rect.w, rect.h) >= SMALLEST_TICK and abs(rect.w - rect.h) <= 1


def _is_framed(pixels: Pixels, rect: Rect) -> bool:
    """Whether all four sides are drawn around something else: the tick of a list is no check box, its dot no radio."""
    left, top, right, bottom = int(rect.x), int(rect.y), int(rect.right), int(rect.bottom)
    reach = 3
    if min(left, top) < reach or right + reach > pixels.shape[1] or bottom + reach > pixels.shape[0]:
        return False
    around = pixels[top - reach : bottom + reach, left - reach : right + reach].astype(np.int16)
    ring = np.concatenate([around[0], around[-1], around[:, 0], around[:, -1]])
    ground = np.median(ring, axis=0)
    drawn = (np.abs(around - ground) > 16).any(axis=2)
    rows, columns = _middle(drawn.shape[0]), _middle(drawn.shape[1])
    sides = (
        drawn[1 : 2 * reach, columns].any(axis=0),
        drawn[-2 * reach : -1, columns].any(axis=0),
        drawn[rows, 1 : 2 * reach].any(axis=1),
        drawn[rows, -2 * reach : -1].any(axis=1),
    )
    return all(float(side.mean()) > 0.7 for side in sides) and not _is_plain(around, ground, drawn)


def _is_plain(around: NDArray[np.int16], ground: NDArray[np.float64], drawn: Mask) -> bool:
    """Whether a mark has one colour from edge to edge."""
    rows, columns = _middle(around.shape[0]), _middle(around.shape[1])
    inner = around[rows, columns].reshape(-1, 3)
    if not drawn[rows, columns].all() or int((inner.max(axis=0) - inner.min(axis=0)).max()) > 24:
        return False
    colour = np.median(inner, axis=0)
    low, high = np.minimum(colour, ground) - 16, np.maximum(colour, ground) + 16
    across = np.concatenate([around[around.shape[0] // 2], around[:, around.shape[1] // 2]])
    return bool(((across >= low) & (across <= high)).all())


def _middle(length: int) -> slice:
    return slice(int(0.35 * length), max(int(0.65 * length), int(0.35 * length) + 1))


def _colours(pixels: Pixels, rect: Rect, knob_right: bool | None) -> tuple[str, str]:
    """Return the strongest colour of a control, and that of its knob."""
    part = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.int16)
    if knob_right is None:
        rich = part.max(axis=2) - part.min(axis=2)
        strong = part[rich >= max(int(np.quantile(rich, 0.75)), 1)] if rich.max() > 40 else part.reshape(-1, 3)
        return hex_colour(dominant_colour(strong.astype(np.uint8))), "#ffffff"
    half = part.shape[1] // 2
    reach = max(part.shape[0] // 8, 1)
    middle, at = part.shape[0] // 2, part.shape[0] // 2
    column = part.shape[1] - at if knob_right else at
    knob = part[middle - reach : middle + reach, max(column - reach, 0) : column + reach]
    inner = part[reach:-reach]
    track = inner[:, at:half] if knob_right else inner[:, half : part.shape[1] - at]
    chosen = track if track.size else inner
    return hex_colour(dominant_colour(chosen.reshape(-1, 3).astype(np.uint8))), hex_colour(
        dominant_colour(knob.reshape(-1, 3).astype(np.uint8))
    )


def _reach(rect: Rect, control: Control) -> Rect:
    """Return the place that the drawing of a control may reach; the ends of a long one are less certain."""
    along = WIDE_NEAR * rect.w if control.kind == "slider" else 0.0
    return spanning((rect.x - NEAR - along, rect.y - NEAR, rect.right + NEAR + along, rect.bottom + NEAR))


def _find_place(rect: Rect, control: Control, drawn: Sequence[Box], cut: Sequence[PictureElement]) -> Rect:
    """Return the place of a control: that of its boxes, which is exact, or of its pictures, if it has no soft edge."""
    boxed = hull(box.rect for box in drawn) if drawn else rect
    if not (drawn or cut) or (control.on and boxed.area < EXACT * rect.area):
        return rect
    return boxed if control.on else hull(each.rect for each in (*drawn, *cut))


def place_controls(
    boxes: Sequence[Box], pictures: Sequence[PictureElement], controls: Sequence[tuple[Rect, Control]]
) -> tuple[list[Box], list[PictureElement]]:
    """Replace what a control was drawn with by one box; a control on a larger picture stays part of it."""
    kept, shown = list(boxes), list(pictures)
    for rect, control in controls:
        around = _reach(rect, control)
        drawn = [box for box in kept if around.holds(box.rect)]
        cut = [picture for picture in shown if around.holds(picture.rect)]
        if any(each.kind != "ground" and each.rect.common(rect) > 0.1 * rect.area for each in shown if each not in cut):
            continue
        place = _find_place(rect, control, drawn, cut)
        if place.area < 0.4 * rect.area:
            continue
        kept = [box for box in kept if box not in drawn]
        shown = [picture for picture in shown if picture not in cut]
        bend = place.h / 2 if control.kind in ("radio", "switch") else 0.0
        plain = Box(place, control.colour, bend)
        frame = max(drawn, key=lambda box: box.rect.area, default=plain) if control.kind != "slider" else plain
        kept.append(replace(frame, rect=place, control=control))
    return sorted(kept, key=lambda box: -box.rect.area), shown
