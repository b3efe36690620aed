"""Describes boxes by their looks, their contents and what is near them, for the trees that tell fields.

Fields are text fields, text areas and selects. A field is a box in which little or nothing is written, beside a label,
other fields or a button.
"""

from collections.abc import Iterator

import numpy as np

from heald_local.arrange.colours import is_vivid
from heald_local.arrange.form_signs import judge_boxes
from heald_local.arrange.native_controls import has_native_fill, is_native_frame, is_placeholder_grey
from heald_local.arrange.prompts import is_prompt
from heald_local.arrange.role_features import Matrix
from heald_local.arrange.role_trees import load_trees
from heald_pictures.colours import colour_distance, contrast, luminance, rgb_parts
from heald_pictures.elements import Box, Detection, TextElement
from heald_pictures.rect import Rect, hull

_WIDTHS, _HEIGHTS = (30.0, 1300.0), (14.0, 330.0)  # pixels of a field
_FAR = 400.0  # pixels that stand for a neighbour that is not there
_SLACK = 2.0  # pixels by which what is inside may reach over the edge
_INNER = 0.6  # of a text that lies in a box, from which on it is inside
_MAGNIFIERS = frozenset({"search", "magnifying-glass"})
_MARKS = (":", "*", "…", "...")  # at the end of labels and prompts
_FLAT, _LOW_ARROW = 1.2, 12.0  # width in heights, and pixels of height, of the arrow of a select
_ALIKE = 3.0  # pixels between the edges and heights of boxes of one form
_REACH = 160.0  # pixels down to the button of a form
_WHITE = "#ffffff"


def find_field_chances(detection: Detection) -> dict[Rect, float]:
    """Return the chance of each box of a page to be a field, by its place: by its looks, and by what is around it."""
    boxes = find_candidates(detection)
    if not boxes:
        return {}
    chances = load_trees("field").predict(describe_boxes(boxes, detection))
    looks = {box.rect: float(chance) for box, chance in zip(boxes, chances, strict=True)}
    return judge_boxes(boxes, detection, looks)


def find_candidates(detection: Detection) -> list[Box]:
    """Return the boxes that are as large as fields."""
    return [box for box in detection.boxes if _is_candidate(box)]


def _is_candidate(box: Box) -> bool:
    is_plain = box.control is None and not box.image and box.gradient is None
    return is_plain and _is_between(box.rect.w, _WIDTHS) and _is_between(box.rect.h, _HEIGHTS)


def _is_between(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


def describe_boxes(boxes: list[Box], detection: Detection) -> Matrix:
    """Return a row of features for each box."""
    page = _PageBoxes(detection)
    rows = [list(page.describe(box)) for box in boxes]
    return np.array(rows, np.float64) if rows else np.empty((0, 0))


class _PageBoxes:
    """What all boxes of a page are compared with."""

    def __init__(self, detection: Detection) -> None:
        self.detection = detection
        self.texts = [(text, hull(line.ink for line in text.lines)) for text in detection.texts]
        self.solid = [box for box in detection.boxes if min(box.rect.w, box.rect.h) > 6]
        self.candidates = find_candidates(detection)
        self.worded = {id(box) for box in self.candidates if self._texts_in(box)}

    def describe(self, box: Box) -> Iterator[float]:
        ground = self._ground_of(box)
        fill = _hex(box.fill) or ground
        inside = self._texts_in(box)
        yield from self._describe_shape(box)
        yield from _describe_colours(box, fill, ground)
        yield from self._describe_words(box, fill, inside)
        yield from self._describe_contents(box, inside)
        yield from self._describe_labels(box, {id(text) for text, _ in inside})
        yield from self._describe_others(box)

    def _ground_of(self, box: Box) -> str:
        around = [other for other in self.solid if other is not box and other.rect.holds(box.rect, _SLACK)]
        around = [other for other in around if other.rect.area > box.rect.area and _hex(other.fill)]
        nearest = min(around, key=lambda other: other.rect.area, default=None)
        return nearest.fill if nearest is not None else self.detection.background

    def _describe_shape(self, box: Box) -> Iterator[float]:
        rect, page = box.rect, self.detection
        yield rect.w
        yield rect.h
        yield rect.w / rect.h
        yield rect.w / page.width
        yield rect.x / page.width
        yield rect.y
        yield page.height - rect.bottom
        yield box.radius
        yield box.radius / rect.h
        yield float(box.shadow is not None)

    def _describe_words(self, box: Box, fill: str, inside: list[tuple[TextElement, Rect]]) -> Iterator[float]:
        yield float(len(inside))
        yield float(sum(len(text.text) for text, _ in inside))
        yield float(sum(len(text.lines) for text, _ in inside))
        if not inside:
            yield from (0.0,) * 21
            return
        text, ink = min(inside, key=lambda pair: (pair[1].x, pair[1].y))
        words, style = text.text, text.style
        left, right = ink.x - box.rect.x, box.rect.right - ink.right
        channels = rgb_parts(style.colour)
        yield left
        yield right
        yield right - left
        yield right / box.rect.w
        yield ink.y - box.rect.y
        yield box.rect.bottom - ink.bottom
        yield abs(ink.middle[1] - box.rect.middle[1])
        yield float(len(words))
        yield float(len(words.split()))
        yield style.size
        yield float(style.weight)
        yield float(style.italic)
        yield float(style.underline)
        yield contrast(style.colour, fill)
        yield float(max(channels) - min(channels))
        yield float(is_placeholder_grey(style.colour))
        yield float(is_prompt(words))
        yield float(words.endswith(_MARKS))
        yield sum(letter.isdigit() for letter in words) / max(len(words), 1)
        yield float(words.isupper())
        yield float("@" in words or "http" in words)

    def _describe_contents(self, box: Box, inside: list[tuple[TextElement, Rect]]) -> Iterator[float]:
        rect = box.rect
        pictures = [
            picture for picture in self.detection.pictures if picture.rect.common(rect) > _INNER * picture.rect.area
        ]
        boxes = [other for other in self.solid if other is not box and rect.holds(other.rect, _SLACK)]
        boxes = [other for other in boxes if other.rect.area < rect.area]
        edge = max((ink.right for _, ink in inside), default=rect.x)
        behind = [picture.rect for picture in pictures if picture.rect.x >= edge]
        flat = [area for area in behind if area.h <= _LOW_ARROW and area.w >= _FLAT * area.h]
        yield float(len(pictures))
        yield float(len(behind))
        yield float(any(rect.right - area.right <= 2 * _LOW_ARROW for area in flat))
        yield float(any(picture.icon in _MAGNIFIERS for picture in pictures))
        yield max((picture.rect.area / rect.area for picture in pictures), default=0.0)
        yield float(len(boxes))
        yield max((other.rect.area / rect.area for other in boxes), default=0.0)
        yield float(any(other.rect.right >= rect.right - rect.h and other.rect.h >= rect.h / 2 for other in boxes))

    def _describe_labels(self, box: Box, inside: set[int]) -> Iterator[float]:
        """Yield how near the texts above, at the left and at the right are, and whether they look like labels."""
        rect = box.rect
        outside = [(text, ink) for text, ink in self.texts if id(text) not in inside]
        above = [(rect.y - ink.bottom, text, ink) for text, ink in outside if ink.bottom <= rect.y + _SLACK]
        above = [(gap, text, ink) for gap, text, ink in above if ink.x < rect.right and ink.right > rect.x]
        level = [(text, ink) for text, ink in outside if rect.y - _SLACK <= ink.middle[1] <= rect.bottom + _SLACK]
        left = [(rect.x - ink.right, text, ink) for text, ink in level if ink.right <= rect.x + _SLACK]
        right = [(ink.x - rect.right, text, ink) for text, ink in level if ink.x >= rect.right - _SLACK]
        for side in (above, left, right):
            gap, text, ink = min(side, key=lambda near: near[0], default=(_FAR, None, rect))
            yield min(gap, _FAR)
            yield float(len(text.text)) if text is not None else 0.0
            yield float(text is not None and text.text.endswith(_MARKS))
            yield ink.x - rect.x
            yield text.style.size if text is not None else 0.0

    def _describe_others(self, box: Box) -> Iterator[float]:
        """Yield how many boxes of the page look like it, whether these have words, and where filled ones are."""
        rect = box.rect
        alike = [other for other in self.candidates if other is not box and _is_alike(box, other)]
        empty = [other for other in alike if id(other) not in self.worded]
        column = [other for other in alike if abs(other.rect.x - rect.x) <= _ALIKE]
        gaps = [max(other.rect.y - rect.bottom, rect.y - other.rect.bottom) for other in column]
        level = [other for other in self.solid if other is not box and abs(other.rect.y - rect.y) <= _ALIKE]
        beside = [other.rect.x - rect.right for other in level if other.rect.x >= rect.right - rect.h]
        filled = [other for other in self.candidates if other is not box and is_vivid(_hex(other.fill) or _WHITE)]
        below = [
            other.rect.y - rect.bottom
            for other in filled
            if 0 <= other.rect.y - rect.bottom <= _REACH and other.rect.x < rect.right and other.rect.right > rect.x
        ]
        yield float(len(alike))
        yield len(empty) / len(alike) if alike else -1.0
        yield float(len(column))
        yield float(sum(abs(other.rect.w - rect.w) <= _ALIKE for other in column))
        yield min(gaps, default=_FAR)
        yield min(beside, default=_FAR)
        yield min(below, default=_FAR)
        yield float(len(self.candidates))
        yield float(sum(is_native_frame(other) for other in self.candidates))

    def _texts_in(self, box: Box) -> list[tuple[TextElement, Rect]]:
        return [(text, ink) for text, ink in self.texts if ink.common(box.rect) > _INNER * ink.area]


def _describe_colours(box: Box, fill: str, ground: str) -> Iterator[float]:
    border = box.border
    edge = border.colour if border is not None and _hex(border.colour) else fill
    widths = border.widths if border is not None else (0.0, 0.0, 0.0, 0.0)
    channels = rgb_parts(fill)
    yield float(sum(width > 0 for width in widths))
    yield max(widths)
    yield widths[2] - widths[0]
    yield float(border is not None and border.dashed)
    yield float(is_native_frame(box))
    yield float(has_native_fill(box))
    yield contrast(edge, fill)
    yield contrast(edge, ground)
    yield float(colour_distance(fill, ground))
    yield contrast(fill, ground)
    yield float(colour_distance(fill, _WHITE))
    yield luminance(fill)
    yield luminance(ground)
    yield float(max(channels) - min(channels))
    yield float(is_vivid(fill))


def _is_alike(box: Box, other: Box) -> bool:
    same_look = box.fill == other.fill and (box.border is None) == (other.border is None)
    return same_look and abs(other.rect.h - box.rect.h) <= _ALIKE


def _hex(colour: str) -> str:
    return colour if colour.startswith("#") and len(colour) == 7 else ""
