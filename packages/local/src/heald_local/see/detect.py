"""Detects boxes, texts and pictures on a screenshot."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from heald_local.see import models
from heald_local.see.charts import redraw_charts
from heald_local.see.code_rows import read_code_rows
from heald_local.see.code_signs import read_code_signs
from heald_local.see.controls import find_controls, place_controls
from heald_local.see.cut_icons import without_marks
from heald_local.see.detection_cache import cache_detection, find_cached
from heald_local.see.face_fits import clear_fits
from heald_local.see.icon_boxes import is_icon_ground, is_icon_outline
from heald_local.see.icon_pictures import find_room
from heald_local.see.initials import read_initials
from heald_local.see.ink_pieces import find_ink
from heald_local.see.letter_tiles import find_letter_tiles, split_at_tiles
from heald_local.see.line_bars import read_bars
from heald_local.see.lone_digits import read_lone_digits
from heald_local.see.memory import release_memory
from heald_local.see.page_ground import PageGround, find_ground
from heald_local.see.page_layers import PageLayers, find_layers
from heald_local.see.page_pictures import cut_pictures
from heald_local.see.page_texts import PageTexts, read_texts
from heald_local.see.painted_page import paint_page
from heald_local.see.paper import Sheet, clean_sheet, find_sheet
from heald_local.see.parts import FoundPart, find_parts
from heald_local.see.photo_grounds import clear_grounds, show_grounds
from heald_local.see.picture_hint import NO_HINT, PictureHint
from heald_local.see.print_lines import is_print
from heald_local.see.rough_elements import find_rough_elements
from heald_local.see.screenshot import Screenshot, as_screenshot, load_screenshot
from heald_local.see.sketch_shapes import find_drawn_shapes
from heald_local.see.sketches import read_sketch
from heald_local.see.symbols import read_symbols
from heald_local.see.text_places import TextPlaces, find_text
from heald_local.see.vectors import trace_icons
from heald_pictures.design_request import PictureKind
from heald_pictures.detector import Progress, Report
from heald_pictures.elements import Box, Detection
from heald_pictures.errors import UnreadablePicture
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels

GLYPH_ROOM = 2  # pixels by which part of a letter may reach over its line
GLYPH_WIDE, GLYPH_HIGH = 0.55, 0.5  # parts of the width and the height of a line below which a box on it is part of one


def detect_elements(data: bytes, report: Report | None = None, hint: PictureHint = NO_HINT) -> Detection:
    """Detect everything on a picture. Raises VisionError if it is not a picture, or too large."""
    report_step: Report = report or (lambda _progress: None)
    # Keys of the file, which is not decoded a second time, and of its pixels.
    keys = [hashlib.sha256(data).digest() + repr(hint).encode()]
    detection = find_cached(keys[0])
    if detection is None:
        shot = load_screenshot(data, hint.scale)
        pixels = hashlib.sha256(np.ascontiguousarray(shot.fine).data)
        keys.append(pixels.digest() + repr((shot.fine.shape, shot.lossy, hint)).encode())
        detection = find_cached(keys[1]) or _detect(shot, report_step, hint.kind)
        clear_fits()
        release_memory()
    cache_detection(keys, detection)
    report_step(Progress("done", 1.0))
    return detection


def _detect(picture: Screenshot, report: Report, kind: PictureKind) -> Detection:
    """Detect the elements of a sketch, of the photograph of a screen, or of a screenshot."""
    sheet = find_sheet(picture.fine) if kind != "page" else None
    if kind == "sketch":
        return _detect_named_sketch(picture, sheet, report)
    if kind != "photo" and (drawing := _detect_sketch(sheet, report)) is not None:
        return drawing
    is_screen = sheet is not None and (sheet.turned or kind == "photo")
    shot = as_screenshot(sheet.pixels) if sheet is not None and is_screen else picture
    ground = find_ground(shot)
    if not kind and sheet is None and not ground.is_exact(shot.pixels):
        drawing = _detect_sketch(clean_sheet(shot.fine), report)
        if drawing is not None:
            return drawing
    height, width = shot.pixels.shape[:2]
    photographed = is_screen or kind == "photo"
    base = Detection(
        width, height, shot.ratio, shot.lossy, ground.background, (), (), (), (), photographed=photographed
    )
    report(Progress("regions", 1.0, find_rough_elements(base, shot.pixels, ground.boxes)))
    if not models.available():
        models.reading_network()  # raises the error that advises how to install the models
    return _detect_page(shot, ground, base, report)


def _detect_named_sketch(picture: Screenshot, sheet: Sheet | None, report: Report) -> Detection:
    """Detect the elements of what the user says is a sketch. Raises VisionError if there are no drawn boxes."""
    for drawn in (sheet, clean_sheet(picture.fine)):
        shapes = find_drawn_shapes(drawn.strokes) if drawn is not None and drawn.strokes is not None else None
        if drawn is not None and shapes is not None:
            return read_sketch(drawn, shapes, lambda stage, part: report(Progress(stage, part)))
    raise UnreadablePicture("No drawn boxes were found on the picture; leave out --as sketch, or draw darker lines.")


def _detect_sketch(sheet: Sheet | None, report: Report) -> Detection | None:
    """Detect the elements of a sheet that was drawn by hand; None for every other one."""
    if sheet is None or sheet.strokes is None or is_print(sheet.strokes):
        return None
    if sheet.marks is not None and is_print(sheet.marks):
        return None
    shapes = find_drawn_shapes(sheet.strokes)
    if shapes is None:
        return None
    return read_sketch(sheet, shapes, lambda stage, part: report(Progress(stage, part)))


def _detect_page(shot: Screenshot, ground: PageGround, base: Detection, report: Report) -> Detection:
    """Read the texts of a page, cut out its pictures, and put controls, icons and charts in their place."""
    detected, parts = _find_text_and_parts(shot.pixels, ground.busy, report)
    tiles = find_letter_tiles(shot.pixels, ground.boxes)
    places = split_at_tiles(without_marks(shot.pixels, detected.lines, parts), tiles)
    boxes = [
        box
        for box in ground.boxes
        if box in tiles or not (_is_glyph(box, places) or is_icon_ground(shot.pixels, box, parts))
    ]
    inks = find_ink(shot.pixels, paint_page(base.width, base.height, base.background, boxes), places, boxes)
    layers = find_layers(shot, ground.background, boxes, inks, ground.grain)
    page_texts = read_texts(shot, layers, inks, places, detected.lines, parts, report)
    report(Progress("pictures", 0.0))
    return _add_pictures(shot, base, layers, page_texts, parts, detected)


def _find_text_and_parts(pixels: Pixels, busy: Mask, report: Report) -> tuple[TextPlaces, list[FoundPart]]:
    """Run both networks that see the whole page at the same time."""
    with ThreadPoolExecutor(1, "heald-parts") as aside:
        seeing = aside.submit(find_parts, pixels, busy)
        places = find_text(pixels, busy, lambda part: report(Progress("finding text", part)))
        parts = seeing.result()
    release_memory()
    return places, parts


def _is_glyph(box: Box, lines: Sequence[Rect]) -> bool:
    """Whether a box is part of a letter."""
    if box.border is not None:
        return False
    rect = box.rect
    return any(
        line.holds(rect, GLYPH_ROOM) and (rect.w < GLYPH_WIDE * line.w or rect.h < GLYPH_HIGH * line.h)
        for line in lines
    )


def _add_pictures(
    shot: Screenshot,
    base: Detection,
    layers: PageLayers,
    page_texts: PageTexts,
    parts: Sequence[FoundPart],
    detected: TextPlaces,
) -> Detection:
    """Return the detection of a page whose texts are read."""
    confirmed = [box for box in layers.boxes if box not in layers.panels or box in page_texts.panels]
    boxes, page = _without_outlines(base, confirmed, layers.page, page_texts)
    grounds, cleared = clear_grounds(shot, layers.photos, page_texts)
    inks = [line.ink.grown(GLYPH_ROOM) for line in page_texts.lines]
    patches = [patch for patch in layers.pictures if not any(ink.holds(patch.rect) for ink in inks)]
    cuts = cut_pictures(cleared, page, boxes, page_texts.texts, patches, page_texts.unread, page_texts.panels)
    all_boxes = [*boxes, *cuts.dashed, *cuts.rules]
    texts, pictures = read_symbols(cleared.pixels, page, page_texts.texts, cuts.pictures)
    texts, pictures = read_initials(cleared.pixels, page, texts, pictures)
    texts, pictures = read_lone_digits(cleared.pixels, page, all_boxes, texts, pictures)
    texts, pictures = read_code_rows(cleared.pixels, page, all_boxes, texts, pictures)
    texts, pictures = read_code_signs(cleared.pixels, page, texts, pictures)
    has_room = find_room(all_boxes, texts, pictures, page)
    icons = trace_icons(pictures, cleared.fine, page, shot.ratio, has_room)
    with_controls = place_controls(*show_grounds(all_boxes, icons, grounds), find_controls(shot.pixels, parts))
    elements = redraw_charts(shot.fine, shot.ratio, base.background, with_controls[0], texts, with_controls[1])
    with_bars = read_bars(shot.pixels, elements.texts, elements.pictures)
    return replace(
        base,
        boxes=tuple(elements.boxes),
        texts=tuple(with_bars.texts),
        pictures=tuple(with_bars.pictures),
        notes=(*cuts.notes, *_notes(shot)),
        text_places=tuple(detected.likely),
    )


def _without_outlines(
    base: Detection, boxes: list[Box], page: Pixels, page_texts: PageTexts
) -> tuple[list[Box], Pixels]:
    """Return the boxes that are not outlines of icons, and the page that is painted without these."""
    inks = [ink.rect for ink in page_texts.inks]
    lines = [line.ink for line in page_texts.lines]
    outlines = [box for box in boxes if is_icon_outline(box, inks, lines)]
    if not outlines:
        return boxes, page
    others = [box for box in boxes if box not in outlines]
    return others, paint_page(base.width, base.height, base.background, others)


def _notes(shot: Screenshot) -> list[str]:
    notes: list[str] = []
    if shot.ratio > 1:
        scale = shot.ratio
        notes.append(f"The screenshot has {scale} pixels for each CSS pixel; the page is {scale} times smaller.")
    if shot.lossy:
        notes.append("The screenshot was compressed with loss; colours and edges are approximate.")
    return notes
