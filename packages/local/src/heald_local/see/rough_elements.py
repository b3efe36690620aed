"""Finds the rough elements of a page for its first preview, before any text is read."""

from collections.abc import Sequence
from dataclasses import replace

from heald_local.see.painted_page import find_differences, paint_page
from heald_local.see.patches import find_patches
from heald_pictures.elements import Box, Detection, PictureElement
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels

DENSE = 0.42  # a picture differs from the page in at least this part of its rectangle
LARGEST_LETTER = 120  # pixels of the longer side of a box that may be part of a letter
MOST_FILLED = 0.5  # the part of a word that a stroke of one of its letters fills
LEAST_LEFT = 0.25  # the part of a word that boxes do not explain; they explain rows of buttons
WORD_GAP, LINE_GAP = 8, 2  # pixels between the letters of a word, and between two lines
DIFFERENT = 40  # levels by which ink differs from the page
LOWEST_LINE, TALLEST_LINE, SHORTEST_LINE = 5, 60, 8  # pixels of a line of text
BAR, BAR_RADIUS = "#c8ccd2", 3  # of the bar that stands for one


def find_rough_elements(base: Detection, pixels: Pixels, boxes: Sequence[Box]) -> Detection:
    """Find the places of pictures, without their data, and a bar for each line of text, beside the boxes."""
    differs = _find_ink(base, pixels, boxes)
    boxes = _remove_glyphs(base, pixels, boxes, differs)
    bars: list[Box] = []
    pictures: list[PictureElement] = []
    for patch in find_patches(differs, WORD_GAP, LINE_GAP):
        if patch.rect.h > TALLEST_LINE and patch.density >= DENSE:
            pictures.append(PictureElement(patch.rect, "photo", f"photo-{len(pictures) + 1}", b""))
        elif LOWEST_LINE <= patch.rect.h <= TALLEST_LINE and patch.rect.w >= SHORTEST_LINE:
            bars.append(Box(patch.rect, BAR, BAR_RADIUS))
    return replace(base, boxes=(*boxes, *bars), pictures=tuple(pictures), rough=True)


def _find_ink(base: Detection, pixels: Pixels, boxes: Sequence[Box]) -> Mask:
    """Mark what boxes do not explain."""
    return find_differences(pixels, paint_page(base.width, base.height, base.background, boxes), DIFFERENT)


def _remove_glyphs(base: Detection, pixels: Pixels, boxes: Sequence[Box], differs: Mask) -> list[Box]:
    """Remove boxes that are parts of letters: small, and beside ink that no box explains. Their ink is marked.

    The strokes and the inner areas of large letters are flat rectangles and discs, as bullets and buttons are.
    """
    small = [box for box in boxes if max(box.rect.w, box.rect.h) <= LARGEST_LETTER]
    if not small:
        return list(boxes)
    bare = _find_ink(base, pixels, [box for box in boxes if max(box.rect.w, box.rect.h) > LARGEST_LETTER])
    removed: set[Rect] = set()
    for word in find_patches(bare, WORD_GAP, LINE_GAP):
        around = word.rect.grown(1)
        inside = [box.rect for box in small if around.holds(box.rect) and box.rect.area <= MOST_FILLED * word.rect.area]
        if not inside:
            continue
        where = (slice(int(word.rect.y), int(word.rect.bottom)), slice(int(word.rect.x), int(word.rect.right)))
        if int(differs[where].sum()) >= LEAST_LEFT * word.count:
            removed.update(inside)
            differs[where] = bare[where]
    return [box for box in boxes if box.rect not in removed]
