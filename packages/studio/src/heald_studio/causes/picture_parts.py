"""What a picture shows, in CSS pixels: its lines of text, its boxes and its pictures."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from heald_pictures.detector import find_detector
from heald_pictures.elements import Detection, Family
from heald_pictures.errors import ModelsMissing, VisionError
from heald_pictures.rect import Rect
from heald_studio.causes.ink_gaps import find_gaps, find_signs
from heald_studio.causes.line_boxes import place_line_box
from heald_studio.causes.text_places import PictureLine
from heald_studio.score.page_image import PictureError, Pixels, decode_pixels

_one_at_a_time = Lock()
_EQUAL_LETTERS: tuple[Family, ...] = ("mono", "code")


@dataclass(frozen=True, slots=True)
class PictureParts:
    """What was read in a picture. All is empty if there is no reader for it, or it is a sketch."""

    lines: tuple[PictureLine, ...] = ()
    boxes: tuple[Rect, ...] = ()


async def read_parts(picture: bytes) -> PictureParts:
    """Read a picture, once for all causes. The first time takes some seconds."""
    return await asyncio.to_thread(_read_once, picture)


@lru_cache(maxsize=8)
def _read_once(picture: bytes) -> PictureParts:
    try:
        detect_elements = find_detector()
        with _one_at_a_time:
            detection = detect_elements(picture)
        pixels = decode_pixels(picture)
    except (ModelsMissing, VisionError, PictureError):
        return PictureParts()
    if detection.drawn:
        return PictureParts()
    boxes: Sequence[Rect] = [*(box.rect for box in detection.boxes), *(part.rect for part in detection.pictures)]
    return PictureParts(tuple(picture_lines(detection, pixels)), tuple(boxes))


def picture_lines(detection: Detection, pixels: Pixels) -> list[PictureLine]:
    """Return the lines of text, each with the place of its line box and the gaps between its letters."""
    lines = [line for text in detection.texts for line in text.lines]
    if detection.photographed:  # its places are those of the straightened picture
        return [PictureLine(line.text, line.rect) for line in lines]
    return [
        PictureLine(
            line.text,
            place_line_box(line),
            find_gaps(pixels, line, detection.ratio),
            *find_signs(pixels, line, detection.ratio),
            line.style.family in _EQUAL_LETTERS,
        )
        for line in lines
    ]
