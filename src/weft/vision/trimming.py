"""Pictures that show a box again: a line that could not be read, with the tick box before it. Each is kept once."""

import io
from dataclasses import replace

from PIL import Image

from weft.vision.geometry import Rect, spanning
from weft.vision.seen import Picture, Seen

_END = 5.0
"""Pixels between a box and the end of the picture that it is cut off at."""
_TALL = 0.45


def trimmed(seen: Seen) -> Seen:
    """Pictures without the boxes at their ends, and no boxes that are only part of a picture."""
    boxes = list(seen.boxes)
    pictures: list[Picture] = []
    for picture in seen.pictures:
        inside = [box for box in boxes if picture.kind != "ground" and picture.rect.holds(box.rect, 1)]
        for box in inside:
            rest = _rest(picture.rect, box.rect)
            if rest is None:
                boxes.remove(box)
            else:
                picture = _cut(picture, rest)
        pictures.append(picture)
    return replace(seen, boxes=tuple(boxes), pictures=tuple(pictures))


def _rest(picture: Rect, box: Rect) -> Rect | None:
    """What is left of a line beside a box at its end."""
    if box.h < _TALL * picture.h or picture.w < 2 * picture.h:
        return None
    if box.x - picture.x <= _END and picture.right - box.right > 4:
        return spanning((box.right + 2, picture.y, picture.right, picture.bottom))
    if picture.right - box.right <= _END and box.x - picture.x > 4:
        return spanning((picture.x, picture.y, box.x - 2, picture.bottom))
    return None


def _cut(picture: Picture, rect: Rect) -> Picture:
    with Image.open(io.BytesIO(picture.data), formats=("PNG",)) as whole:
        scale = whole.width / picture.rect.w
        left, top = rect.x - picture.rect.x, rect.y - picture.rect.y
        edges = (left, top, left + rect.w, top + rect.h)
        part = whole.crop(
            (round(edges[0] * scale), round(edges[1] * scale), round(edges[2] * scale), round(edges[3] * scale))
        )
        out = io.BytesIO()
        part.save(out, "PNG")
    return replace(picture, rect=rect, data=out.getvalue())
