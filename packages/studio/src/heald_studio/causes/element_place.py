"""The rectangle of a picture that an element of a page comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from heald_pictures.rect import Rect, hull
from heald_studio.causes.cause import PlaceKind
from heald_studio.causes.picture_parts import PictureParts
from heald_studio.causes.rendered_texts import PageElement, RenderedTexts
from heald_studio.causes.text_places import PlacedTexts, place_texts

_SLACK = 2.0  # pixels by which a text may stand out of its box
_LEAST_SHAPE = 0.5  # intersection over union from which on a box of the picture is the element's
_LEAST_LONE_SHAPE = 0.3  # the same for an element without text, whose place is less certain


@dataclass(frozen=True, slots=True)
class ElementPlace:
    """A place in a picture, in CSS pixels."""

    rect: Rect
    found_by: PlaceKind
    likeness: float
    """The share of its letters that were read there; 0 for an element without text."""


def place_element(
    page: RenderedTexts, element: PageElement, parts: PictureParts, width: float, height: float
) -> ElementPlace:
    """Return the place of an element in a picture of this size."""
    placed = place_texts(page, parts.lines, height)
    texts = [placed.places[number] for number in element.texts]
    shapes = [_Shape(Rect(*box), page, element, placed, parts.boxes) for box in element.painted]
    rects = [*(place.rect for place in texts), *(shape.rect for shape in shapes)]
    if not rects:
        rects = [placed.shifts.place(element.rect)]
    found_by: PlaceKind = "position"
    if any(place.found_by == "text" for place in texts):
        found_by = "text"
    elif any(shape.is_seen for shape in shapes):
        found_by = "shape"
    likeness = sum(place.likeness for place in texts) / len(texts) if texts else 0.0
    return ElementPlace(hull(rects).within(width, height), found_by, round(likeness, 3))


class _Shape:
    """The place of a painted box: of the box in the picture that fits it, or as it lies around its texts."""

    def __init__(
        self, box: Rect, page: RenderedTexts, element: PageElement, placed: PlacedTexts, boxes: Sequence[Rect]
    ) -> None:
        inside = [number for number in element.texts if box.holds(page.texts[number].rect, _SLACK)]
        if inside:
            expected = _around(
                box,
                hull(page.texts[number].rect for number in inside),
                hull(placed.places[number].rect for number in inside),
            )
        else:
            expected = placed.shifts.place(box)
        shape = _alike(expected, boxes, _LEAST_SHAPE if inside else _LEAST_LONE_SHAPE)
        self.is_seen = shape is not None
        self.rect = shape or expected


def _around(box: Rect, texts: Rect, places: Rect) -> Rect:
    """Return a box with as much room around the places of texts as it has around the texts on the page."""
    left, top = places.x - (texts.x - box.x), places.y - (texts.y - box.y)
    return Rect(left, top, places.w + box.w - texts.w, places.h + box.h - texts.h)


def _alike(expected: Rect, boxes: Sequence[Rect], least: float) -> Rect | None:
    """Return the box that fits an expected place best; None if none fits."""
    best = max(boxes, key=lambda box: _overlap(box, expected), default=None)
    return best if best is not None and _overlap(best, expected) >= least else None


def _overlap(rect: Rect, other: Rect) -> float:
    common = rect.common(other)
    return common / (rect.area + other.area - common) if common else 0.0
