"""Traces icons of one to three flat colours, and rows of marks, to SVG paths."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw

from heald_local.see.colour_layers import APART, Cover, Layer, single_layer, split_colours
from heald_local.see.curves import Segment, fit_outline, flatten_outline
from heald_local.see.icon_pictures import HasRoom, draw_picture
from heald_local.see.icons import recognise_icon
from heald_local.see.outlines import LEVEL, trace_outlines
from heald_local.see.path_data import format_number, path_data
from heald_local.see.pictures import ICON
from heald_local.see.pixel_units import BLOCK_AXES, PIXEL_MIDDLE
from heald_local.see.row_marks import find_row_marks
from heald_pictures.colours import colour_distance
from heald_pictures.elements import PictureElement, Shape
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

TOLERANCE = 0.12  # pixels that an outline may be off the traced edge
MOST_WRONG = 0.25  # the part of an icon's ink that its path may get wrong
MOST_SEGMENTS = 240  # of all outlines of an icon
LONGEST_ROW, SHORTEST_ROW = 200.0, 3  # pixels of a row of marks, at most, and its width in heights, at least
EVEN_GROUND = 6  # levels by which the ground of an icon may differ
SCRAP_ROOM = 2  # pixels around a small mark that its smooth edge lies on
FINER, FINER_SHARP = 4, 2  # how much larger a picture is traced, and one with several pixels for each CSS pixel
SAME_WIDTH = 2  # pixels by which equal marks differ in width
FINE = 4  # how much larger a path is drawn to compare it
SAME = 0.06  # the mean difference of two marks that are the same


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
    is_icon = picture.kind == "icon" and max(rect.w, rect.h) <= ICON
    is_row = picture.kind in ("unread", "icon") and SHORTEST_ROW * rect.h <= rect.w <= LONGEST_ROW and rect.h <= ICON
    if not is_row and not is_icon:
        return picture
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    seen = fine[top * ratio : bottom * ratio, left * ratio : right * ratio]
    ground = page[top:bottom, left:right].repeat(ratio, axis=0).repeat(ratio, axis=1)
    if seen.shape != ground.shape or not seen.size or int(np.ptp(ground, axis=(0, 1)).max()) > EVEN_GROUND:
        return picture
    marks = find_row_marks(seen, ground) if is_row else []
    if marks:
        row_shapes, colour = _trace_row(seen, ground, marks, ratio)
        name = picture.name.replace("unread", "icon")
        return replace(picture, kind="icon", name=name, shapes=row_shapes, colour=colour) if row_shapes else picture
    if not is_icon:
        return picture
    icon = recognise_icon(seen, ground, ratio)
    if icon is not None:
        return draw_picture(picture, icon, ground, ratio, has_room)
    layers = split_colours(seen, ground)
    shapes = _trace_layers(layers, ratio)
    return replace(picture, shapes=shapes, colour=layers[0][0] if len(layers) == 1 else "") if shapes else picture


def trace_scrap(pixels: Pixels, paper: NDArray[np.float64], rect: Rect) -> Shape | None:
    """Trace a small mark of one colour on plain paper, in place; None if it cannot be traced."""
    around = rect.grown(SCRAP_ROOM).within(pixels.shape[1], pixels.shape[0])
    left, top = int(around.x), int(around.y)
    seen = pixels[top : round(around.bottom), left : round(around.right)]
    layer = single_layer(seen, np.broadcast_to(paper, seen.shape).astype(np.uint8))
    if layer is None:
        return None
    corner = np.array([left, top])
    outlines = [fit_outline(np.add(outline, corner), TOLERANCE) for outline in trace_outlines(layer[1], FINER)]
    data = path_data([segments for segments in outlines if len(segments) >= 2])
    return _path(data, layer[0]) if data else None


def _trace_layers(layers: list[Layer], ratio: int) -> tuple[Shape, ...]:
    """Return a path for each colour; none if one of them cannot be traced."""
    shapes: list[Shape] = []
    for colour, cover in layers:
        data = _trace_path(cover, ratio)
        if not data:
            return ()
        shapes.append(_path(data, colour if len(layers) > 1 else "currentColor"))
    return tuple(shapes)


def _trace_row(seen: Pixels, ground: Pixels, marks: list[tuple[int, int]], ratio: int) -> tuple[tuple[Shape, ...], str]:
    """Return the shapes of a row of marks, and their colour if it is one. Equal marks have the same path."""
    mark_layers = [single_layer(seen[:, start:end], ground[:, start:end]) for start, end in marks]
    layers = [layer for layer in mark_layers if layer is not None]
    if len(layers) != len(marks):
        return (), ""
    common = layers[0][0] if all(_is_near(colour, layers[0][0]) for colour, _ in layers) else ""
    shapes: list[Shape] = []
    paths: list[tuple[Cover, str]] = []
    for (start, _), (colour, cover) in zip(marks, layers, strict=True):
        data = next((data for other, data in paths if _are_same(other, cover)), "") or _trace_path(cover, ratio)
        if not data:
            return (), ""
        paths.append((cover, data))
        path = _path(data, "currentColor" if common else colour)
        move = ("transform", f"translate({format_number(start / ratio)} 0)")
        shapes.append(replace(path, attributes=(*path.attributes, move)))
    return tuple(shapes), common


def _path(data: str, fill: str) -> Shape:
    return Shape("path", (("fill", fill), ("fill-rule", "evenodd"), ("d", data)))


def _are_same(cover: Cover, other: Cover) -> bool:
    wide = min(cover.shape[1], other.shape[1])
    if abs(cover.shape[1] - other.shape[1]) > SAME_WIDTH:
        return False
    return float(np.abs(cover[:, :wide] - other[:, :wide]).mean()) < SAME


def _is_near(colour: str, other: str) -> bool:
    return colour_distance(colour, other) <= APART


def _trace_path(cover: Cover, ratio: int) -> str:
    """Return the data of the path around what is covered; nothing if it would not look like it."""
    fitted = [
        fit_outline(outline, TOLERANCE) for outline in trace_outlines(cover, FINER if ratio == 1 else FINER_SHARP)
    ]
    outlines = [segments for segments in fitted if len(segments) >= 2]
    if not outlines or sum(map(len, outlines)) > MOST_SEGMENTS or _part_wrong(cover, outlines) > MOST_WRONG:
        return ""
    return path_data(outlines, 1 / ratio)


def _part_wrong(cover: Cover, outlines: list[list[Segment]]) -> float:
    """Return the part of the ink by which the drawn path differs."""
    height, width = cover.shape
    whole = Image.new("1", (width * FINE, height * FINE))
    for segments in outlines:
        part = Image.new("1", whole.size)
        points = [(x * FINE - PIXEL_MIDDLE, y * FINE - PIXEL_MIDDLE) for x, y in flatten_outline(segments)]
        ImageDraw.Draw(part).polygon(points, fill=1)
        whole = ImageChops.logical_xor(whole, part)
    drawn = np.asarray(whole, np.float32).reshape(height, FINE, width, FINE).mean(axis=BLOCK_AXES)
    return float(np.abs(drawn - cover).sum() / max(float(cover.sum()), LEVEL))
