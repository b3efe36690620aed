"""Turns the strokes of a hand-drawn page into tidy elements.

A frame becomes a box with straight sides, a frame with a cross in it the place of a picture, a circle a disc, a long
stroke a rule, a short one a line of text that is not written out. The rest is read; a bar stands for what cannot be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from weft.vision.elements import Border, Box, Detection, Rect, TextLine, TextStyle, hull, spanning
from weft.vision.see.fonts import face
from weft.vision.see.ink import Ink
from weft.vision.see.ocr import OcrResult, crop_margin, find_text, read_lines
from weft.vision.see.paper import Sheet, fit_line, grow_mask
from weft.vision.see.regions import Mask, Pixels, Regions, label_islands
from weft.vision.see.text import group_paragraphs, insert_spaces

Report = Callable[[Literal["regions", "finding text", "reading"], float], None]  # the stage, and the part that is done

WIDE, NARROW = 1280, 390  # CSS pixels of a page, and of one for a phone
PHONE = 0.62  # a sketch that is narrower than this part of its height is of a phone
INK, LINE, GROUND, BAR = "#1f2937", "#9ca3af", "#e5e7eb", "#d1d5db"
LEAST_SHAPES, LEAST_BEND = 3, 0.45  # of a sketch: shapes, and pixels that the middle one strays from straight lines
LEAST_FRAME = 30  # pixels of the shorter side of a frame
SIDE = 0.68  # the part of each side of a frame that is drawn
BENT = 0.13  # how far a side strays, in parts of the shorter side of its frame
THICK = 12  # pixels of the thickest line
LEAST_UPRIGHT = 110  # pixels of an upright stroke: shorter ones are letters
SMALL_FRAME, SMALL_SIDE, MOST_INSIDE = 60, 0.85, 0.25
"""A frame with a shorter side below the first may be letters: its sides must be drawn nearly whole, and little else."""
DIAGONAL = 0.65  # the part of both diagonals of a cross that is drawn
ROUND = 0.13  # how far the line of a disc strays from a circle, in parts of its radius
PAGE_FRAME = 0.72  # the part of all strokes' area from which on a frame is that of the page
GRID = 4  # CSS pixels
SAME = 0.014  # edges that are nearer than this part of the page's width are meant to be one
LEAST_SURE = 0.55
WORD_GAP = 0.75  # the widest gap between words, in parts of the height of a line
SIZES = (13, 14, 16, 18, 20, 24, 28, 32, 40, 48, 56, 64)
HAND = 0.72  # handwriting is larger than the text that it stands for
BOLD = 32  # pixels of the smallest heading
EDGE = 22.0  # CSS pixels by which lines that begin at one edge may differ


@dataclass(frozen=True, slots=True)
class Shapes:
    """The recognised shapes: frames, crosses in them, discs, long strokes; and the strokes that are left."""

    frames: list[Rect]
    crossed: list[Rect]
    discs: list[Rect]
    strokes: list[Rect]
    rest: Mask


def find_drawn_shapes(strokes: Mask) -> Shapes | None:
    """Return the shapes of a sketch; None if there are few, or if they are too straight to be drawn by hand."""
    shapes = _find_shapes(strokes)
    bent = [_bend(strokes, rect) for rect in (*shapes.frames, *shapes.strokes, *shapes.discs)]
    return shapes if len(bent) >= LEAST_SHAPES and float(np.median(bent)) >= LEAST_BEND else None


def read_sketch(sheet: Sheet, shapes: Shapes, report: Report) -> Detection:
    """Detect the elements of a sketch, on a page of the usual width."""
    assert sheet.strokes is not None
    report("regions", 1.0)
    page = _page_rect(shapes, sheet.strokes)
    frames = [frame for frame in shapes.frames if frame.area < 0.96 * page.area]
    clean = np.where(grow_mask(shapes.rest, 2)[:, :, None], sheet.pixels, np.uint8(255))
    places = find_text(clean, shapes.rest, lambda part: report("finding text", part)).lines
    inks = _join_words([part for place in places for part in _ink_rects(shapes.rest, place)])
    readings = read_lines([_crop(clean, rect) for rect in inks], lambda part, _: report("reading", part))
    width = NARROW if page.w < PHONE * page.h else WIDE
    view = _View(page, width / page.w)
    read = [(rect, reading) for rect, reading in zip(inks, readings, strict=True) if _is_read(reading)]
    unread = [rect for rect, reading in zip(inks, readings, strict=True) if not _is_read(reading)]
    height = max(round(page.h * view.scale / GRID) * GRID, 64)
    boxes = _boxes(view, replace(shapes, frames=frames), unread)
    written = [(view.place(rect), _words(shapes.rest, rect, found), found.sure) for rect, found in read]
    lines = _write_lines(written, boxes)
    notes = ["The picture is a sketch: crooked lines were straightened, and colours and typefaces are not those of it."]
    if sheet.turned:
        notes.append("It was photographed from the side and is shown as if from the front.")
    if unread:
        many = "1 line" if len(unread) == 1 else f"{len(unread)} lines"
        notes.append(f"Bars stand for {many} of handwriting that could not be read.")
    texts = tuple(group_paragraphs(lines))
    return Detection(width, height, 1, True, "#ffffff", tuple(boxes), texts, (), tuple(notes), drawn=True)


@dataclass(frozen=True, slots=True)
class _View:
    """The part of the sheet that is the page, and the CSS pixels for each of its pixels."""

    page: Rect
    scale: float

    def place(self, rect: Rect) -> Rect:
        by = self.scale
        return Rect((rect.x - self.page.x) * by, (rect.y - self.page.y) * by, rect.w * by, rect.h * by)


def _find_shapes(strokes: Mask) -> Shapes:
    """Recognise the outermost shapes, remove their lines, and go on with what is in them."""
    found = Shapes([], [], [], [], strokes.copy())
    for _ in range(6):
        marks = label_islands(grow_mask(found.rest, 2))
        numbers = [number for number in range(1, len(marks.area)) if _recognise(found, marks, number)]
        if not numbers:
            break
    return found


def _bend(strokes: Mask, rect: Rect) -> float:
    """Return how far the upper or left line of a shape strays from a straight one, in pixels."""
    part = strokes[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)]
    if rect.h > rect.w:
        part = part.T
    reach = len(part) if len(part) < LEAST_FRAME else _reach(rect.h, rect.w)
    band = part[:reach]
    count = band.sum(axis=0)
    columns = np.flatnonzero(count)
    columns = columns[(columns > reach) & (columns < part.shape[1] - reach)]
    if len(columns) < 16:
        return 0.0
    middle = (band * np.arange(reach)[:, None]).sum(axis=0)[columns] / count[columns]
    slope, offset = fit_line(columns.astype(np.float64), middle)
    off = np.asarray(middle - slope * columns - offset, np.float64)
    return float(np.sqrt(np.mean(off * off)))


def _recognise(found: Shapes, marks: Regions, number: int) -> bool:
    """Recognise one connected drawing; whether it was a shape, whose lines are then removed."""
    left, top, right, bottom = (int(edge) for edge in marks.edges[number])
    rect = spanning((left, top, right, bottom))
    drawn = marks.mask(number) & found.rest[top:bottom, left:right]
    if not drawn.any():
        return False
    if _is_stroke(drawn):
        found.strokes.append(rect)
    elif min(rect.w, rect.h) < LEAST_FRAME:
        return False
    elif _is_disc(drawn):
        found.discs.append(rect)
    elif _is_frame(drawn):
        found.frames.append(rect)
        if min(rect.w, rect.h) >= 2 * LEAST_FRAME and _is_crossed(drawn):
            found.crossed.append(rect)
        else:
            ring = drawn & _ring(drawn.shape, round(1.5 * _reach(rect.h, rect.w)))
            found.rest[top:bottom, left:right] &= ~ring
            return True
    else:
        return False
    found.rest[top:bottom, left:right] &= ~drawn
    return True


def _is_stroke(drawn: Mask) -> bool:
    """Whether a drawing is one long line: thin everywhere, and without gaps."""
    lengthwise = drawn if drawn.shape[1] >= drawn.shape[0] else drawn.T
    short, long = lengthwise.shape
    least = 48 if lengthwise is drawn else LEAST_UPRIGHT
    if long < least or short > max(20, 0.06 * long):
        return False
    filled = lengthwise.any(axis=0)
    spread = short - lengthwise.argmax(axis=0) - lengthwise[::-1].argmax(axis=0)
    return float(filled.mean()) > 0.9 and float((spread[filled] <= THICK).mean()) > 0.9


def _reach(height: float, width: float) -> int:
    """Return how far the sides of a frame may stray inward."""
    short = min(height, width)
    return max(int(min(max(BENT * short, 14), 0.22 * short, 28)), 2)


def _is_frame(drawn: Mask) -> bool:
    """Whether each side is drawn, though not straight."""
    height, width = drawn.shape
    reach = _reach(height, width)
    sides = (
        drawn[:reach, reach:-reach].any(axis=0),
        drawn[-reach:, reach:-reach].any(axis=0),
        drawn[reach:-reach, :reach].any(axis=1),
        drawn[reach:-reach, -reach:].any(axis=1),
    )
    small = min(height, width) < SMALL_FRAME
    if small and drawn[reach:-reach, reach:-reach].sum() > MOST_INSIDE * drawn.sum():
        return False
    return all(side.size > 0 and float(side.mean()) >= (SMALL_SIDE if small else SIDE) for side in sides)


def _ring(shape: tuple[int, ...], by: int) -> Mask:
    ring = np.ones(shape[:2], np.bool_)
    ring[by:-by, by:-by] = False
    return ring


def _is_crossed(drawn: Mask) -> bool:
    """Whether both diagonals are drawn."""
    height, width = drawn.shape
    by = max(round(0.04 * min(height, width)), 2)

    def is_drawn(column: int, row: int) -> bool:
        return bool(drawn[max(row - by, 0) : row + by + 1, max(column - by, 0) : column + by + 1].any())

    along = [0.12 + 0.76 * step / 59 for step in range(60)]
    falling = sum(is_drawn(int(part * width), int(part * height)) for part in along) / len(along)
    rising = sum(is_drawn(int(part * width), int((1 - part) * height)) for part in along) / len(along)
    return min(falling, rising) >= DIAGONAL


def _is_disc(drawn: Mask) -> bool:
    height, width = drawn.shape
    if not 0.75 < width / height < 1.33:
        return False
    rows, columns = np.nonzero(drawn)
    away = np.hypot((columns + 0.5) / width - 0.5, (rows + 0.5) / height - 0.5) * 2
    angles = np.arctan2(rows + 0.5 - height / 2, columns + 0.5 - width / 2)
    around = np.unique(((angles + np.pi) / (2 * np.pi) * 24).astype(np.intp) % 24)
    outer = np.abs(away - 0.95) < ROUND
    return float(outer.mean()) > 0.8 and len(around) >= 21


def _page_rect(shapes: Shapes, strokes: Mask) -> Rect:
    """Return the frame around everything, or what is drawn with a margin."""
    rows, columns = np.flatnonzero(strokes.any(axis=1)), np.flatnonzero(strokes.any(axis=0))
    whole = spanning((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))
    largest = max(shapes.frames, key=lambda frame: frame.area, default=None)
    if largest is not None and largest.area >= PAGE_FRAME * whole.area and largest not in shapes.crossed:
        return largest
    return whole.grown(0.03 * whole.w)


def _ink_rects(rest: Mask, place: Rect) -> list[Rect]:
    """Return what is drawn at a place, parted at gaps that are wider than between words."""
    part = place.grown(4).within(rest.shape[1], rest.shape[0])
    left, top = int(part.x), int(part.y)
    drawn = rest[top : int(part.bottom), left : int(part.right)]
    columns = np.flatnonzero(drawn.any(axis=0))
    rows = np.flatnonzero(drawn.any(axis=1))
    if len(rows) < 4 or len(columns) < 4:
        return []
    wide = np.flatnonzero(np.diff(columns) > WORD_GAP * (rows[-1] - rows[0] + 1)) + 1
    found: list[Rect] = []
    for group in np.split(columns, wide):
        near, far = int(group[0]), int(group[-1]) + 1
        own = np.flatnonzero(drawn[:, near:far].any(axis=1))
        found.append(spanning((left + near, top + int(own[0]), left + far, top + int(own[-1]) + 1)))
    return [rect for rect in found if min(rect.w, rect.h) >= 4]


def _join_words(rects: Sequence[Rect]) -> list[Rect]:
    """Join the words of a line: handwriting has wide gaps."""
    lines: list[Rect] = []
    for rect in sorted(rects, key=lambda each: each.x):
        near = next((number for number, line in enumerate(lines) if _continues(line, rect)), None)
        if near is None:
            lines.append(rect)
        else:
            lines[near] = hull((lines[near], rect))
    return lines


def _continues(line: Rect, rect: Rect) -> bool:
    level = min(line.bottom, rect.bottom) - max(line.y, rect.y)
    return level > 0.5 * min(line.h, rect.h) and rect.x - line.right < WORD_GAP * min(line.h, rect.h)


def _crop(clean: Pixels, rect: Rect) -> Pixels:
    part = rect.grown(crop_margin(rect)).within(clean.shape[1], clean.shape[0])
    return clean[int(part.y) : round(part.bottom), int(part.x) : round(part.right)]


def _words(rest: Mask, rect: Rect, reading: OcrResult) -> str:
    """Return the text of a line, with spaces where there are gaps."""
    cover = rest[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)].astype(np.float32)
    return " ".join(insert_spaces(Ink(rect, cover, np.full(3, 255.0), np.zeros(3)), reading).split())


def _is_read(reading: OcrResult) -> bool:
    return reading.sure >= LEAST_SURE and any(letter.isalnum() for letter in reading.text)


def _boxes(view: _View, shapes: Shapes, unread: Sequence[Rect]) -> list[Box]:
    """Make tidy boxes: edges that nearly agree are one, and lie on a grid."""
    width, height = view.page.w * view.scale, view.page.h * view.scale
    kinds = [(rect, "frame") for rect in shapes.frames] + [(rect, "disc") for rect in shapes.discs]
    tidy = _snap([view.place(rect) for rect, _ in kinds], SAME * width)
    boxes: list[Box] = []
    for (rect, kind), place in zip(kinds, tidy, strict=True):
        place = place.within(width, height)
        if kind == "disc":
            side = min(place.w, place.h)
            boxes.append(Box(Rect(place.x, place.y, side, side), GROUND, side / 2))
        elif rect in shapes.crossed:
            boxes.append(Box(place, GROUND, 6))
        else:
            boxes.append(Box(place, "#ffffff", 6, Border((1, 1, 1, 1), LINE)))
    for rect in shapes.strokes:
        boxes.append(_stroke_box(view.place(rect), boxes, width, height))
    for rect in unread:
        place = view.place(rect).within(width, height)
        boxes.append(Box(Rect(place.x, place.y + 0.25 * place.h, place.w, max(0.5 * place.h, 6)), BAR, 3))
    return sorted((box for box in boxes if min(box.rect.w, box.rect.h) >= 1), key=lambda box: -box.rect.area)


def _stroke_box(place: Rect, boxes: Sequence[Box], width: float, height: float) -> Box:
    """Return the rule that a stroke is, from side to side; a short one stands for a line of text."""
    around = [box.rect for box in boxes if box.border is not None and box.rect.grown(8).holds(place)]
    room = min(around, key=lambda rect: rect.area, default=Rect(0, 0, width, height))
    if place.w >= place.h:
        middle = round((place.y + place.h / 2) / GRID) * GRID
        if place.w >= 0.85 * room.w:
            return Box(Rect(room.x, middle, room.w, 1), LINE)
        left = _nearest_side(place.x, boxes, _on_grid(place.x))
        return Box(Rect(left, middle - 5, _on_grid(place.w), 10).within(width, height), BAR, 3)
    across = round((place.x + place.w / 2) / GRID) * GRID
    tall = place.h >= 0.85 * room.h
    return Box(Rect(across, room.y if tall else _on_grid(place.y), 1, room.h if tall else _on_grid(place.h)), LINE)


def _nearest_side(left: float, boxes: Sequence[Box], default: float) -> float:
    """Return the left side of the box that something begins with."""
    sides = [box.rect.x for box in boxes if abs(box.rect.x - left) <= EDGE and box.rect.h > 1]
    return min(sides, key=lambda side: abs(side - left), default=default)


def _on_grid(value: float) -> float:
    return float(round(value / GRID) * GRID)


def _snap(rects: Sequence[Rect], slack: float) -> list[Rect]:
    """Move edges that nearly agree to one place, and make boxes beside each other equally large."""
    sides = [_merge([value for rect in rects for value in ends(rect)], slack) for ends in (_across, _down)]
    moved = [
        spanning((sides[0][rect.x], sides[1][rect.y], sides[0][rect.right], sides[1][rect.bottom])) for rect in rects
    ]
    wide, high = (_merge(sizes, 2 * slack) for sizes in ([rect.w for rect in moved], [rect.h for rect in moved]))
    return [Rect(rect.x, rect.y, wide[rect.w], high[rect.h]) for rect in moved]


def _across(rect: Rect) -> tuple[float, float]:
    return rect.x, rect.right


def _down(rect: Rect) -> tuple[float, float]:
    return rect.y, rect.bottom


def _merge(values: Sequence[float], slack: float) -> dict[float, float]:
    """Map values that are near each other to their mean, on the grid."""
    merged: dict[float, float] = {}
    group: list[float] = []
    for value in [*sorted(set(values)), float("inf")]:
        if group and value - group[0] > slack:
            merged.update(dict.fromkeys(group, _on_grid(sum(group) / len(group))))
            group = []
        group.append(value)
    return merged


def _holder(place: Rect, boxes: Sequence[Box]) -> Rect | None:
    """Return the frame that holds nothing but this text, such as a button."""
    around = [box.rect for box in boxes if box.border is not None and box.rect.grown(2).holds(place)]
    room = min(around, key=lambda rect: rect.area, default=None)
    return room if room is not None and room.h < 4 * place.h and room.w < 4 * place.w else None


def _write_lines(read: Sequence[tuple[Rect, str, float]], boxes: Sequence[Box]) -> list[TextLine]:
    """Write lines in usual sizes: those beside each other alike, and those below each other from one edge on."""
    sizes = [_hand_size(place, text) for place, text, _ in read]
    edges = _merge([place.x for place, _, _ in read], EDGE)
    lines: list[TextLine] = []
    for number, (place, text, sure) in enumerate(read):
        middle = place.y + place.h / 2
        beside = [other for other, (rect, _, _) in enumerate(read) if rect.y < middle < rect.bottom]
        alike = [other for other in beside if 0.7 < sizes[other] / sizes[number] < 1.43]
        level = float(np.median([read[other][0].y + read[other][0].h / 2 for other in alike]))
        wanted = float(np.median([sizes[other] for other in alike]))
        holder = _holder(place, boxes)
        start = Rect(_nearest_side(place.x, boxes, edges[place.x]), level, 0, 0)
        lines.append(_line(text, wanted, start, holder, sure))
    return lines


def _hand_size(place: Rect, text: str) -> float:
    """Return the size of handwriting, by its height and its width."""
    sans = face("sans")
    _, top, _, bottom = sans.ink(text)
    by_height, by_width = place.h / max(bottom - top, 0.4), place.w / max(sans.advance(text), 0.4)
    return (by_height * by_width) ** 0.5


def _line(text: str, wanted: float, start: Rect, holder: Rect | None, sure: float) -> TextLine:
    """Write a line from its left edge on, or in the middle of its frame if it is alone in one."""
    size = float(min(SIZES, key=lambda each: abs(each - wanted * HAND)))
    bold = size >= BOLD
    used = face("sans", bold)
    width = used.advance(text) * size
    ascent, descent = round(used.ascent * size), round(used.descent * size)
    if holder is None:
        left, top = start.x, _on_grid(start.y - (ascent + descent) / 2)
    else:
        left = round(holder.x + (holder.w - width) / 2)
        top = round(holder.y + (holder.h - ascent - descent) / 2)
    style = TextStyle("sans", size, 700 if bold else 400, False, INK)
    box = Rect(max(left, 0), max(top, 0), width, ascent + descent)
    return TextLine(text, box.grown(-1), box, style, box.y + ascent, sure)
