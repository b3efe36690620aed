"""Separates the layers of a page: clear pictures, the panels that lie on them, and the boxes outside of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from heald_local.see.ink import Ink
from heald_local.see.painted_page import DIFFERENT, find_differences, paint_page
from heald_local.see.panels import find_panels, is_on_panel
from heald_local.see.patches import Patch, find_patches
from heald_local.see.rough_elements import DENSE
from heald_local.see.screenshot import Screenshot
from heald_local.see.seams import mark_rects
from heald_pictures.elements import Box
from heald_pictures.rect import Rect, hull
from heald_pictures.regions import Mask, Pixels

DIFFERENT_LOSSY = 30  # levels by which a screenshot with loss differs from the painted page
INK_ROOM = 2  # pixels around ink that its smooth edge lies on
SMALL = 30  # pixels of the longer side of a box that may be a dot or part of an icon
FILLED = 0.8  # the part of a patch from which on the one box in it explains it
LEAST_SIDE = 12  # pixels of the shorter side of a picture
SPARSE = 0.12  # the density of a picture that is mostly covered by panels
COVERED_DENSE = 2 * DENSE  # the density of the same apart from its panels
LEAST_PHOTO = 900  # pixels of a picture that panels lie on, and that boxes become a part of
DRAWING_AREA, DRAWING_SIDE = 8000, 48  # pixels of a box that is the background of a drawing, at least
LARGEST_DRAWING = 0.5  # the part of the page that it fills, at most
DRAWING_EDGE = 3  # pixels at its edge that are not looked at
DRAWN, FAINTLY_DRAWN = 0.12, 0.03  # the part of it that no box explains, and the same with a gradient or boxes on it
BOXED = 0.1  # the part of it that such boxes fill
THIN = 3  # pixels of a line, which is an edge and not a part of a picture
ABSORBED = 0.15  # the part of a box from which on it lies on a picture
HOLDS_ROOM = 2  # pixels by which a picture may reach over the box that holds it


@dataclass(frozen=True, slots=True, eq=False)
class PageLayers:
    """The clear pictures of a page, the panels on them, the boxes outside of pictures, and the page of these boxes."""

    pictures: list[Patch]
    panels: list[Box]
    boxes: list[Box]
    page: Pixels

    @property
    def photos(self) -> list[Rect]:
        return [patch.rect for patch in self.pictures]


def mark_differences(shot: Screenshot, page: Pixels) -> Mask:
    """Mark where a screenshot differs from the painted page."""
    return find_differences(shot.pixels, page, DIFFERENT_LOSSY if shot.lossy else DIFFERENT)


def find_layers(
    shot: Screenshot, background: str, boxes: Sequence[Box], inks: Sequence[Ink], grain: Sequence[Rect]
) -> PageLayers:
    """Find pictures, which are those with grain and others, and panels."""
    height, width = shot.pixels.shape[:2]
    small = [box for box in boxes if _is_small(box, inks)]
    large = [box for box in boxes if box not in small]
    page = paint_page(width, height, background, large)
    differs = mark_differences(shot, page)
    differs &= ~mark_rects((height, width), [ink.rect for ink in inks], INK_ROOM)
    patches = [patch for patch in find_patches(differs) if not any(rect.holds(patch.rect, 1) for rect in grain)]
    dots = {patch.rect: dot for patch in patches if (dot := _find_dot(patch.rect, small)) is not None}
    clear = [patch for patch in patches if patch.rect not in dots and _is_picture(patch, shot, page, large, inks)]
    whole = [*grain, *(box.rect for box in _find_drawings(large, differs, inks))]
    outermost = _without_nested([*clear, *(Patch(rect, 1.0, int(rect.area)) for rect in whole)])
    pictures, others = _absorb_boxes(outermost, large, inks)
    photos = [patch.rect for patch in pictures if patch.rect.area >= LEAST_PHOTO]
    panels = [panel for photo in photos for panel in find_panels(shot.pixels, page, photo, others, inks, shot.lossy)]
    places = {panel.rect for panel in panels}
    around = [photo.grown(1) for photo in photos]
    outside = [
        box
        for box in others
        if box.rect not in places
        and (is_on_panel(box.rect, panels) or not any(photo.holds(box.rect) for photo in around))
    ]
    page_boxes = sorted([*outside, *dots.values(), *panels], key=lambda box: -box.rect.area)
    return PageLayers(pictures, panels, page_boxes, paint_page(width, height, background, page_boxes))


def _is_small(box: Box, inks: Sequence[Ink]) -> bool:
    """Whether a box is small, plain and empty: perhaps a dot or part of an icon."""
    if max(box.rect.w, box.rect.h) > SMALL or box.border is not None:
        return False
    return not any(box.rect.grown(1).holds(ink.rect) for ink in inks)


def _find_dot(place: Rect, boxes: Sequence[Box]) -> Box | None:
    """Return the small box that alone fills a place."""
    inside = [box for box in boxes if place.grown(1).holds(box.rect)]
    return inside[0] if len(inside) == 1 and inside[0].rect.area >= FILLED * place.area else None


def _is_picture(patch: Patch, shot: Screenshot, page: Pixels, boxes: Sequence[Box], inks: Sequence[Ink]) -> bool:
    if min(patch.rect.w, patch.rect.h) < LEAST_SIDE:
        return False
    return patch.density >= DENSE or (patch.density >= SPARSE and _is_around_panels(patch, shot, page, boxes, inks))


def _is_around_panels(patch: Patch, shot: Screenshot, page: Pixels, boxes: Sequence[Box], inks: Sequence[Ink]) -> bool:
    """Whether a patch is a picture, apart from the panels on it."""
    panels = find_panels(shot.pixels, page, patch.rect, boxes, inks, shot.lossy)
    covered = sum(panel.rect.common(patch.rect) for panel in panels)
    return patch.count >= COVERED_DENSE * max(patch.rect.area - covered, 1)


def _find_drawings(boxes: Sequence[Box], differs: Mask, inks: Sequence[Ink]) -> list[Box]:
    """Find boxes that are the background of a drawing: without text, and with much that no box explains."""
    drawings: list[Box] = []
    for box in boxes:
        rect = box.rect
        if rect.area < DRAWING_AREA or min(rect.w, rect.h) < DRAWING_SIDE or box.border is not None:
            continue
        if rect.area > LARGEST_DRAWING * differs.size or any(rect.holds(ink.rect) for ink in inks):
            continue
        inner = rect.grown(-DRAWING_EDGE)
        part = differs[int(inner.y) : int(inner.bottom), int(inner.x) : int(inner.right)]
        boxed = sum(other.rect.area for other in boxes if other is not box and rect.holds(other.rect))
        share = float(part.mean())
        has_content = box.gradient is not None or boxed > BOXED * rect.area
        if share > DRAWN or (share > FAINTLY_DRAWN and has_content):
            drawings.append(box)
    return drawings


def _without_nested(patches: Sequence[Patch]) -> list[Patch]:
    """Drop patches that lie in larger ones."""
    wider = [(patch.rect.area, patch.rect.grown(1)) for patch in patches]
    return [
        patch for patch in patches if not any(area > patch.rect.area and rect.holds(patch.rect) for area, rect in wider)
    ]


def _absorb_boxes(patches: Sequence[Patch], boxes: Sequence[Box], inks: Sequence[Ink]) -> tuple[list[Patch], list[Box]]:
    """Merge plain boxes that lie partly on a picture into it; lines are edges and stay.

    Returns the pictures and the other boxes.
    """
    pictures = list(patches)
    others: list[Box] = []
    for box in boxes:
        rect = box.rect
        on = next((number for number, patch in enumerate(pictures) if _lies_on(rect, patch.rect)), None)
        if on is None or min(rect.w, rect.h) <= THIN or any(rect.holds(ink.rect) for ink in inks):
            others.append(box)
            continue
        around = hull((pictures[on].rect, rect))
        pictures[on] = Patch(around, 1.0, int(around.area))
    return pictures, others


def _lies_on(rect: Rect, picture: Rect) -> bool:
    if picture.area <= LEAST_PHOTO or rect.holds(picture, HOLDS_ROOM):
        return False
    return picture.common(rect) > ABSORBED * rect.area
