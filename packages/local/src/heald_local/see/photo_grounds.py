"""Turns photographs behind text into boxes that show them."""

from collections.abc import Sequence
from dataclasses import replace

from heald_local.see.inpainting import inpaint_text
from heald_local.see.page_texts import PageTexts
from heald_local.see.pictures import mean_colour
from heald_local.see.screenshot import Screenshot
from heald_pictures.elements import Box, PictureElement
from heald_pictures.rect import Rect


def clear_grounds(shot: Screenshot, photos: Sequence[Rect], texts: PageTexts) -> tuple[list[Rect], Screenshot]:
    """Return the photographs behind text and panels, and the screenshot without the text on photographs."""
    lines = texts.photo_lines
    behind_text = [photo for photo in photos if any(photo.holds(line.ink) for line in lines)]
    behind_panels = [photo for photo in photos if any(photo.holds(panel.rect, 1) for panel in texts.panels)]
    if not behind_text:
        return behind_panels, shot
    fine = inpaint_text(shot.fine, lines, texts.photo_inks, shot.ratio)
    return [*behind_text, *behind_panels], replace(shot, fine=fine)


def show_grounds(
    boxes: Sequence[Box], pictures: Sequence[PictureElement], grounds: Sequence[Rect]
) -> tuple[list[Box], list[PictureElement]]:
    """Return the boxes with one for each photograph behind text, and the pictures with these marked as grounds."""
    behind = [picture for picture in pictures if picture.rect in grounds]
    shown_by = [Box(picture.rect, mean_colour(picture), image=picture.name) for picture in behind]
    marked = [replace(picture, kind="ground") if picture.rect in grounds else picture for picture in pictures]
    return sorted([*boxes, *shown_by], key=lambda box: -box.rect.area), marked
