"""Recognises the field for a quantity: a small frame with a number, in one row with other controls or below a label."""

import itertools
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_pictures.elements import TextElement

_WIDTHS, _HEIGHTS = (28.0, 120.0), (20.0, 60.0)  # pixels of the frame
_MOST_DIGITS = 3
_LABEL_ABOVE, _SAME_EDGE, _LONGEST_LABEL = 8.0, 6.0, 40  # pixels from a label to its frame, and letters
_WIDER = 3  # times as wide as the frame of a number is the button beside it
_CONTROLS = frozenset({"button", "input", "select"})


def mark_quantity(row: Part, count: list[int]) -> Part:
    """Make the only framed number of a row with other controls a field, and framed numbers below their labels.

    Several numbers in a row lead to pages.
    """
    if row.kind == "stack" and row.tag == "div":
        return _mark_below_labels(row, count)
    if row.kind != "row" or row.tag != "div":
        return row
    numbers = [child for child in row.children if _number_in(child) is not None]
    if len(numbers) != 1 or not _is_frame(numbers[0]):
        return row
    if not any(_is_partner(child, numbers[0]) for child in row.children if child is not numbers[0]):
        return row
    field = _field(numbers[0], count)
    return replace(row, children=tuple(field if child is numbers[0] else child for child in row.children))


def _is_partner(part: Part, number: Part) -> bool:
    """Whether a part is a control, or a wide box in the same frame as a number, such as the button to order it."""
    if part.tag in _CONTROLS:
        return True
    if part.box is None or number.box is None or part.box.border != number.box.border or not part.children:
        return False
    return abs(part.rect.h - number.rect.h) <= 1 and part.rect.w >= _WIDER * number.rect.w


def _mark_below_labels(stack: Part, count: list[int]) -> Part:
    children = list(stack.children)
    for number, (above, below) in enumerate(itertools.pairwise(stack.children)):
        if _number_in(below) is not None and _is_frame(below) and _is_at_left(below) and _is_label(above, below):
            children[number + 1] = field = _field(below, count)
            target = (("for", dict(field.attributes)["id"]),)
            children[number] = replace(above, tag="label", name="label", attributes=target)
    return replace(stack, children=tuple(children)) if tuple(children) != stack.children else stack


def _field(frame: Part, count: list[int]) -> Part:
    text = _number_in(frame)
    assert text is not None
    count[0] += 1
    attributes = (("id", f"field-{count[0]}"), ("type", "number"), ("value", text.text))
    words = Part("text", text.rect, text=text)
    return replace(frame, tag="input", name="field", attributes=attributes, kind="stack", children=(words,))


def _is_label(part: Part, below: Part) -> bool:
    if part.text is None or part.tag != "div" or len(part.text.lines) > 1 or len(part.text.text) > _LONGEST_LABEL:
        return False
    is_near = -2 <= below.rect.y - part.rect.bottom <= _LABEL_ABOVE
    has_letters = any(letter.isalpha() for letter in part.text.text)
    return is_near and has_letters and abs(part.rect.x - below.rect.x) <= _SAME_EDGE


def _is_at_left(frame: Part) -> bool:
    """Whether a number stands at the left of its frame, as it does in a field; in a button it is in the middle."""
    text = _number_in(frame)
    return text is not None and text.rect.x - frame.rect.x + _SAME_EDGE < frame.rect.right - text.rect.right


def _number_in(part: Part) -> TextElement | None:
    """Return the number that is all that a part shows."""
    if part.tag not in ("div", "button"):
        return None
    text = part.text if part.text is not None else part.children[0].text if len(part.children) == 1 else None
    return text if text is not None and text.text.isdigit() and len(text.text) <= _MOST_DIGITS else None


def _is_frame(part: Part) -> bool:
    if part.box is None or part.box.border is None or not all(part.box.border.widths):
        return False
    return _WIDTHS[0] <= part.rect.w <= _WIDTHS[1] and _HEIGHTS[0] <= part.rect.h <= _HEIGHTS[1]
