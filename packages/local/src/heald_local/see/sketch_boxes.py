"""Turns the shapes of a sketch into tidy boxes."""

from collections.abc import Sequence

from heald_local.see.sketch_shapes import Shapes
from heald_local.see.sketch_view import GRID, SketchView, merge_near, nearest_side, on_grid
from heald_pictures.elements import Border, Box
from heald_pictures.rect import Rect, spanning

INK, LINE, GROUND, BAR = "#1f2937", "#9ca3af", "#e5e7eb", "#d1d5db"
FRAME_RADIUS, BAR_RADIUS = 6, 3  # CSS pixels
WHITE = "#ffffff"
BAR_TOP, BAR_HIGH, LEAST_BAR = 0.25, 0.5, 6  # of a bar for a line that is not read: parts of its height, and pixels
TEXT_BAR = 10  # CSS pixels: the height of a bar for a short stroke
FRAME_ROOM = 8  # CSS pixels by which a stroke may reach over its frame
WHOLE = 0.85  # the part of a frame from which on a stroke parts it, from side to side
SAME = 0.014  # edges that are nearer than this part of the page's width are meant to be one


def make_boxes(view: SketchView, shapes: Shapes, unread: Sequence[Rect]) -> list[Box]:
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
            boxes.append(Box(place, GROUND, FRAME_RADIUS))
        else:
            boxes.append(Box(place, WHITE, FRAME_RADIUS, Border((1, 1, 1, 1), LINE)))
    for rect in shapes.strokes:
        boxes.append(_stroke_box(view.place(rect), boxes, width, height))
    for rect in unread:
        place = view.place(rect).within(width, height)
        bar = Rect(place.x, place.y + BAR_TOP * place.h, place.w, max(BAR_HIGH * place.h, LEAST_BAR))
        boxes.append(Box(bar, BAR, BAR_RADIUS))
    return sorted((box for box in boxes if min(box.rect.w, box.rect.h) >= 1), key=lambda box: -box.rect.area)


def _stroke_box(place: Rect, boxes: Sequence[Box], width: float, height: float) -> Box:
    """Return the rule that a stroke is, from side to side; a short one stands for a line of text."""
    around = [box.rect for box in boxes if box.border is not None and box.rect.grown(FRAME_ROOM).holds(place)]
    room = min(around, key=lambda rect: rect.area, default=Rect(0, 0, width, height))
    if place.w >= place.h:
        middle = round((place.y + place.h / 2) / GRID) * GRID
        if place.w >= WHOLE * room.w:
            return Box(Rect(room.x, middle, room.w, 1), LINE)
        left = nearest_side(place.x, boxes, on_grid(place.x))
        bar = Rect(left, middle - TEXT_BAR // 2, on_grid(place.w), TEXT_BAR)
        return Box(bar.within(width, height), BAR, BAR_RADIUS)
    across = round((place.x + place.w / 2) / GRID) * GRID
    tall = place.h >= WHOLE * room.h
    return Box(Rect(across, room.y if tall else on_grid(place.y), 1, room.h if tall else on_grid(place.h)), LINE)


def _snap(rects: Sequence[Rect], slack: float) -> list[Rect]:
    """Move edges that nearly agree to one place, and make boxes beside each other equally large."""
    sides = [merge_near([value for rect in rects for value in ends(rect)], slack) for ends in (_across, _down)]
    moved = [
        spanning((sides[0][rect.x], sides[1][rect.y], sides[0][rect.right], sides[1][rect.bottom])) for rect in rects
    ]
    wide, high = (merge_near(sizes, 2 * slack) for sizes in ([rect.w for rect in moved], [rect.h for rect in moved]))
    return [Rect(rect.x, rect.y, wide[rect.w], high[rect.h]) for rect in moved]


def _across(rect: Rect) -> tuple[float, float]:
    return rect.x, rect.right


def _down(rect: Rect) -> tuple[float, float]:
    return rect.y, rect.bottom
