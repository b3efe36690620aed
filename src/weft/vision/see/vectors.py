"""Traces icons of one to three flat colours, and rows of marks, to SVG paths."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw

from weft.vision.elements import PictureElement, Rect, Shape
from weft.vision.see.curves import Segment, fit_outline, flatten_outline, format_number, path_data
from weft.vision.see.icon_pictures import HasRoom, draw_picture
from weft.vision.see.icons import recognise_icon
from weft.vision.see.ink import Ink, extract_ink
from weft.vision.see.outlines import LEVEL, trace_outlines
from weft.vision.see.pictures import ICON
from weft.vision.see.regions import Mask, Pixels, hex_colour

TOLERANCE = 0.12  # pixels that an outline may be off the traced edge
MOST_WRONG = 0.25  # the part of an icon's ink that its path may get wrong
MOST_SEGMENTS = 240
LONGEST_ROW = 200.0  # pixels of a row of marks
FINE = 4  # how much larger a path is drawn to compare it
FLAT = 10  # levels by which the pixels of a flat colour differ
APART = 24  # levels by which two colours differ at least
MIXED = 30  # levels that a pixel may be off the mixture of two colours
MOST_COLOURS = 3
MOST_SHADED = 0.06  # the part of an icon of one colour that may have another one
SAME = 0.06  # the mean difference of two marks that are the same

Cover = NDArray[np.float32]
Layer = tuple[str, Cover]  # a colour, and the part of each pixel that it covers


def trace_icons(
    pictures: Sequence[PictureElement], fine: Pixels, page: Pixels, ratio: int, has_room: HasRoom
) -> list[PictureElement]:
    """Draw all icons as shapes that can be. `has_room` is whether a rectangle can grow into another."""
    return [trace_icon(picture, fine, page, ratio, has_room) for picture in pictures]


def trace_icon(
    picture: PictureElement, fine: Pixels, page: Pixels, ratio: int, has_room: HasRoom | None = None
) -> PictureElement:
    """Return an icon with its shapes, if it has few flat colours and they look like it; else the picture as it is.

    A known icon gets the path of its set, all others are traced.

    `fine` is the screenshot at its own resolution, `page` the page without the icon at one pixel for each CSS pixel.
    """
    rect = picture.rect
    row = picture.kind in ("unread", "icon") and 3 * rect.h <= rect.w <= LONGEST_ROW and rect.h <= ICON
    if not row and (picture.kind != "icon" or max(rect.w, rect.h) > ICON):
        return picture
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    seen = fine[top * ratio : bottom * ratio, left * ratio : right * ratio]
    ground = page[top:bottom, left:right].repeat(ratio, axis=0).repeat(ratio, axis=1)
    if seen.shape != ground.shape or not seen.size or int(np.ptp(ground.reshape(-1, 3), axis=0).max()) > 6:
        return picture
    marks = find_row_marks(seen, ground) if row else []
    if marks:
        traced = _trace_row(seen, ground, marks, ratio)
        name = picture.name.replace("unread", "icon")
        return replace(picture, kind="icon", name=name, shapes=traced[0], colour=traced[1]) if traced[0] else picture
    if picture.kind != "icon" or max(rect.w, rect.h) > ICON:
        return picture
    known = recognise_icon(seen, ground, ratio)
    if known is not None:
        return draw_picture(picture, known, ground, ratio, has_room)
    layers = split_colours(seen, ground)
    shapes = _trace_layers(layers, ratio)
    return replace(picture, shapes=shapes, colour=layers[0][0] if len(layers) == 1 else "") if shapes else picture


def trace_scrap(pixels: Pixels, paper: NDArray[np.float64], rect: Rect) -> Shape | None:
    """Trace a small mark of one colour on plain paper, in place; None if it cannot be traced."""
    around = rect.grown(2).within(pixels.shape[1], pixels.shape[0])
    left, top = int(around.x), int(around.y)
    seen = pixels[top : round(around.bottom), left : round(around.right)]
    layer = _single_layer(seen, np.broadcast_to(paper, seen.shape).astype(np.uint8))
    if layer is None:
        return None
    corner = np.array([left, top])
    outlines = [fit_outline(np.add(outline, corner), TOLERANCE) for outline in trace_outlines(layer[1], 4)]
    data = path_data([segments for segments in outlines if len(segments) >= 2])
    return _path(data, layer[0]) if data else None


def _trace_layers(layers: list[Layer], ratio: int) -> tuple[Shape, ...]:
    """Return a path for each colour; none if one of them cannot be traced."""
    found: list[Shape] = []
    for colour, cover in layers:
        data = _trace_path(cover, ratio)
        if not data:
            return ()
        found.append(_path(data, colour if len(layers) > 1 else "currentColor"))
    return tuple(found)


def _trace_row(seen: Pixels, ground: Pixels, marks: list[tuple[int, int]], ratio: int) -> tuple[tuple[Shape, ...], str]:
    """Return the shapes of a row of marks, and their colour if it is one. Equal marks have the same path."""
    found = [_single_layer(seen[:, start:end], ground[:, start:end]) for start, end in marks]
    layers = [layer for layer in found if layer is not None]
    if len(layers) != len(marks):
        return (), ""
    one = layers[0][0] if all(_is_near(colour, layers[0][0]) for colour, _ in layers) else ""
    shapes: list[Shape] = []
    known: list[tuple[Cover, str]] = []
    for (start, _), (colour, cover) in zip(marks, layers, strict=True):
        data = next((data for other, data in known if _are_same(other, cover)), "") or _trace_path(cover, ratio)
        if not data:
            return (), ""
        known.append((cover, data))
        path = _path(data, "currentColor" if one else colour)
        move = ("transform", f"translate({format_number(start / ratio)} 0)")
        shapes.append(replace(path, attributes=(*path.attributes, move)))
    return tuple(shapes), one


def _path(data: str, fill: str) -> Shape:
    return Shape("path", (("fill", fill), ("fill-rule", "evenodd"), ("d", data)))


def _are_same(one: Cover, two: Cover) -> bool:
    wide = min(one.shape[1], two.shape[1])
    if abs(one.shape[1] - two.shape[1]) > 2:
        return False
    return float(np.abs(one[:, :wide] - two[:, :wide]).mean()) < SAME


def _is_near(one: str, two: str) -> bool:
    first, second = (np.array([int(each[at : at + 2], 16) for at in (1, 3, 5)]) for each in (one, two))
    return int(np.abs(first - second).max()) <= APART


def find_row_marks(seen: Pixels, ground: Pixels) -> list[tuple[int, int]]:
    """Return the columns of three to six marks of one size at even distances, such as the stars of a rating."""
    differs = np.abs(seen.astype(np.int16) - ground).max(axis=2)
    inked: Mask = differs > max(0.25 * float(differs.max()), FLAT)
    filled = np.flatnonzero(inked.any(axis=0))
    rows = np.flatnonzero(inked.any(axis=1))
    if not len(filled) or not len(rows):
        return []
    marks = np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1)
    spans = [(int(mark[0]), int(mark[-1]) + 1) for mark in marks]
    widths = [end - start for start, end in spans]
    steps = np.diff([start for start, _ in spans])
    high = int(rows[-1] - rows[0]) + 1
    even = max(widths) - min(widths) <= 2 and (not len(steps) or int(np.ptp(steps)) <= 2)
    if not 3 <= len(marks) <= 6 or not even or not 0.75 * high <= widths[0] <= 1.35 * high:
        return []
    return [(max(start - 1, 0), min(end + 1, seen.shape[1])) for start, end in spans]


def split_colours(seen: Pixels, ground: Pixels) -> list[Layer]:
    """Return the colours of an icon from the lowest layer to the highest; none if it has more than a few."""
    single = _single_layer(seen, ground)
    if single is not None:
        return [single]
    palette = _find_palette(seen, ground)
    if palette is None:
        return []
    parts = _mix_parts(seen, np.concatenate((np.median(ground.reshape(-1, 3), axis=0)[None], palette)))
    if parts is None:
        return []
    order = sorted(range(1, len(palette) + 1), key=lambda number: -float(parts[number].sum()))
    layers: list[Layer] = []
    for at, number in enumerate(order):
        cover = np.clip(sum(parts[each] for each in order[at:]), 0, 1)
        layers.append((hex_colour(palette[number - 1]), np.asarray(cover, np.float32)))
    return layers


def _single_layer(seen: Pixels, ground: Pixels) -> Layer | None:
    height, width = seen.shape[:2]
    ink = extract_ink(seen, ground, Rect(0, 0, width, height))
    if ink is None or ink.underlined or _is_shaded(seen, ground, ink):
        return None
    cover = np.zeros((height, width), np.float32)
    x, y = int(ink.rect.x), int(ink.rect.y)
    cover[y : y + ink.cover.shape[0], x : x + ink.cover.shape[1]] = ink.cover
    return hex_colour(ink.colour), cover


def _is_shaded(seen: Pixels, ground: Pixels, ink: Ink) -> bool:
    """Whether some of it has another colour than the ink: a face is no disc."""
    change = seen.astype(np.float64) - ground
    direction = ink.colour - ink.paper
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    strong = np.abs(change).max(axis=2) > APART
    off = np.abs(change - cover[:, :, None] * direction).max(axis=2)
    return bool(strong.any()) and float((off[strong] > MIXED).mean()) > MOST_SHADED


def _find_palette(seen: Pixels, ground: Pixels) -> NDArray[np.float64] | None:
    """Return the flat colours that differ from the ground and from each other; stripes may be thin."""
    pixels = seen.astype(np.int16)
    inner = pixels[1:-1, 1:-1]
    around = (pixels[:-2, 1:-1], pixels[2:, 1:-1], pixels[1:-1, :-2], pixels[1:-1, 2:])
    over, under, before, behind = (np.abs(inner - each).max(axis=2) <= FLAT for each in around)
    calm = (over & under) | (before & behind)
    calm &= np.abs(inner - ground[1:-1, 1:-1]).max(axis=2) > APART
    left = inner[calm].astype(np.float64)
    total = len(left)
    paper = np.median(ground.reshape(-1, 3), axis=0)
    found: list[NDArray[np.float64]] = []
    while len(left) >= max(4, 0.05 * total) and len(found) <= MOST_COLOURS:
        bins = (left // 16).astype(np.int64) @ np.array([4096, 64, 1])
        values, counts = np.unique(bins, return_counts=True)
        colour = np.median(left[bins == values[counts.argmax()]], axis=0)
        near = np.abs(left - colour).max(axis=1) <= APART
        if not _is_mixture(colour, [paper, *found]):
            if int(near.sum()) < max(4, 0.05 * total):
                break
            found.append(np.median(left[near], axis=0))
        left = left[~near]
    return np.stack(found) if 2 <= len(found) <= MOST_COLOURS and len(left) <= 0.1 * total else None


def _is_mixture(colour: NDArray[np.float64], known: list[NDArray[np.float64]]) -> bool:
    """Whether a colour lies between two others, as at a smooth edge."""
    for at, one in enumerate(known):
        for two in known[at + 1 :]:
            along = two - one
            part = float((colour - one) @ along) / max(float(along @ along), 1.0)
            if 0.05 < part < 0.95 and float(np.abs(colour - one - part * along).max()) <= 14:
                return True
    return False


def _mix_parts(seen: Pixels, palette: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Return the part of each pixel that each colour has; None if many are not mixtures of two."""
    pixels = seen.astype(np.float64)
    best = np.full(pixels.shape[:2], np.inf)
    parts = np.zeros((len(palette), *pixels.shape[:2]), np.float32)
    for one in range(len(palette)):
        for two in range(one + 1, len(palette)):
            along = palette[two] - palette[one]
            share = np.clip((pixels - palette[one]) @ along / max(float(along @ along), 1.0), 0, 1)
            off = np.abs(pixels - palette[one] - share[:, :, None] * along).max(axis=2)
            better = off < best - 2
            best = np.where(better, off, best)
            parts[:, better] = 0
            parts[one][better] = 1 - share[better]
            parts[two][better] = share[better]
    return parts if float((best > MIXED).mean()) <= 0.03 else None


def _trace_path(cover: Cover, ratio: int) -> str:
    """Return the data of the path around what is covered; nothing if it would not look like it."""
    outlines = [fit_outline(outline, TOLERANCE) for outline in trace_outlines(cover, 4 if ratio == 1 else 2)]
    outlines = [segments for segments in outlines if len(segments) >= 2]
    if not outlines or sum(map(len, outlines)) > MOST_SEGMENTS or _part_wrong(cover, outlines) > MOST_WRONG:
        return ""
    return path_data(outlines, 1 / ratio)


def _part_wrong(cover: Cover, outlines: list[list[Segment]]) -> float:
    """Return the part of the ink by which the drawn path differs."""
    height, width = cover.shape
    whole = Image.new("1", (width * FINE, height * FINE))
    for segments in outlines:
        part = Image.new("1", whole.size)
        points = [(x * FINE - 0.5, y * FINE - 0.5) for x, y in flatten_outline(segments)]
        ImageDraw.Draw(part).polygon(points, fill=1)
        whole = ImageChops.logical_xor(whole, part)
    drawn = np.asarray(whole, np.float32).reshape(height, FINE, width, FINE).mean(axis=(1, 3))
    return float(np.abs(drawn - cover).sum() / max(float(cover.sum()), LEVEL))
