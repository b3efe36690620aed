"""Finds the ground of a page: its background, its photographs with grain and its boxes, before text is looked for."""

from dataclasses import dataclass

import numpy as np

from heald_local.see.boxes import build_boxes, is_exact
from heald_local.see.flats import find_flats
from heald_local.see.overlap import is_mostly_on
from heald_local.see.photographs import find_grain, is_painted
from heald_local.see.screenshot import Screenshot
from heald_pictures.colours import dominant_colour, hex_colour
from heald_pictures.elements import Box
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels, label_colours

SLACK, SLACK_LOSSY = 2, 7  # levels by which neighbours of one colour differ, and on a screenshot with loss
EDGE = 2  # columns at both sides of a page that show its background
ON_GRAIN = 0.9  # the part of a box from which on it is a part of a photograph
BUSY = 260  # pixels: smaller regions are not plain background, and may be text


@dataclass(frozen=True, slots=True, eq=False)
class PageGround:
    """The background of a page, its photographs with grain, its boxes, and the pixels that are not plain background."""

    background: str
    grain: list[Rect]
    boxes: list[Box]
    busy: Mask

    def is_exact(self, pixels: Pixels) -> bool:
        """Whether a box shows that the page is not drawn by hand."""
        return any(is_exact(box, pixels, self.background) for box in self.boxes)


def find_ground(shot: Screenshot) -> PageGround:
    pixels = shot.pixels
    regions = label_colours(pixels, SLACK_LOSSY if shot.lossy else SLACK)
    sides = (pixels[:, :EDGE], pixels[:, -EDGE:])
    background = hex_colour(dominant_colour(np.concatenate([side.reshape(-1, side.shape[-1]) for side in sides])))
    grain = [] if shot.lossy else find_grain(pixels)
    boxes = [
        box
        for box in build_boxes(pixels, regions, find_flats(pixels, regions), background)
        if not is_mostly_on(box.rect, grain, ON_GRAIN) or is_painted(pixels, box)
    ]
    busy: Mask = (regions.area < BUSY)[regions.labels]
    return PageGround(background, grain, boxes, busy)
