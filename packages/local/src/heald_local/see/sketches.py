"""Turns the strokes of a hand-drawn page into tidy elements.

A frame becomes a box with straight sides, a frame with a cross in it the place of a picture, a circle a disc, a long
stroke a rule, a short one a line of text that is not written out. The rest is read; a bar stands for what cannot be.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from heald_local.see.ink import Ink
from heald_local.see.ocr import OcrResult, crop_margin, read_lines
from heald_local.see.paper import Sheet, grow_mask
from heald_local.see.paragraphs import group_paragraphs
from heald_local.see.pixel_units import LIGHTEST
from heald_local.see.sketch_boxes import make_boxes
from heald_local.see.sketch_lines import ink_rects, join_words, write_lines
from heald_local.see.sketch_shapes import Shapes
from heald_local.see.sketch_view import GRID, SketchView
from heald_local.see.styled_lines import insert_spaces
from heald_local.see.text_places import find_text
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels

Report = Callable[[Literal["regions", "finding text", "reading"], float], None]  # the stage, and the part that is done
WIDE, NARROW = 1280, 390  # CSS pixels of a page, and of one for a phone
PHONE = 0.62  # a sketch that is narrower than this part of its height is of a phone
WHOLE_PAGE = 0.96  # a frame of this part of the page is the page
LEAST_HIGH = 64  # CSS pixels of a page
STROKE_ROOM = 2  # pixels around a stroke that are its edge
PAGE_MARGIN = 0.03  # around what is drawn without a frame, in parts of its width
PAGE_FRAME = 0.72  # the part of all strokes' area from which on a frame is that of the page
WHITE, BLACK = np.full(3, float(LIGHTEST)), np.zeros(3)
LEAST_SURE = 0.55  # of handwriting that is read; a bar stands for the rest


def read_sketch(sheet: Sheet, shapes: Shapes, report: Report) -> Detection:
    """Detect the elements of a sketch, on a page of the usual width."""
    assert sheet.strokes is not None
    report("regions", 1.0)
    page = _page_rect(shapes, sheet.strokes)
    frames = [frame for frame in shapes.frames if frame.area < WHOLE_PAGE * page.area]
    clean = np.where(grow_mask(shapes.rest, STROKE_ROOM)[:, :, None], sheet.pixels, np.uint8(LIGHTEST))
    places = find_text(clean, shapes.rest, lambda part: report("finding text", part)).lines
    inks = join_words([part for place in places for part in ink_rects(shapes.rest, place)])
    readings = read_lines([_crop(clean, rect) for rect in inks], lambda part, _: report("reading", part))
    width = NARROW if page.w < PHONE * page.h else WIDE
    view = SketchView(page, width / page.w)
    read = [(rect, reading) for rect, reading in zip(inks, readings, strict=True) if _is_read(reading)]
    unread = [rect for rect, reading in zip(inks, readings, strict=True) if not _is_read(reading)]
    height = max(round(page.h * view.scale / GRID) * GRID, LEAST_HIGH)
    boxes = make_boxes(view, replace(shapes, frames=frames), unread)
    written = [(view.place(rect), _words(shapes.rest, rect, reading), reading.sure) for rect, reading in read]
    lines = write_lines(written, boxes)
    notes = ["The picture is a sketch: crooked lines were straightened, and colours and typefaces are not those of it."]
    if sheet.turned:
        notes.append("It was photographed from the side and is shown as if from the front.")
    if unread:
        many = "1 line" if len(unread) == 1 else f"{len(unread)} lines"
        notes.append(f"Bars stand for {many} of handwriting that could not be read.")
    texts = tuple(group_paragraphs(lines))
    return Detection(width, height, 1, True, "#ffffff", tuple(boxes), texts, (), tuple(notes), drawn=True)


def _page_rect(shapes: Shapes, strokes: Mask) -> Rect:
    """Return the frame around everything, or what is drawn with a margin."""
    rows, columns = np.flatnonzero(strokes.any(axis=1)), np.flatnonzero(strokes.any(axis=0))
    whole = spanning((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))
    largest = max(shapes.frames, key=lambda frame: frame.area, default=None)
    if largest is not None and largest.area >= PAGE_FRAME * whole.area and largest not in shapes.crossed:
        return largest
    return whole.grown(PAGE_MARGIN * whole.w)


def _crop(clean: Pixels, rect: Rect) -> Pixels:
    part = rect.grown(crop_margin(rect)).within(clean.shape[1], clean.shape[0])
    return clean[int(part.y) : round(part.bottom), int(part.x) : round(part.right)]


def _words(rest: Mask, rect: Rect, reading: OcrResult) -> str:
    """Return the text of a line, with spaces where there are gaps."""
    cover = rest[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.float32)
    return " ".join(insert_spaces(Ink(rect, cover, WHITE, BLACK), reading).text.split())


def _is_read(reading: OcrResult) -> bool:
    return reading.sure >= LEAST_SURE and any(letter.isalnum() for letter in reading.text)
