"""Finds the rough elements of a page for its first preview, before any text is read."""

from collections.abc import Sequence
from dataclasses import replace

from weft.vision.elements import Box, Detection, PictureElement
from weft.vision.see.pictures import find_differences, find_patches, paint_page
from weft.vision.see.regions import Pixels

DENSE = 0.42  # a picture differs from the page in at least this part of its rectangle


def find_rough_elements(base: Detection, pixels: Pixels, boxes: Sequence[Box]) -> Detection:
    """Find the places of pictures, without their data, and a bar for each line of text; boxes are known."""
    page = paint_page(base.width, base.height, base.background, boxes)
    bars: list[Box] = []
    pictures: list[PictureElement] = []
    for patch in find_patches(find_differences(pixels, page, 40), 8, 2):
        if patch.rect.h > 60 and patch.density >= DENSE:
            pictures.append(PictureElement(patch.rect, "photo", f"photo-{len(pictures) + 1}", b""))
        elif 5 <= patch.rect.h <= 60 and patch.rect.w >= 8:
            bars.append(Box(patch.rect, "#c8ccd2", 3))
    return replace(base, boxes=(*boxes, *bars), pictures=tuple(pictures), rough=True)
