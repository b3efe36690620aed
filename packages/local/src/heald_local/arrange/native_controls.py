"""Recognises controls in the default style of browsers, which has its own colours and sizes."""

from heald_local.arrange.part import Part
from heald_pictures.colours import colour_distance
from heald_pictures.elements import Box
from heald_pictures.rect import Rect

_FRAMES = ("#767676", "#858585")  # of Chromium; the second is that of radio buttons and check boxes in dark pages
_BUTTON = "#efefef"
_PLACEHOLDER = "#757575"
_NEAR = 10  # levels by which a colour may differ
_NEAR_GREY = 4  # levels for the colour of a placeholder, which is close to other greys
_GRIP = 20.0  # pixels of the corner of a text area
LOWEST_NATIVE = 15.0  # pixels of a control in small type


def is_native_frame(box: Box) -> bool:
    """Whether a box has the frame that browsers draw around fields and buttons without a style."""
    border = box.border
    return border is not None and any(colour_distance(border.colour, frame) <= _NEAR for frame in _FRAMES)


def is_native_button(box: Box) -> bool:
    return is_native_frame(box) and has_native_fill(box)


def has_native_fill(box: Box) -> bool:
    """Whether a box has the grey that browsers fill buttons and selects with."""
    return box.fill.startswith("#") and colour_distance(box.fill, _BUTTON) <= _NEAR_GREY


def is_placeholder_grey(colour: str) -> bool:
    return colour_distance(colour, _PLACEHOLDER) <= _NEAR_GREY


def without_grip(part: Part) -> tuple[Part, ...]:
    """Return the children of a text area without the mark in its corner by which it is resized."""
    corner = Rect(part.rect.right - _GRIP, part.rect.bottom - _GRIP, _GRIP, _GRIP)
    return tuple(child for child in part.children if child.picture is None or not corner.holds(child.rect))


def has_grip(part: Part) -> bool:
    """Whether a box has the mark by which a text area is resized, and at most one text beside it."""
    others = without_grip(part)
    if len(others) == len(part.children) or part.rect.h < 2 * _GRIP:
        return False
    return not others or (len(others) == 1 and others[0].text is not None)
