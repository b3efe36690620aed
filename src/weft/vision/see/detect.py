"""Detects boxes, texts and pictures on a screenshot."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from weft.vision.elements import Box, Detection, PictureElement, PictureKind, Rect, TextElement, TextLine, hull
from weft.vision.see import models
from weft.vision.see.boxes import build_boxes, find_flats, is_exact
from weft.vision.see.charts import redraw_charts
from weft.vision.see.dashed_boxes import find_dashed_box
from weft.vision.see.fonts import clear_fits, measure_glyphs
from weft.vision.see.icon_pictures import find_room
from weft.vision.see.ink import Ink, find_ink
from weft.vision.see.ocr import OcrResult, crop_margin, find_text, is_squarish, join_rows, split_marks
from weft.vision.see.paper import Sheet, clean_sheet, find_sheet
from weft.vision.see.parts import (
    find_controls,
    find_cut_icons,
    find_parts,
    is_icon_ground,
    is_icon_outline,
    place_controls,
    without_marks,
)
from weft.vision.see.photographs import find_grain, is_painted
from weft.vision.see.pictures import (
    Patch,
    confirm_panels,
    cut_out,
    faint_edges,
    find_differences,
    find_panels,
    find_patches,
    find_text_on_photos,
    inpaint_panels,
    inpaint_text,
    is_on_panel,
    join_rects,
    mean_colour,
    paint_page,
    picture_kind,
)
from weft.vision.see.regions import Mask, Pixels, dominant_colour, hex_colour, label_colours
from weft.vision.see.rereading import read_across_grounds, read_lone_syllables
from weft.vision.see.rough_elements import DENSE, find_rough_elements
from weft.vision.see.screenshot import Screenshot, as_screenshot, load_screenshot
from weft.vision.see.script_ocr import read_page_lines
from weft.vision.see.seams import is_worth_keeping, mark_corners, mark_rects, mark_shadows
from weft.vision.see.sketches import find_drawn_shapes, read_sketch
from weft.vision.see.text import group_paragraphs, is_certain_text, style_lines
from weft.vision.see.typefaces import unify_typefaces
from weft.vision.see.vectors import trace_icons

Stage = Literal["regions", "finding text", "reading", "typefaces", "pictures", "done"]
CACHED = 6
SMALL = 30
THIN = 3
SPARSE = 0.12  # the same for one that is mostly covered by panels


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage, the part of it that is done, and after the first stage a sketch of the page."""

    stage: Stage
    part: float
    detection: Detection | None = None


Report = Callable[[Progress], None]

_cache_lock = threading.Lock()
_cache: "OrderedDict[bytes, Detection]" = OrderedDict()


def detect_elements(data: bytes, report: Report | None = None) -> Detection:
    """Detect everything on a screenshot. Raises VisionError if it is no picture or too large."""
    report_step: Report = report or (lambda _progress: None)
    keys = [hashlib.sha256(data).digest()]  # of the file, which is not decoded a second time, and of its pixels
    detection = _find_kept(keys[0])
    if detection is None:
        shot = load_screenshot(data)
        pixels = hashlib.sha256(np.ascontiguousarray(shot.fine).data)
        keys.append(pixels.digest() + repr((shot.fine.shape, shot.lossy)).encode())
        detection = _find_kept(keys[1]) or _detect(shot, report_step)
        clear_fits()
        models.release_memory()
    with _cache_lock:
        for key in keys:
            _cache[key] = detection
            _cache.move_to_end(key)
        while len(_cache) > 2 * CACHED:
            _cache.popitem(last=False)
    report_step(Progress("done", 1.0))
    return detection


def _find_kept(key: bytes) -> Detection | None:
    with _cache_lock:
        return _cache.get(key)


def clear_cache() -> None:
    with _cache_lock:
        _cache.clear()


def _detect(shot: Screenshot, report_step: Report) -> Detection:
    sheet = find_sheet(shot.fine)
    if (drawing := _detect_sketch(sheet, report_step)) is not None:
        return drawing
    if sheet is not None and sheet.turned:
        shot = as_screenshot(sheet.pixels)
    pixels = shot.pixels
    height, width = pixels.shape[:2]
    regions = label_colours(pixels, 7 if shot.lossy else 2)
    edges = np.concatenate((pixels[:, :2].reshape(-1, 3), pixels[:, -2:].reshape(-1, 3)))
    background = hex_colour(dominant_colour(edges))
    grain = [] if shot.lossy else find_grain(pixels)
    boxes = build_boxes(pixels, regions, find_flats(pixels, regions), background)
    boxes = [box for box in boxes if not _is_mostly_on(box.rect, grain, 0.9) or is_painted(pixels, box)]
    exact = any(is_exact(box, pixels, background) for box in boxes)
    sheet = clean_sheet(shot.fine) if sheet is None and not exact else None
    if (drawing := _detect_sketch(sheet, report_step)) is not None:
        return drawing
    base = Detection(width, height, shot.ratio, shot.lossy, background, (), (), (), ())
    report_step(Progress("regions", 1.0, find_rough_elements(base, pixels, boxes)))
    if not models.available():
        models.reading_network()
    busy: Mask = (regions.area < 260)[regions.labels]
    with ThreadPoolExecutor(1, "weft-parts") as aside:
        seeing = aside.submit(find_parts, pixels, busy)
        places = find_text(pixels, busy, lambda part: report_step(Progress("finding text", part)))
        parts = seeing.result()
    models.release_memory()
    found = without_marks(places.lines, parts)
    boxes = [box for box in boxes if not _is_glyph(box, found) and not is_icon_ground(pixels, box, parts)]
    page = paint_page(width, height, background, boxes)
    inks = find_ink(pixels, page, found, boxes)
    solid, boxes, page, panels = _explain(shot, background, boxes, inks, grain)
    photos = [patch.rect for patch in solid]
    inks = [ink for ink in inks if is_on_panel(ink.rect, panels) or not _is_mostly_on(ink.rect, photos)]
    free = [rect for rect in found if not _is_mostly_on(rect, [box.rect for box in panels])]
    laid = find_text_on_photos(pixels, free, photos)
    inks += laid
    crops = [_crop(shot, ink.rect) for ink in inks]

    def on_read(part: float, read: Sequence[OcrResult]) -> None:
        report_step(Progress("reading", part))
        measure_glyphs(each.text for each in read)

    readings = read_page_lines(crops, on_read)
    models.release_memory()
    pieces = list(zip(inks, readings, strict=True))
    plain, over_photos = pieces[: len(pieces) - len(laid)], pieces[len(pieces) - len(laid) :]
    plain = read_lone_syllables(
        plain,
        find_cut_icons(places.lines, parts),
        partial(find_ink, pixels, page, boxes=boxes),
        lambda rect: _crop(shot, rect),
    )
    pieces = [*split_marks(pixels, page, plain, boxes), *over_photos]
    styled = style_lines(pieces, lambda part: report_step(Progress("typefaces", part)))
    styled = read_across_grounds(styled, pixels, page, free, lambda rect: _crop(shot, rect))
    over = {ink.rect for ink in laid}
    lines = [line for line in styled.lines if line.ink not in over or is_certain_text(line)]
    held, lines = confirm_panels(panels, lines)
    boxes = [box for box in boxes if box not in panels or box in held]
    texts = group_paragraphs(unify_typefaces(lines))
    report_step(Progress("pictures", 0.0))
    grounds, cleared = _clear_grounds(shot, solid, [line for line in lines if line.ink in over], laid)
    grounds += [photo for photo in photos if any(photo.holds(panel.rect, 1) for panel in held)]
    unread = [ink for ink in styled.unread if ink.rect not in over]
    read = [line.ink for line in lines]
    strokes = [box for box in boxes if is_icon_outline(box, [ink.rect for ink in inks], read)]
    if strokes:
        boxes = [box for box in boxes if box not in strokes]
        page = paint_page(width, height, background, boxes)
    pictures, dashed, notes = _cut_pictures(cleared, page, boxes, texts, solid, unread, held)
    boxes += dashed
    pictures = trace_icons(pictures, cleared.fine, page, shot.ratio, find_room(boxes, texts, pictures, page))
    boxes, pictures = _show_grounds(boxes, pictures, grounds)
    boxes, pictures = place_controls(boxes, pictures, find_controls(pixels, parts))
    explained = redraw_charts(shot.fine, shot.ratio, background, boxes, texts, pictures)
    boxes, texts, pictures = explained.boxes, explained.texts, explained.pictures
    notes += _notes(shot)
    return replace(
        base,
        boxes=tuple(boxes),
        texts=tuple(texts),
        pictures=tuple(pictures),
        notes=tuple(notes),
        text_places=tuple(places.likely),
    )


def _clear_grounds(
    shot: Screenshot, solid: Sequence[Patch], lines: Sequence[TextLine], laid: Sequence[Ink]
) -> tuple[list[Rect], Screenshot]:
    """Return the photographs behind text, and the screenshot without that text."""
    on = [patch.rect for patch in solid if any(patch.rect.holds(line.ink) for line in lines)]
    if not on:
        return [], shot
    return on, replace(shot, fine=inpaint_text(shot.fine, lines, laid, shot.ratio))


def _show_grounds(
    boxes: list[Box], pictures: list[PictureElement], grounds: Sequence[Rect]
) -> tuple[list[Box], list[PictureElement]]:
    """Turn photographs behind text into boxes that show them."""
    kept: list[PictureElement] = []
    for picture in pictures:
        if picture.rect in grounds:
            boxes.append(Box(picture.rect, mean_colour(picture), image=picture.name))
            picture = replace(picture, kind="ground")
        kept.append(picture)
    return sorted(boxes, key=lambda box: -box.rect.area), kept


def _detect_sketch(sheet: Sheet | None, report_step: Report) -> Detection | None:
    """Detect the elements of a sheet that was drawn by hand; None for every other one."""
    if sheet is None or sheet.strokes is None:
        return None
    shapes = find_drawn_shapes(sheet.strokes)
    if shapes is None:
        return None
    return read_sketch(sheet, shapes, lambda stage, part: report_step(Progress(stage, part)))


def _is_glyph(box: Box, lines: Sequence[Rect]) -> bool:
    """Whether a box is part of a letter."""
    if box.border is not None:
        return False
    rect = box.rect
    return any(line.holds(rect, 2) and (rect.w < 0.55 * line.w or rect.h < 0.5 * line.h) for line in lines)


def _is_mostly_on(rect: Rect, others: Sequence[Rect], share: float = 0.5) -> bool:
    return any(other.common(rect) > share * rect.area for other in others)


def _crop(shot: Screenshot, rect: Rect) -> Pixels:
    margin = crop_margin(rect)
    height, width = shot.pixels.shape[:2]
    part = rect.grown(margin).within(width, height)
    ratio = shot.ratio
    top, bottom = int(part.y) * ratio, round(part.bottom) * ratio
    left, right = int(part.x) * ratio, round(part.right) * ratio
    return shot.fine[top:bottom, left:right]


def _explain(
    shot: Screenshot, background: str, boxes: list[Box], inks: Sequence[Ink], grain: Sequence[Rect]
) -> tuple[list[Patch], list[Box], Pixels, list[Box]]:
    """Find pictures, which are those with grain and others, and panels.

    Returns the clear pictures, the boxes outside of them, the page painted from these boxes, and the panels.
    """
    height, width = shot.pixels.shape[:2]
    small = [box for box in boxes if _is_small(box, inks)]
    large = [box for box in boxes if box not in small]
    page = paint_page(width, height, background, large)
    differs = find_differences(shot.pixels, page, 30 if shot.lossy else 14)
    differs &= ~mark_rects((height, width), [ink.rect for ink in inks], 2)
    solid: list[Patch] = []
    kept: list[Box] = []
    for patch in find_patches(differs):
        if any(rect.holds(patch.rect, 1) for rect in grain):
            continue
        inside = [box for box in small if patch.rect.grown(1).holds(box.rect)]
        if len(inside) == 1 and inside[0].rect.area >= 0.8 * patch.rect.area:
            kept.append(inside[0])
            continue
        if min(patch.rect.w, patch.rect.h) < 12:
            continue
        if patch.density >= DENSE or (patch.density >= SPARSE and _is_around_panels(patch, shot, page, large, inks)):
            solid.append(patch)
    whole = [*grain, *(box.rect for box in _find_drawings(large, differs, inks))]
    solid += [Patch(rect, 1.0, int(rect.area)) for rect in whole]
    wider = [(patch.rect.area, patch.rect.grown(1)) for patch in solid]
    solid = [each for each in solid if not any(size > each.rect.area and rect.holds(each.rect) for size, rect in wider)]
    solid, large = _absorb_boxes(solid, large, inks)
    photos = [patch.rect for patch in solid if patch.rect.area >= 900]
    panels = [panel for photo in photos for panel in find_panels(shot.pixels, page, photo, large, inks, shot.lossy)]
    places = {panel.rect for panel in panels}
    large = [box for box in large if box.rect not in places]
    around = [photo.grown(1) for photo in photos]
    large = [box for box in large if is_on_panel(box.rect, panels) or not any(each.holds(box.rect) for each in around)]
    boxes = sorted([*large, *kept, *panels], key=lambda box: -box.rect.area)
    return solid, boxes, paint_page(width, height, background, boxes), panels


def _is_around_panels(patch: Patch, shot: Screenshot, page: Pixels, boxes: Sequence[Box], inks: Sequence[Ink]) -> bool:
    """Whether a patch is a picture, apart from the panels on it."""
    panels = find_panels(shot.pixels, page, patch.rect, boxes, inks, shot.lossy)
    covered = sum(panel.rect.common(patch.rect) for panel in panels)
    return patch.count >= 2 * DENSE * max(patch.rect.area - covered, 1)


def _find_drawings(boxes: Sequence[Box], differs: Mask, inks: Sequence[Ink]) -> list[Box]:
    """Find boxes that are the background of a drawing: without text, and with much that no box explains."""
    found: list[Box] = []
    for box in boxes:
        rect = box.rect
        if rect.area < 8000 or min(rect.w, rect.h) < 48 or rect.area > 0.5 * differs.size or box.border is not None:
            continue
        if any(rect.holds(ink.rect) for ink in inks):
            continue
        inner = rect.grown(-3)
        part = differs[int(inner.y) : int(inner.bottom), int(inner.x) : int(inner.right)]
        inside = sum(other.rect.area for other in boxes if other is not box and rect.holds(other.rect))
        share = float(part.mean())
        if share > 0.12 or (share > 0.03 and (box.gradient is not None or inside > 0.1 * rect.area)):
            found.append(box)
    return found


def _absorb_boxes(solid: list[Patch], boxes: list[Box], inks: Sequence[Ink]) -> tuple[list[Patch], list[Box]]:
    """Merge plain boxes that lie partly on a picture into it; lines are edges and stay."""
    kept: list[Box] = []
    for box in boxes:
        rect = box.rect
        if min(rect.w, rect.h) <= THIN:
            kept.append(box)
            continue
        reaches = [
            number
            for number, patch in enumerate(solid)
            if patch.rect.common(rect) > 0.15 * rect.area and patch.rect.area > 900 and not rect.holds(patch.rect, 2)
        ]
        if not reaches or any(rect.holds(ink.rect) for ink in inks):
            kept.append(box)
            continue
        around = hull((solid[reaches[0]].rect, rect))
        solid[reaches[0]] = Patch(around, 1.0, int(around.area))
    return solid, kept


def _is_small(box: Box, inks: Sequence[Ink]) -> bool:
    """Whether a box is small, plain and empty: perhaps a dot or part of an icon."""
    if max(box.rect.w, box.rect.h) > SMALL or box.border is not None:
        return False
    return not any(box.rect.grown(1).holds(ink.rect) for ink in inks)


def _cut_pictures(
    shot: Screenshot,
    page: Pixels,
    boxes: Sequence[Box],
    texts: Sequence[TextElement],
    solid: Sequence[Patch],
    unread: Sequence[Ink],
    panels: Sequence[Box],
) -> tuple[list[PictureElement], list[Box], list[str]]:
    """Cut out what no box and no text explains; dashed borders are boxes."""
    size = height, width = shot.pixels.shape[:2]
    differs = find_differences(shot.pixels, page, 30 if shot.lossy else 14)
    lines = [line.ink for text in texts for line in text.lines]
    differs &= ~mark_rects(size, lines, 2.5)
    differs &= ~mark_shadows(size, boxes)
    differs &= ~mark_corners(shot.pixels, page, boxes)
    taken = [patch.rect for patch in solid]
    foreign = [
        ink.rect for ink in unread if is_on_panel(ink.rect, panels) or not any(rect.common(ink.rect) for rect in taken)
    ]
    foreign = [rect for rect in foreign if not any(line.common(rect) > 0.5 * rect.area for line in lines)]
    if not shot.lossy:
        foreign = [faint_edges(shot.pixels, page, rect, boxes) for rect in foreign]
    foreign = join_rows(foreign)
    differs &= ~mark_rects(size, taken, 2) | mark_rects(size, [panel.rect for panel in panels], -3)
    differs &= ~mark_rects(size, foreign, 2)
    patches = find_patches(differs)
    dashed = [box for each in patches if (box := find_dashed_box(shot.pixels, page, differs, each.rect)) is not None]
    if dashed:
        rects = [box.rect for box in dashed]
        differs &= ~mark_rects(size, rects, 1) | mark_rects(size, rects, -4)
        patches = find_patches(differs)
    loose = [patch.rect for patch in patches if is_worth_keeping(patch, boxes)]
    loose = [faint_edges(shot.pixels, page, rect, boxes) for rect in loose] if not shot.lossy else loose
    marked = [rect for rect in loose if is_on_panel(rect, panels)]
    whole = [*join_rects([*taken, *(rect for rect in loose if rect not in marked)], 0), *marked]
    places: list[tuple[Rect, PictureKind]] = [(rect, picture_kind(rect)) for rect in whole]
    marks = [rect for rect in foreign if is_squarish(rect) or rect.h < 6]
    foreign = [rect for rect in foreign if rect not in marks]
    places.extend((rect.grown(2).within(width, height), "icon") for rect in marks)
    places.extend((rect.grown(2).within(width, height), "unread") for rect in foreign)
    places.sort(key=lambda place: (place[0].y, place[0].x))
    made = [cut_out(shot.fine, shot.ratio, rect, kind, number + 1) for number, (rect, kind) in enumerate(places)]
    made = [inpaint_panels(picture, panels) if not is_on_panel(picture.rect, panels) else picture for picture in made]
    notes: list[str] = []
    if foreign:
        lines_are = "1 line of text" if len(foreign) == 1 else f"{len(foreign)} lines of text"
        notes.append(f"Kept as pictures, because not read for certain: {lines_are}.")
    return made, dashed, notes


def _notes(shot: Screenshot) -> list[str]:
    notes: list[str] = []
    if shot.ratio > 1:
        scale = shot.ratio
        notes.append(f"The screenshot has {scale} pixels for each CSS pixel; the page is {scale} times smaller.")
    if shot.lossy:
        notes.append("The screenshot was compressed with loss; colours and edges are approximate.")
    return notes
