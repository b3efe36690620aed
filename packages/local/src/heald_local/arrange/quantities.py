"""Recognises the field for a quantity: a small frame with a number, in one row with other controls."""

from dataclasses import replace

from heald_local.arrange.part import Part
from heald_pictures.elements import TextElement

_WIDTHS, _HEIGHTS = (28.0, 120.0), (20.0, 60.0)  # pixels of the frame
_MOST_DIGITS = 3
_CONTROLS = frozenset({"button", "input", "select"})


def mark_quantity(row: Part, count: list[int]) -> Part:
    """Make the only framed number of a row with other controls a field; several numbers lead to pages."""
    if row.kind != "row" or row.tag != "div":
        return row
    numbers = [child for child in row.children if _number_in(child) is not None]
    if len(numbers) != 1 or not _is_frame(numbers[0]):
        return row
    if not any(child.tag in _CONTROLS and child is not numbers[0] for child in row.children):
        return row
    text = _number_in(numbers[0])
    assert text is not None
    count[0] += 1
    attributes = (("id", f"field-{count[0]}"), ("type", "number"), ("value", text.text))
    words = Part("text", text.rect, text=text)
    field = replace(numbers[0], tag="input", name="field", attributes=attributes, kind="stack", children=(words,))
    return replace(row, children=tuple(field if child is numbers[0] else child for child in row.children))


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
