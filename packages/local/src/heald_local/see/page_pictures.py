"""Cuts out what no box and no text of a page explains: pictures, icons and text that was not read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heald_local.see.dashed_boxes import find_dashed_box
from heald_local.see.ink import Ink
from heald_local.see.inpainting import inpaint_panels
from heald_local.see.line_marks import is_squarish, join_rows
from heald_local.see.overlap import is_mostly_on
from heald_local.see.page_layers import mark_differences
from heald_local.see.panels import is_on_panel
from heald_local.see.patches import Patch, find_patches, join_rects
from heald_local.see.pictures import cut_out, faint_edges, picture_kind
from heald_local.see.screenshot import Screenshot
from heald_local.see.seams import is_worth_keeping, mark_corners, mark_rects, mark_shadows
from heald_pictures.colours import hex_colour
from heald_pictures.elements import Box, PictureElement, PictureKind, TextElement, TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels

TEXT_ROOM = 2.5  # pixels around text that its smooth edge lies on
UNDERLINE_ROOM = 0.12  # ems below the baseline that an underline reaches: of large letters it is thick
PICTURE_ROOM = 2  # the same around pictures and text that was not read
PANEL_EDGE = 3  # pixels at the edge of a panel that belong to the picture around it
DASH_ROOM, DASH_EDGE = 1, 4  # pixels around and within the sides of a box with a dashed border that belong to it
RULE_WIDTH, SHORTEST_RULE, EVEN = 2, 8, 12  # pixels of an upright line, and levels by which its pixels differ
LOWEST_TEXT = 6  # pixels: what is lower and not read is an icon


@dataclass(frozen=True, slots=True, eq=False)
class PagePictures:
    """The pictures of a page, its boxes with dashed borders, lines between texts of a row, and notes for the user."""

    pictures: list[PictureElement]
    dashed: list[Box]
    rules: list[Box]
    notes: list[str]


def cut_pictures(
    shot: Screenshot,
    page: Pixels,
    boxes: Sequence[Box],
    texts: Sequence[TextElement],
    clear: Sequence[Patch],
    unread: Sequence[Ink],
    panels: Sequence[Box],
) -> PagePictures:
    """Cut out what no box and no text explains; `clear` pictures are known, dashed borders become boxes."""
    height, width = shot.pixels.shape[:2]
    lines = [_with_underline(line) for text in texts for line in text.lines]
    photos = [patch.rect for patch in clear]
    unread_places = join_rows(_find_unread(shot, page, boxes, lines, photos, unread, panels))
    differs = _mark_unexplained(shot, page, boxes, lines, photos, unread_places, panels)
    patches = find_patches(differs)
    dashed = [box for patch in patches if (box := find_dashed_box(shot.pixels, page, differs, patch.rect)) is not None]
    loose_patches = find_patches(_without_dashes(differs, dashed)) if dashed else patches
    loose = [
        _with_faint_edges(shot, page, patch.rect, boxes) for patch in loose_patches if is_worth_keeping(patch, boxes)
    ]
    rules = [rule for rect in loose if (rule := _as_rule(shot.pixels, rect)) is not None]
    loose = [rect for rect in loose if not any(rule.rect == rect for rule in rules)]
    on_panels = [rect for rect in loose if is_on_panel(rect, panels)]
    joined = join_rects([*photos, *(rect for rect in loose if rect not in on_panels)], 0)
    marks = [rect for rect in unread_places if is_squarish(rect) or rect.h < LOWEST_TEXT]
    unread_lines = [rect for rect in unread_places if rect not in marks]
    places: list[tuple[Rect, PictureKind]] = [(rect, picture_kind(rect)) for rect in (*joined, *on_panels)]
    places.extend((rect.grown(PICTURE_ROOM).within(width, height), "icon") for rect in marks)
    places.extend((rect.grown(PICTURE_ROOM).within(width, height), "unread") for rect in unread_lines)
    places.sort(key=lambda place: (place[0].y, place[0].x))
    cuts = [cut_out(shot.fine, shot.ratio, rect, kind, number + 1) for number, (rect, kind) in enumerate(places)]
    pictures = [picture if is_on_panel(picture.rect, panels) else inpaint_panels(picture, panels) for picture in cuts]
    return PagePictures(pictures, dashed, rules, _unread_notes(len(unread_lines)))


def _with_underline(line: TextLine) -> Rect:
    """Return the place of a line's ink with its underline, which is no ink."""
    ink = line.ink
    below = line.baseline + UNDERLINE_ROOM * line.style.size - ink.bottom if line.style.underline else 0.0
    return replace(ink, h=ink.h + max(below, 0.0))


def _as_rule(pixels: Pixels, rect: Rect) -> Box | None:
    """Return the box of a thin upright line of one colour, such as that between two links."""
    if rect.w > RULE_WIDTH or rect.h < SHORTEST_RULE:
        return None
    part = pixels[round(rect.y) : round(rect.bottom), round(rect.x) : round(rect.right)]
    if not part.size or int(np.ptp(part, axis=(0, 1)).max()) > EVEN:
        return None
    return Box(rect, hex_colour(np.median(part, axis=(0, 1))))


def _find_unread(
    shot: Screenshot,
    page: Pixels,
    boxes: Sequence[Box],
    lines: Sequence[Rect],
    photos: Sequence[Rect],
    unread: Sequence[Ink],
    panels: Sequence[Box],
) -> list[Rect]:
    """Return the places of ink that was not read, on no photograph and on no line."""
    places = [
        ink.rect
        for ink in unread
        if is_on_panel(ink.rect, panels) or not any(photo.common(ink.rect) for photo in photos)
    ]
    return [_with_faint_edges(shot, page, place, boxes) for place in places if not is_mostly_on(place, lines)]


def _with_faint_edges(shot: Screenshot, page: Pixels, rect: Rect, boxes: Sequence[Box]) -> Rect:
    return rect if shot.lossy else faint_edges(shot.pixels, page, rect, boxes)


def _mark_unexplained(
    shot: Screenshot,
    page: Pixels,
    boxes: Sequence[Box],
    lines: Sequence[Rect],
    photos: Sequence[Rect],
    unread_places: Sequence[Rect],
    panels: Sequence[Box],
) -> Mask:
    """Mark where the page differs from what was found on it so far."""
    height, width = shot.pixels.shape[:2]
    size = height, width
    differs = mark_differences(shot, page)
    differs &= ~mark_rects(size, lines, TEXT_ROOM)
    differs &= ~mark_shadows(size, boxes)
    differs &= ~mark_corners(shot.pixels, page, boxes)
    on_panels = mark_rects(size, [panel.rect for panel in panels], -PANEL_EDGE)
    differs &= ~mark_rects(size, photos, PICTURE_ROOM) | on_panels
    differs &= ~mark_rects(size, unread_places, PICTURE_ROOM)
    return differs


def _without_dashes(differs: Mask, dashed: Sequence[Box]) -> Mask:
    """Return the mask without the dashed borders; what is within them stays."""
    rects = [box.rect for box in dashed]
    height, width = differs.shape
    size = height, width
    return differs & (~mark_rects(size, rects, DASH_ROOM) | mark_rects(size, rects, -DASH_EDGE))


def _unread_notes(count: int) -> list[str]:
    if not count:
        return []
    lines = "1 line of text" if count == 1 else f"{count} lines of text"
    return [f"Kept as pictures, because not read for certain: {lines}."]
