"""A screenshot is seen: `see(bytes)` gives boxes, texts and pictures, and tells how far it is on the way.

First what is cheap (flat areas, borders, shadows: a rough page within a second or two), then the text, then pictures.
The last few pictures are remembered by their pixels, so that whoever compares with one need not look again.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from weft.vision import assets, models
from weft.vision.boxes import find_flats
from weft.vision.canvas import paint, unexplained
from weft.vision.colours import commonest, css
from weft.vision.detector import find_text
from weft.vision.frames import frame
from weft.vision.geometry import Rect, hull
from weft.vision.ink import Ink, find_ink
from weft.vision.lines import style
from weft.vision.memory import give_back
from weft.vision.overlay import mend, overlaid, proven
from weft.vision.panels import find_panels, healed, on_panel, settled
from weft.vision.paragraphs import paragraphs
from weft.vision.parting import are_marks, parted, squarish
from weft.vision.picture import Picture as Shot
from weft.vision.picture import load
from weft.vision.reader import crop_margin, read
from weft.vision.regions import Mask, Pixels, same_colour
from weft.vision.seen import Box, Line, Picture, PictureKind, Seen, Text

Stage = Literal["regions", "finding text", "reading", "typefaces", "pictures", "done"]
REMEMBERED = 6
SMALL = 30
THIN = 3
HAZE = 4.0
"""A shadow is near enough explained beyond this many pixels."""
DENSE = 0.42
"""A picture differs from the page in at least this part of its rectangle."""
SPARSE = 0.12
"""The same for one that is mostly covered by panels."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far: a stage, the part of it that is done, and after the first stage a rough page."""

    stage: Stage
    part: float
    seen: Seen | None = None


Report = Callable[[Progress], None]

_remembering = threading.Lock()
_remembered: "OrderedDict[bytes, Seen]" = OrderedDict()


def see(data: bytes, report: Report | None = None) -> Seen:
    """Everything on the screenshot. Raises VisionError if it is no picture or is too large."""
    tell: Report = report or (lambda _progress: None)
    shot = load(data)
    digest = (
        hashlib.sha256(np.ascontiguousarray(shot.fine).data).digest() + repr((shot.fine.shape, shot.lossy)).encode()
    )
    with _remembering:
        known = _remembered.get(digest)
    seen = known if known is not None else _see(shot, tell)
    with _remembering:
        _remembered[digest] = seen
        _remembered.move_to_end(digest)
        while len(_remembered) > REMEMBERED:
            _remembered.popitem(last=False)
    give_back()
    tell(Progress("done", 1.0))
    return seen


def forget() -> None:
    """Look anew at the next picture."""
    with _remembering:
        _remembered.clear()


def _see(shot: Shot, tell: Report) -> Seen:
    pixels = shot.pixels
    height, width = pixels.shape[:2]
    regions = same_colour(pixels, 7 if shot.lossy else 2)
    background = css(commonest(np.concatenate((pixels[:, :2].reshape(-1, 3), pixels[:, -2:].reshape(-1, 3)))))
    boxes = frame(pixels, regions, find_flats(pixels, regions), background)
    base = Seen(width, height, shot.ratio, shot.lossy, background, (), (), (), ())
    tell(Progress("regions", 1.0, _rough(base, shot, boxes)))
    if not models.available():
        models.reader()
    busy: Mask = (regions.area < 260)[regions.labels]
    found = find_text(pixels, busy, lambda part: tell(Progress("finding text", part)))
    boxes = [box for box in boxes if not _glyph(box, found)]
    page = paint(width, height, background, boxes)
    inks = find_ink(pixels, page, found, boxes)
    solid, boxes, page, panels = _explain(shot, background, boxes, inks)
    photos = [patch.rect for patch in solid]
    inks = [ink for ink in inks if on_panel(ink.rect, panels) or not _mostly_on(ink.rect, photos)]
    laid = overlaid(pixels, [rect for rect in found if not _mostly_on(rect, [box.rect for box in panels])], photos)
    inks += laid
    readings = read([_crop(shot, ink.rect) for ink in inks], lambda part: tell(Progress("reading", part)))
    pieces = list(zip(inks, readings, strict=True))
    plain, over_photos = pieces[: len(pieces) - len(laid)], pieces[len(pieces) - len(laid) :]
    pieces = [*parted(pixels, page, plain, boxes), *over_photos]
    styled = style(pieces, lambda part: tell(Progress("typefaces", part)))
    over = {ink.rect for ink in laid}
    lines = [line for line in styled.lines if line.ink not in over or proven(line)]
    held, lines = settled(panels, lines)
    boxes = [box for box in boxes if box not in panels or box in held]
    texts = paragraphs(lines)
    tell(Progress("pictures", 0.0))
    grounds, mended = _grounds(shot, solid, [line for line in lines if line.ink in over], laid)
    grounds += [photo for photo in photos if any(photo.holds(panel.rect, 1) for panel in held)]
    unread = [ink for ink in styled.unread if ink.rect not in over]
    pictures, notes = _pictures(mended, page, boxes, texts, solid, unread, held)
    boxes, pictures = _on_grounds(boxes, pictures, grounds)
    notes += _remarks(shot)
    return replace(base, boxes=tuple(boxes), texts=tuple(texts), pictures=tuple(pictures), notes=tuple(notes))


def _grounds(
    shot: Shot, solid: Sequence[assets.Patch], lines: Sequence[Line], laid: Sequence[Ink]
) -> tuple[list[Rect], Shot]:
    """The photographs that text stands on, and the screenshot without that text."""
    on = [patch.rect for patch in solid if any(patch.rect.holds(line.ink) for line in lines)]
    if not on:
        return [], shot
    return on, replace(shot, fine=mend(shot.fine, lines, laid, shot.ratio))


def _on_grounds(boxes: list[Box], pictures: list[Picture], grounds: Sequence[Rect]) -> tuple[list[Box], list[Picture]]:
    """Photographs with text on them become boxes that show them."""
    kept: list[Picture] = []
    for picture in pictures:
        if picture.rect in grounds:
            boxes.append(Box(picture.rect, "#808080", image=picture.name))
            picture = replace(picture, kind="ground")
        kept.append(picture)
    return sorted(boxes, key=lambda box: -box.rect.area), kept


def _glyph(box: Box, lines: Sequence[Rect]) -> bool:
    """Whether a box is part of a letter."""
    if box.border is not None:
        return False
    rect = box.rect
    return any(line.holds(rect, 2) and (rect.w < 0.55 * line.w or rect.h < 0.5 * line.h) for line in lines)


def _mostly_on(rect: Rect, others: Sequence[Rect]) -> bool:
    return any(other.common(rect) > 0.5 * rect.area for other in others)


def _crop(shot: Shot, rect: Rect) -> Pixels:
    margin = crop_margin(rect)
    height, width = shot.pixels.shape[:2]
    part = rect.grown(margin).within(width, height)
    ratio = shot.ratio
    top, bottom = int(part.y) * ratio, round(part.bottom) * ratio
    left, right = int(part.x) * ratio, round(part.right) * ratio
    return shot.fine[top:bottom, left:right]


def _zones(shape: tuple[int, int], rects: Sequence[Rect], by: float) -> Mask:
    marked = np.zeros(shape, np.bool_)
    for rect in rects:
        part = rect.grown(by).within(shape[1], shape[0])
        marked[int(part.y) : round(part.bottom), int(part.x) : round(part.right)] = True
    return marked


def _explain(
    shot: Shot, background: str, boxes: list[Box], inks: Sequence[Ink]
) -> tuple[list[assets.Patch], list[Box], Pixels, list[Box]]:
    """The pictures that are plainly pictures, the boxes that lie in none, the page as these boxes explain it, and those
    boxes that are panels on a picture.
    """
    height, width = shot.pixels.shape[:2]
    small = [box for box in boxes if _smallish(box, inks)]
    large = [box for box in boxes if box not in small]
    page = paint(width, height, background, large)
    differs = unexplained(shot.pixels, page, 30 if shot.lossy else 14)
    differs &= ~_zones((height, width), [ink.rect for ink in inks], 2)
    solid: list[assets.Patch] = []
    kept: list[Box] = []
    for patch in assets.patches(differs):
        inside = [box for box in small if patch.rect.grown(1).holds(box.rect)]
        if len(inside) == 1 and inside[0].rect.area >= 0.8 * patch.rect.area:
            kept.append(inside[0])
            continue
        if min(patch.rect.w, patch.rect.h) < 12:
            continue
        if patch.density >= DENSE or (patch.density >= SPARSE and _around_panels(patch, shot, page, large, inks)):
            solid.append(patch)
    solid += [_whole(box) for box in _pictorial(large, differs, inks)]
    solid = [patch for patch in solid if not any(_inside(patch, other) for other in solid)]
    solid, large = _absorbed(solid, large, inks)
    photos = [patch.rect for patch in solid if patch.rect.area >= 900]
    panels = [panel for photo in photos for panel in find_panels(shot.pixels, page, photo, large, inks, shot.lossy)]
    places = {panel.rect for panel in panels}
    large = [box for box in large if box.rect not in places]
    left = [
        box for box in large if on_panel(box.rect, panels) or not any(each.grown(1).holds(box.rect) for each in photos)
    ]
    boxes = sorted([*left, *kept, *panels], key=lambda box: -box.rect.area)
    return solid, boxes, paint(width, height, background, boxes), panels


def _around_panels(patch: assets.Patch, shot: Shot, page: Pixels, boxes: Sequence[Box], inks: Sequence[Ink]) -> bool:
    """Whether a patch is a picture but for the panels that lie on it."""
    panels = find_panels(shot.pixels, page, patch.rect, boxes, inks, shot.lossy)
    covered = sum(panel.rect.common(patch.rect) for panel in panels)
    return patch.count >= 2 * DENSE * max(patch.rect.area - covered, 1)


def _pictorial(boxes: Sequence[Box], differs: Mask, inks: Sequence[Ink]) -> list[Box]:
    """Boxes that are the ground of a drawing: no text on them, and much that no box explains."""
    found: list[Box] = []
    for box in boxes:
        rect = box.rect
        if rect.area < 8000 or min(rect.w, rect.h) < 48 or rect.area > 0.5 * differs.size or box.border is not None:
            continue
        if any(rect.holds(ink.rect) for ink in inks):
            continue
        inner = rect.grown(-3)
        part = differs[int(inner.y) : int(inner.bottom), int(inner.x) : int(inner.right)]
        inside = sum(other.rect.area for other in boxes if other is not box and rect.holds(other.rect))
        if float(part.mean()) > 0.03 and (
            float(part.mean()) > 0.12 or box.gradient is not None or inside > 0.1 * rect.area
        ):
            found.append(box)
    return found


def _absorbed(solid: list[assets.Patch], boxes: list[Box], inks: Sequence[Ink]) -> tuple[list[assets.Patch], list[Box]]:
    """A plain box that lies partly on a picture is part of it; a line is not, it is the edge of what both lie in."""
    kept: list[Box] = []
    for box in boxes:
        rect = box.rect
        if min(rect.w, rect.h) <= THIN:
            kept.append(box)
            continue
        reaches = [
            number
            for number, patch in enumerate(solid)
            if patch.rect.common(rect) > 0.15 * rect.area and patch.rect.area > 900 and not rect.holds(patch.rect, 2)
        ]
        if not reaches or any(rect.holds(ink.rect) for ink in inks):
            kept.append(box)
            continue
        around = hull((solid[reaches[0]].rect, rect))
        solid[reaches[0]] = assets.Patch(around, 1.0, int(around.area))
    return solid, kept


def _whole(box: Box) -> assets.Patch:
    return assets.Patch(box.rect, 1.0, int(box.rect.area))


def _inside(patch: assets.Patch, other: assets.Patch) -> bool:
    return patch is not other and other.rect.area > patch.rect.area and other.rect.grown(1).holds(patch.rect)


def _smallish(box: Box, inks: Sequence[Ink]) -> bool:
    """Small, plain and empty: perhaps a dot, perhaps part of an icon."""
    if max(box.rect.w, box.rect.h) > SMALL or box.border is not None:
        return False
    return not any(box.rect.grown(1).holds(ink.rect) for ink in inks)


def _pictures(
    shot: Shot,
    page: Pixels,
    boxes: Sequence[Box],
    texts: Sequence[Text],
    solid: Sequence[assets.Patch],
    unread: Sequence[Ink],
    panels: Sequence[Box],
) -> tuple[list[Picture], list[str]]:
    height, width = shot.pixels.shape[:2]
    differs = unexplained(shot.pixels, page, 30 if shot.lossy else 14)
    lines = [line.ink for text in texts for line in text.lines]
    differs &= ~_zones((height, width), lines, 2.5)
    differs &= ~_haze((height, width), boxes)
    taken = [patch.rect for patch in solid]
    foreign = [
        ink.rect for ink in unread if on_panel(ink.rect, panels) or not any(rect.common(ink.rect) for rect in taken)
    ]
    foreign = [rect for rect in foreign if not any(line.common(rect) > 0.5 * rect.area for line in lines)]
    if not shot.lossy:
        foreign = [assets.faint_edges(shot.pixels, page, rect, boxes) for rect in foreign]
    foreign = _joined_rows(foreign)
    differs &= ~_zones((height, width), taken, 2) | _zones((height, width), [panel.rect for panel in panels], -3)
    differs &= ~_zones((height, width), foreign, 2)
    loose = [patch.rect for patch in assets.patches(differs) if _worth(patch, boxes)]
    loose = [assets.faint_edges(shot.pixels, page, rect, boxes) for rect in loose] if not shot.lossy else loose
    marked = [rect for rect in loose if on_panel(rect, panels)]
    whole = [*assets.joined([*taken, *(rect for rect in loose if rect not in marked)]), *marked]
    places: list[tuple[Rect, PictureKind]] = [(rect, assets.kind_of(rect)) for rect in whole]
    marks = [rect for rect in foreign if squarish(rect) or rect.h < 6]
    foreign = [rect for rect in foreign if rect not in marks]
    places.extend((rect.grown(2).within(width, height), "icon") for rect in marks)
    places.extend((rect.grown(2).within(width, height), "unread") for rect in foreign)
    places.sort(key=lambda place: (place[0].y, place[0].x))
    made = [assets.cut_out(shot.fine, shot.ratio, rect, kind, number + 1) for number, (rect, kind) in enumerate(places)]
    made = [healed(picture, panels) if not on_panel(picture.rect, panels) else picture for picture in made]
    notes: list[str] = []
    if foreign:
        lines_are = "1 line of text" if len(foreign) == 1 else f"{len(foreign)} lines of text"
        notes.append(f"Kept as pictures, because not read for certain: {lines_are}.")
    return made, notes


def _haze(shape: tuple[int, int], boxes: Sequence[Box]) -> Mask:
    """Close around boxes with a shadow: what differs there is the shadow, and must not tie the box to what is in it."""
    marked = np.zeros(shape, np.bool_)
    for box in boxes:
        if box.shadow is not None:
            ring = _zones(shape, [box.rect], min(box.shadow.blur + abs(box.shadow.y), HAZE))
            marked |= ring & ~_zones(shape, [box.rect], -1)
    return marked


def _joined_rows(rects: list[Rect]) -> list[Rect]:
    """Unread pieces on one line as one picture; but two or three marks beside each other stay marks."""
    rows: list[list[Rect]] = []
    for rect in sorted(rects, key=lambda each: each.x):
        near = next((row for row in rows if _goes_on(hull(row), rect)), None)
        if near is None:
            rows.append([rect])
        else:
            near.append(rect)
    return [rect for row in rows for rect in (row if are_marks(row) else [hull(row)])]


def _goes_on(row: Rect, rect: Rect) -> bool:
    level = min(row.bottom, rect.bottom) - max(row.y, rect.y) > 0.5 * min(row.h, rect.h)
    return level and rect.x - row.right < rect.h


def _worth(patch: assets.Patch, boxes: Sequence[Box]) -> bool:
    """Not the seam of a box, the haze of a shadow, or dust."""
    rect = patch.rect
    if patch.count < 14 or max(rect.w, rect.h) < 5:
        return False
    if patch.density < 0.3 and any(rect.grown(2).holds(box.rect) and box.rect.area > 0.5 * rect.area for box in boxes):
        return False
    return not any(_seam(rect, patch.density, box) for box in boxes)


def _seam(rect: Rect, density: float, box: Box) -> bool:
    """Whether a patch lies along an edge or in a corner of the box."""
    reach = 3.0 + (box.shadow.blur if box.shadow is not None else 0)
    if not box.rect.grown(reach).holds(rect):
        return False
    bend = box.radius + 2
    near_x = rect.right <= box.rect.x + bend or rect.x >= box.rect.right - bend
    near_y = rect.bottom <= box.rect.y + bend or rect.y >= box.rect.bottom - bend
    thin_x = rect.right <= box.rect.x + 3 or rect.x >= box.rect.right - 3
    thin_y = rect.bottom <= box.rect.y + 3 or rect.y >= box.rect.bottom - 3
    return (near_x and near_y) or thin_x or thin_y or (density < 0.5 and (near_x or near_y))


def _rough(base: Seen, shot: Shot, boxes: Sequence[Box]) -> Seen:
    """Boxes, pictures, and a bar where a line of text will be."""
    page = paint(base.width, base.height, base.background, boxes)
    differs = unexplained(shot.pixels, page, 40)
    bars: list[Box] = []
    pictures: list[Picture] = []
    for patch in assets.patches(differs, 8, 2):
        if patch.rect.h > 60 and patch.density >= DENSE:
            pictures.append(assets.cut_out(shot.fine, shot.ratio, patch.rect, "photo", len(pictures) + 1))
        elif 5 <= patch.rect.h <= 60 and patch.rect.w >= 8:
            bars.append(Box(patch.rect, "#c8ccd2", 3))
    return replace(base, boxes=(*boxes, *bars), pictures=tuple(pictures), rough=True)


def _remarks(shot: Shot) -> list[str]:
    notes: list[str] = []
    if shot.ratio > 1:
        notes.append(
            f"The screenshot has {shot.ratio} pixels for each CSS pixel; the page is {shot.ratio} times smaller."
        )
    if shot.lossy:
        notes.append("The screenshot was compressed with loss; colours and edges are approximate.")
    return notes
