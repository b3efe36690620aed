"""Cuts pictures out of a screenshot, and separates them from text and panels that lie on them."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.vision.elements import (
    Box,
    Gradient,
    PictureElement,
    PictureKind,
    Rect,
    TextLine,
    hull,
    spanning,
)
from weft.vision.see.boxes import corner_radius
from weft.vision.see.gradients import paint_gradient
from weft.vision.see.ink import Ink
from weft.vision.see.photographs import is_painted
from weft.vision.see.rank_filters import largest_around
from weft.vision.see.regions import (
    STRIP,
    Mask,
    Pixels,
    distance_between,
    dominant_colour,
    hex_colour,
    label_islands,
    rgb_parts,
)
from weft.vision.see.text import is_certain_text

PATCH_REACH = 3  # parts of one picture may lie this many pixels apart
LEAST = 10  # fewer unexplained pixels are noise
ICON = 72
FAINT, FAINT_REACH = 5, 12  # levels by which the faintest stroke differs, and pixels that it is followed


@dataclass(frozen=True, slots=True)
class Patch:
    """An area that boxes do not explain, and how much of it differs from the page."""

    rect: Rect
    density: float
    count: int


def find_patches(differs: Mask, across: int = PATCH_REACH, down: int = PATCH_REACH) -> list[Patch]:
    """Find areas that differ; near ones are joined."""
    height, width = differs.shape
    tall, wide = -(-height // down), -(-width // across)
    padded = np.zeros((tall * down, wide * across), np.bool_)
    padded[:height, :width] = differs
    coarse: Mask = np.asarray(padded.reshape(tall, down, wide, across).any(axis=(1, 3)), np.bool_)
    groups = label_islands(coarse)
    found: list[Rect] = []
    for number in range(1, len(groups.area)):
        left, top, right, bottom = (int(edge) for edge in groups.edges[number])
        found.append(spanning((left * across, top * down, min(right * across, width), min(bottom * down, height))))
    tight = [_tighten(differs, rect) for rect in join_rects(found, PATCH_REACH)]
    return [patch for patch in tight if patch is not None]


def _tighten(differs: Mask, rect: Rect) -> Patch | None:
    left, top = int(rect.x), int(rect.y)
    part = differs[top : int(rect.bottom), left : int(rect.right)]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    count = int(part.sum())
    if not len(rows) or count < LEAST:
        return None
    edges = spanning((left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1))
    return Patch(edges, count / edges.area, count)


def join_rects(rects: list[Rect], reach: float) -> list[Rect]:
    """Join rectangles that overlap or are within reach, until none are."""
    merged = sorted(rects, key=lambda rect: rect.y)
    while True:
        result: list[Rect] = []
        for rect in merged:
            around = rect.grown(reach)
            near = next((number for number, other in enumerate(result) if _overlap(other, around)), None)
            if near is None:
                result.append(rect)
            else:
                result[near] = hull((result[near], rect))
        if len(result) == len(merged):
            return result
        merged = result


def _overlap(one: Rect, two: Rect) -> bool:
    """Whether two rectangles share some area: the innermost test of many, without a call."""
    return one.y < two.y + two.h and two.y < one.y + one.h and one.x < two.x + two.w and two.x < one.x + one.w


def cut_out(
    fine: Pixels, ratio: int, rect: Rect, kind: PictureKind, number: int, radius: float = 0.0
) -> PictureElement:
    """Cut out a part of the screenshot at its own resolution, as a PNG."""
    left, top = int(rect.x) * ratio, int(rect.y) * ratio
    right, bottom = round(rect.right) * ratio, round(rect.bottom) * ratio
    data = encode_png(Image.fromarray(np.ascontiguousarray(fine[top:bottom, left:right])))
    return PictureElement(rect, kind, f"{kind}-{number}", data, radius)


def encode_png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def mean_colour(picture: PictureElement) -> str:
    """Return the colour that stands for a picture before it is loaded."""
    with Image.open(io.BytesIO(picture.data), formats=("PNG",)) as image:
        return hex_colour(np.asarray(image.convert("RGB")).mean(axis=(0, 1)))


def faint_edges(pixels: Pixels, page: Pixels, rect: Rect, boxes: Sequence[Box] = ()) -> Rect:
    """Extend a small mark by the faint strokes that are connected with it, within its box."""
    height, width = pixels.shape[:2]
    if max(rect.w, rect.h) > ICON / 2:
        return rect
    around = rect.grown(FAINT_REACH).within(width, height)
    left, top = int(around.x), int(around.y)
    where = (slice(top, round(around.bottom)), slice(left, round(around.right)))
    marks = label_islands(distance_between(pixels[where], page[where]) > FAINT)
    found = [
        spanning((left + int(edges[0]), top + int(edges[1]), left + int(edges[2]), top + int(edges[3])))
        for edges in marks.edges[1:]
    ]
    whole = hull([rect, *(each for each in found if each.common(rect) > 0)])
    rooms = [around, *(box.rect for box in boxes if box.rect.holds(rect))]
    return whole if all(room.grown(-1).holds(whole) for room in rooms) else rect


def picture_kind(rect: Rect) -> PictureKind:
    return "icon" if max(rect.w, rect.h) <= ICON else "photo"


DIFFERENT = 14


def paint_page(width: int, height: int, background: str, boxes: Sequence[Box]) -> Pixels:
    """Paint boxes with borders and round corners, without shadows."""
    page = np.empty((height, width, 3), np.uint8)
    page[:] = rgb_parts(background)
    for box in boxes:
        if box.border is not None:
            _fill(page, box.rect, box.radius, box.border.colour)
            top, right, bottom, left = box.border.widths
            rect = box.rect
            inner = Rect(rect.x + left, rect.y + top, rect.w - left - right, rect.h - top - bottom)
            _fill(page, inner, max(box.radius - max(box.border.widths), 0), box.gradient or box.fill)
            continue
        _fill(page, box.rect, box.radius, box.gradient or box.fill)
    return page


def find_differences(pixels: Pixels, page: Pixels, slack: int = DIFFERENT) -> Mask:
    """Mark where the screenshot differs from the painted page."""
    differs = np.empty(pixels.shape[:2], np.bool_)
    for top in range(0, len(pixels), STRIP):
        part = slice(top, top + STRIP)
        differs[part] = distance_between(pixels[part], page[part]) > slack
    return differs


def _fill(page: Pixels, rect: Rect, radius: float, paint_with: str | Gradient) -> None:
    left, top = round(rect.x), round(rect.y)
    part = page[top : round(rect.bottom), left : round(rect.right)]
    height, width = part.shape[:2]
    if not height or not width:
        return
    colour = np.clip(_colours(paint_with, width, height), 0, 255).astype(np.uint8)
    if radius < 1:
        part[:] = colour
        return
    # only the rows with corners need a mask: the others are filled at once
    bend = min(int(np.ceil(radius)), -(-height // 2))
    painted = np.broadcast_to(colour, part.shape)
    part[bend : height - bend] = painted[bend : height - bend]
    x: NDArray[np.float64] = np.arange(width, dtype=np.float64) + 0.5
    across = np.clip(radius - np.minimum(x, width - x), 0, None)[None, :]
    for rows in (slice(0, bend), slice(max(height - bend, bend), height)):
        y: NDArray[np.float64] = np.arange(rows.start, rows.stop, dtype=np.float64) + 0.5
        down = np.clip(radius - np.minimum(y, height - y), 0, None)[:, None]
        inside = across**2 + down**2 <= radius**2
        part[rows] = np.where(inside[:, :, None], painted[rows], part[rows])


def _colours(paint_with: str | Gradient, width: int, height: int) -> NDArray[np.float64]:
    if isinstance(paint_with, str):
        return np.array(rgb_parts(paint_with), np.float64)
    return paint_gradient(paint_with, width, height)


BRIGHT, DARK = 214, 46
COLOUR_REACH = 90.0  # how far from the letters' colour a pixel may be and still be a little covered
NARROWEST = 1.25  # the width of a line in parts of its height: two letters of a wide script
LEAST_CONTRAST = 48.0  # between letters and the picture around them
FILL_REACH = 5  # pixels around a letter, beyond which the picture is not looked at
ON_EDGE = 0.12  # the part of the rows above and below a line that its letters may cover


def find_text_on_photos(pixels: Pixels, rects: Sequence[Rect], photos: Sequence[Rect]) -> list[Ink]:
    """Find possible letters on photographs, also where the edge of a pill lies in the margin of a line."""
    on = [rect for rect in rects if any(photo.common(rect) > 0.9 * rect.area for photo in photos)]
    found = [_ink(pixels, rect) or _ink(pixels, rect.grown(-2)) for rect in on if _can_be_line(rect)]
    return [ink for ink in found if ink is not None]


def _can_be_line(rect: Rect) -> bool:
    return rect.w > NARROWEST * rect.h and rect.h >= 10


def inpaint_text(pixels: Pixels, lines: Sequence[TextLine], inks: Sequence[Ink], ratio: int) -> Pixels:
    """Remove letters from a picture: fill their area from around it."""
    rects = {line.ink for line in lines}
    own = [ink for ink in inks if ink.rect in rects]
    filled = pixels.copy()
    for area in join_rects([ink.rect for ink in own], 2 * FILL_REACH):
        part = area.grown(2 * FILL_REACH).within(pixels.shape[1] // ratio, pixels.shape[0] // ratio)
        left, top = int(part.x) * ratio, int(part.y) * ratio
        shown = pixels[top : int(part.bottom) * ratio, left : int(part.right) * ratio]
        mask = np.zeros(shown.shape[:2], np.uint8)
        for ink in own:
            if area.holds(ink.rect):
                x, y = int(ink.rect.x) * ratio - left, int(ink.rect.y) * ratio - top
                cover = np.kron((ink.cover > 0.06).astype(np.uint8) * 255, np.ones((ratio, ratio), np.uint8))
                room = mask[y : y + cover.shape[0], x : x + cover.shape[1]]
                room |= cover[: room.shape[0], : room.shape[1]]
        filled[top : top + shown.shape[0], left : left + shown.shape[1]] = _fill_glyphs(shown, mask, ratio)
    return filled


def _fill_glyphs(pixels: Pixels, mask: NDArray[np.uint8], ratio: int) -> Pixels:
    return _fill_holes(pixels, largest_around(mask, 1 + ratio) > 0)


def _ink(pixels: Pixels, rect: Rect) -> Ink | None:
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    part = pixels[top:bottom, left:right].astype(np.float64)
    for letters in (part.min(axis=2) >= BRIGHT, part.max(axis=2) <= DARK):
        if not _can_be_glyphs(letters):
            continue
        colour, paper = np.median(part[letters], axis=0), np.median(part[~letters], axis=0)
        if float(np.abs(colour - paper).max()) < LEAST_CONTRAST:
            continue
        cover = np.clip(1.25 - np.abs(part - colour).max(axis=2) / COLOUR_REACH, 0, 1)
        rows, columns = np.flatnonzero((cover > 0.6).any(axis=1)), np.flatnonzero((cover > 0.6).any(axis=0))
        high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        place = spanning((left + near, top + high, left + far, top + low))
        return Ink(place, cover[high:low, near:far].astype(np.float32), paper, colour)
    return _ink_by_contrast(part, left, top)


def _ink_by_contrast(part: NDArray[np.float64], left: int, top: int) -> Ink | None:
    """Separate letters of any colour from a picture that changes slowly behind them."""
    light = part.mean(axis=2)
    dark = light < _split_level(light)
    for letters in (dark, ~dark):
        if not _can_be_glyphs(letters):
            continue
        around = largest_around(letters.astype(np.uint8), 1) > 0
        paper = _fill_holes(part.astype(np.uint8), around).astype(np.float64)
        away = np.abs(part - paper).max(axis=2)
        strongest = letters & (away >= np.quantile(away[letters], 0.7))
        colour = np.median(part[strongest], axis=0)
        change = colour - paper
        if float(np.abs(np.median(change[letters], axis=0)).max()) < LEAST_CONTRAST:
            continue
        weight = np.maximum((change * change).sum(axis=2), 1.0)
        cover = np.clip(((part - paper) * change).sum(axis=2) / weight, 0, 1) * around
        rows, columns = np.flatnonzero((cover > 0.5).any(axis=1)), np.flatnonzero((cover > 0.5).any(axis=0))
        if not len(rows):
            continue
        high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        place = spanning((left + near, top + high, left + far, top + low))
        return Ink(place, cover[high:low, near:far].astype(np.float32), np.median(paper[letters], axis=0), colour)
    return None


def _can_be_glyphs(mask: Mask) -> bool:
    """Whether these pixels can be the letters of a line: neither few nor most, and hardly any above and below it."""
    return 0.03 <= float(mask.mean()) <= 0.4 and float(mask[[0, 1, -2, -1]].mean()) <= ON_EDGE


def _split_level(light: NDArray[np.float64]) -> float:
    """Return the lightness that parts the pixels into the two most different groups (Otsu 1979)."""
    counts = np.bincount(light.astype(np.intp).ravel(), minlength=256).astype(np.float64)
    below = np.cumsum(counts)
    sums = np.cumsum(counts * np.arange(256))
    above = below[-1] - below
    means = sums / np.maximum(below, 1), (sums[-1] - sums) / np.maximum(above, 1)
    return float((below * above * (means[0] - means[1]) ** 2).argmax()) + 1.0


LEAST_PHOTO = 12_000
LEAST_WIDE, LEAST_HIGH = 96, 28
LEAST_COVER = 0.3  # the part of a panel that must have its colour; the rest is text
AIR = 1.6  # largest gap between content of a panel, in parts of the room above the first
EXACT, EXACT_LOSSY = 3, 12


def find_panels(
    pixels: Pixels, page: Pixels, photo: Rect, boxes: Sequence[Box], inks: Sequence[Ink], lossy: bool = False
) -> list[Box]:
    """Find panels on a photograph: known boxes, and new ones in the colour of the page."""
    if photo.area < LEAST_PHOTO:
        return []
    held = [ink.rect for ink in inks if photo.common(ink.rect) > 0.5 * ink.rect.area]
    if not held:
        return []
    left, top, right, bottom = int(photo.x), int(photo.y), round(photo.right), round(photo.bottom)
    part = pixels[top:bottom, left:right]
    away = distance_between(part, page[top:bottom, left:right])
    flat = label_islands(away <= (EXACT_LOSSY if lossy else EXACT))
    wide, high = flat.edges[:, 2] - flat.edges[:, 0], flat.edges[:, 3] - flat.edges[:, 1]
    cover = flat.area / np.maximum(wide * high, 1)
    whole = (wide >= part.shape[1] - 2) & (high >= part.shape[0] - 2)
    found: list[Box] = []
    for number in np.flatnonzero((wide >= LEAST_WIDE) & (high >= LEAST_HIGH) & (cover >= LEAST_COVER) & ~whole):
        near, start, far, end = (int(edge) for edge in flat.edges[number])
        place = spanning((left + near, top + start, left + far, top + end))
        if not any(place.common(rect) > 0.9 * rect.area for rect in held):
            continue
        known = next((box for box in boxes if _is_same_place(box.rect, place, photo)), None)
        if known is not None:
            found.append(replace(known, shadow=None) if photo.holds(known.rect, 1) else known)
            continue
        mask = flat.mask(int(number))
        radius = _radius(mask, start <= 1, end >= part.shape[0] - 1)
        if radius is None:
            continue
        around = [box.rect for box in boxes if max(box.rect.w, box.rect.h) < place.w]
        reach = _extend_panel(place, photo, [ink.rect for ink in inks], around)
        found.append(Box(reach, hex_colour(dominant_colour(part[start:end, near:far][mask])), radius))
    known = {box.rect for box in found}
    labels = [box for box in boxes if box.rect not in known and photo.holds(box.rect) and is_painted(pixels, box)]
    return found + [replace(box, shadow=None) for box in labels if any(box.rect.holds(rect) for rect in held)]


def is_on_panel(rect: Rect, panels: Sequence[Box]) -> bool:
    return any(panel.rect.common(rect) > 0.9 * rect.area for panel in panels)


def confirm_panels(panels: Sequence[Box], lines: Sequence[TextLine]) -> tuple[list[Box], list[TextLine]]:
    """Keep the panels with certain text on them, and drop the lines on the others."""
    confirmed = [
        panel for panel in panels if any(is_on_panel(line.ink, [panel]) and is_certain_text(line) for line in lines)
    ]
    others = [panel for panel in panels if panel not in confirmed]
    return confirmed, [line for line in lines if is_on_panel(line.ink, confirmed) or not is_on_panel(line.ink, others)]


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
    return replace(picture, data=encode_png(Image.fromarray(_fill_holes(pixels, hole))))


def _is_same_place(box: Rect, place: Rect, photo: Rect) -> bool:
    shared = box.common(photo)
    return shared < 0.9 * photo.area and box.common(place) > 0.9 * max(shared, place.area)


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
    """Whether something outside the panel is level with this, or this is outside itself."""
    level = min(other.bottom, rect.bottom) - max(other.y, rect.y) > 0
    return level and (other.x < place.x - 1 or other.right > place.right + 1)


def _fill_holes(pixels: Pixels, hole: Mask) -> Pixels:
    """Fill holes by halving: each level copies unknown values from the next coarser one."""
    known = ~hole
    values: NDArray[np.float32] = pixels.astype(np.float32) * known[:, :, None]
    filled = _fill_coarsely(values, known.astype(np.float32))
    return np.where(hole[:, :, None], np.clip(filled, 0, 255), pixels).astype(np.uint8)


def _fill_coarsely(values: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
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
    rough = _fill_coarsely(halved[:, :, :3] * scale[:, :, None], share)
    image = [Image.fromarray(rough[:, :, channel]) for channel in range(3)]
    smooth = np.stack([np.asarray(each.resize((2 * broad, 2 * tall), Image.Resampling.BILINEAR)) for each in image], 2)
    return np.where((weight > 0)[:, :, None], mean, smooth[:height, :width]).astype(np.float32)
