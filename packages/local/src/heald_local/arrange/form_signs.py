"""Judges boxes by what forms have around their fields: labels, buttons, and other fields of the same look.

A framed box with dark words in it looks like a field that was filled in, and is more often a card, an item of a list, a
notice or a cell. A grey one below a label looks like a panel, and is a field where several stand in one column.
"""

from collections.abc import Mapping, Sequence

from heald_local.arrange.colours import is_vivid
from heald_local.arrange.native_controls import has_native_fill, is_native_frame
from heald_local.arrange.prompts import is_prompt, trails_off
from heald_pictures.colours import colour_distance, contrast
from heald_pictures.elements import Box, Detection, TextElement
from heald_pictures.rect import Rect, hull

RULED_OUT, CERTAIN = 0.0, 1.0
"""Chances of a box that is not a field whatever its words are, and of one that is a field."""
_LEAST_EMPTY, _LEAST_TINTED = 0.1, 0.3  # chances of an empty box that has nothing of a form around it
_TYPED_CONTRAST = 7.0  # of words and their box, from which on they are not a placeholder
_WHITE, _NEAR_WHITE = "#ffffff", 6.0
_SLACK, _ALIKE, _SAME_EDGE = 2.0, 3.0, 8.0  # pixels
_ABOVE, _LEFT, _LEFT_COLON = 18.0, 28.0, 220.0  # pixels from a label to its field
_LONGEST_LABEL, _LARGEST_LABEL = 60, 22.0  # letters, and pixels of type
_BESIDE, _BELOW = 24.0, 140.0  # pixels from a field to its button
_BUTTON_WORDS, _FEW_WORDS = 4, 5
_FEWEST_LABELLED = 2
_NARROWEST, _HEIGHTS, _PADDING = 120.0, (26.0, 68.0), 26.0  # pixels of a field that has no frame
_PILL_WIDE, _PILL_LONG, _ROUND = 200.0, 4.0, 0.4  # pixels, heights, and the radius in heights
_FURTHEST = 3.0  # heights of a box between it and another one of its list
_INSIDE = 0.6  # of a text that lies in a box, from which on it is inside
_BOLD = 600  # weight


def judge_boxes(boxes: Sequence[Box], detection: Detection, chances: Mapping[Rect, float]) -> dict[Rect, float]:
    """Return the chances of boxes to be fields, corrected by what is around them."""
    form = _Form(boxes, detection)
    judged = dict(chances)
    for box in boxes:
        if form.is_labelled_field(box) or form.is_empty_pill(box):
            judged[box.rect] = CERTAIN
        elif form.is_other(box, chances[box.rect]):
            judged[box.rect] = RULED_OUT
    return judged


class _Form:
    """What all boxes of a page are compared with."""

    def __init__(self, boxes: Sequence[Box], detection: Detection) -> None:
        self._boxes = boxes
        self._pictures = [picture.rect for picture in detection.pictures if picture.kind != "ground"]
        self._solid = [box for box in detection.boxes if min(box.rect.w, box.rect.h) > 6]
        inks = [(text, hull(line.ink for line in text.lines)) for text in detection.texts]
        self._texts = [(text, ink, self._innermost(ink)) for text, ink in inks]
        self._inside = {
            box.rect: [text for text, ink, _ in self._texts if ink.common(box.rect) > _INSIDE * ink.area]
            for box in self._solid
        }
        self._labelled = {box.rect for box in boxes if self._has_label(box)}

    def is_labelled_field(self, box: Box) -> bool:
        """Whether a box without a frame is one of several in a column that have a label and at most a few words."""
        if not self._may_be_filled(box):
            return False
        column = [other for other in self._boxes if other is not box and _is_column(box, other)]
        return sum(self._may_be_filled(other) for other in column) + 1 >= _FEWEST_LABELLED

    def is_empty_pill(self, box: Box) -> bool:
        """Whether a box is long, white and empty, with round ends and no frame: the search field of a start page."""
        rect = box.rect
        is_long = rect.w >= _PILL_WIDE and rect.w >= _PILL_LONG * rect.h and _HEIGHTS[0] <= rect.h <= _HEIGHTS[1]
        is_plain = box.border is None and box.fill.startswith("#") and box.radius >= _ROUND * rect.h
        if not (is_long and is_plain) or self._inside[rect] or colour_distance(box.fill, _WHITE) > _NEAR_WHITE:
            return False
        return not any(box.rect.holds(picture, _SLACK) for picture in self._pictures)

    def is_other(self, box: Box, chance: float) -> bool:
        """Whether a box is a card, an item, a notice or a picture, though it looks like a field."""
        words = self._inside[box.rect]
        if len(words) > 1 or is_native_frame(box) or any(box.rect.holds(rect, _SLACK) for rect in self._pictures):
            return False
        if not words:
            least = _LEAST_EMPTY if colour_distance(box.fill, _WHITE) <= _NEAR_WHITE else _LEAST_TINTED
            return chance < least and not self._is_backed(box) and not self._has_backed_twin(box)
        text = words[0]
        if text.style.weight >= _BOLD or not _is_typed(text, box):
            return False
        if not is_prompt(text.text) and not trails_off(text.text):
            return not (self._is_backed(box) or self._is_among_fields(box))
        if text.style.family == "mono" or _is_statement(text.text) or self._is_item(box):
            return not self._is_backed(box)
        return False

    def _may_be_filled(self, box: Box) -> bool:
        words = self._inside[box.rect]
        is_plain = box.border is None and box.rect.w >= _NARROWEST and _HEIGHTS[0] <= box.rect.h <= _HEIGHTS[1]
        if not is_plain or box.rect not in self._labelled or not box.fill.startswith("#") or is_vivid(box.fill):
            return False
        if len(words) > 1 or any(box.rect.holds(rect, _SLACK) for rect in self._pictures):
            return False
        return all(
            len(text.lines) == 1 and text.rect.x - box.rect.x <= _PADDING and len(text.text.split()) <= _FEW_WORDS
            for text in words
        )

    def _is_backed(self, box: Box) -> bool:
        """Whether a box has a label, or a button beside or below it."""
        return box.rect in self._labelled or any(self._is_button_of(other, box) for other in self._solid)

    def _has_backed_twin(self, box: Box) -> bool:
        twins = [other for other in self._boxes if other is not box and _is_alike(box, other)]
        return any(self._is_backed(other) for other in twins if _is_level(box, other) or _is_column(box, other))

    def _is_among_fields(self, box: Box) -> bool:
        """Whether a box near it looks the same and has pale words that ask for something."""
        near = [other for other in self._boxes if other is not box and _is_neighbour(box, other)]
        words = [(text, other) for other in near for text in self._inside[other.rect][:1]]
        return any(is_prompt(text.text) and not _is_typed(text, other) for text, other in words)

    def _is_item(self, box: Box) -> bool:
        """Whether a box near it looks the same and has words that ask for nothing."""
        near = [other for other in self._boxes if other is not box and _is_neighbour(box, other)]
        words = [text for other in near for text in self._inside[other.rect][:1]]
        return any(not is_prompt(text.text) for text in words)

    def _has_label(self, box: Box) -> bool:
        ground = self._innermost(box.rect, box)
        place = hull([box.rect, *(other.rect for other in self._solid if _is_before(other, box))])
        return any(_is_label(text, ink, place) for text, ink, around in self._texts if around is ground)

    def _is_button_of(self, button: Box, box: Box) -> bool:
        words = self._inside[button.rect]
        if button is box or len(words) != 1 or len(words[0].text.split()) > _BUTTON_WORDS:
            return False
        rect, field = button.rect, box.rect
        if not (has_native_fill(button) or (button.fill.startswith("#") and is_vivid(button.fill))):
            is_dark = button.fill.startswith("#") and contrast(button.fill, box.fill or _WHITE) >= _TYPED_CONTRAST
            if not is_dark:
                return False
        is_beside = abs(rect.middle[1] - field.middle[1]) <= _SAME_EDGE and rect.h <= 2 * field.h
        if is_beside and -rect.w - _SLACK <= rect.x - field.right <= _BESIDE and rect.middle[0] > field.middle[0]:
            return True
        is_below = 0 <= rect.y - field.bottom <= _BELOW and rect.x < field.right and rect.right > field.x
        return is_below and rect.w <= field.w + _SAME_EDGE and _HEIGHTS[0] <= rect.h <= _HEIGHTS[1]

    def _innermost(self, rect: Rect, without: Box | None = None) -> Box | None:
        around = [box for box in self._solid if box is not without and box.rect.holds(rect, _SLACK)]
        return min(around, key=lambda box: box.rect.area, default=None)


def _is_label(text: TextElement, ink: Rect, field: Rect) -> bool:
    """Whether a short line stands right above the left edge of a box, or beside it."""
    if len(text.text) > _LONGEST_LABEL or text.style.size > _LARGEST_LABEL:
        return False
    is_above = -_SLACK <= field.y - ink.bottom <= _ABOVE and abs(ink.x - field.x) <= _SAME_EDGE
    if is_above:
        return ink.right <= field.right + _SAME_EDGE
    room = field.x - ink.right
    is_level = abs(ink.middle[1] - field.middle[1]) <= _SAME_EDGE
    return is_level and 0 <= room <= (_LEFT_COLON if text.text.endswith((":", "*")) else _LEFT)


def _is_typed(text: TextElement, box: Box) -> bool:
    return box.fill.startswith("#") and contrast(text.style.colour, box.fill) >= _TYPED_CONTRAST


def _is_statement(words: str) -> bool:
    """Whether words are too many for a placeholder, which would trail off or ask."""
    return len(words.split()) > _FEW_WORDS and not trails_off(words) and not words.endswith("?")


def _is_before(sign: Box, box: Box) -> bool:
    """Whether a low box with a sign, such as that of a currency, adjoins the left edge of a field."""
    is_level = abs(sign.rect.y - box.rect.y) <= _SLACK and abs(sign.rect.h - box.rect.h) <= _SLACK
    return is_level and abs(sign.rect.right - box.rect.x) <= _SLACK and sign.rect.w < box.rect.w / 2


def _is_alike(box: Box, other: Box) -> bool:
    edges = [item.border.colour if item.border is not None else "" for item in (box, other)]
    return box.fill == other.fill and edges[0] == edges[1] and abs(other.rect.h - box.rect.h) <= _ALIKE


def _is_level(box: Box, other: Box) -> bool:
    return abs(other.rect.y - box.rect.y) <= _ALIKE


def _is_column(box: Box, other: Box) -> bool:
    same_edges = abs(other.rect.x - box.rect.x) <= _ALIKE and abs(other.rect.w - box.rect.w) <= _ALIKE
    return same_edges and _is_alike(box, other)


def _is_neighbour(box: Box, other: Box) -> bool:
    gap = max(other.rect.y - box.rect.bottom, box.rect.y - other.rect.bottom)
    if _is_column(box, other):
        return gap <= _FURTHEST * box.rect.h
    return _is_alike(box, other) and _is_level(box, other) and abs(other.rect.w - box.rect.w) <= _ALIKE
