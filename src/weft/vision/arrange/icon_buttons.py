"""Recognises buttons that show an icon alone, and labels them with what the icon means."""

import re
from dataclasses import replace

from weft.vision.elements import Part

_SIDES = (22.0, 60.0)
_SQUARE = 1.35  # times that one side may be as long as the other
_OFF_MIDDLE = 3.0
_WIDEST_GAP = 72.0  # pixels between two buttons of a bar
_LARGEST_ICON = 0.85  # of the box
_PRESSED = frozenset({"button", "input", "select", "textarea"})
_LABELS = {
    "arrow-left": "Back",
    "arrow-right": "Next",
    "bars-3": "Menu",
    "chevron-left": "Previous",
    "chevron-right": "Next",
    "ellipsis": "More",
    "ellipsis-horizontal": "More",
    "ellipsis-vertical": "More",
    "house": "Home",
    "magnifying-glass": "Search",
    "minus": "Less",
    "pencil": "Edit",
    "plus": "Add",
    "trash": "Delete",
    "x": "Close",
    "x-mark": "Close",
}
UNKNOWN = "Action"
"""The label of a button whose icon is not known."""


def mark_icon_buttons(row: Part) -> Part:
    """Turn boxes with an icon alone into buttons, if there are several in a row, or other controls beside them."""
    boxes = [child for child in row.children if _is_icon_box(child)]
    if row.kind not in ("row", "grid") or not boxes:
        return row
    beside = any(child.tag in _PRESSED for child in row.children)
    pressed = [one for one in boxes if beside or any(_is_near(one, two) for two in boxes if two is not one)]
    children = (_as_button(child) if child in pressed else child for child in row.children)
    return replace(row, children=tuple(children))


def _is_near(one: Part, two: Part) -> bool:
    """Whether two parts are as near as the buttons of a bar; plates of icons above columns are farther apart."""
    return max(two.rect.x - one.rect.right, one.rect.x - two.rect.right) <= _WIDEST_GAP


def _label_icon(name: str) -> str:
    """Return what an icon stands for, by its name in its set; empty if it has none."""
    plain = re.sub(r"(-\d+|-solid|-outline)+$", "", name)
    return _LABELS.get(name) or _LABELS.get(plain) or plain.replace("-", " ").capitalize()


def _is_icon_box(part: Part) -> bool:
    if part.box is None or part.box.control is not None or part.tag != "div" or len(part.children) != 1:
        return False
    picture = part.children[0].picture
    low, high = _SIDES
    wide, tall = part.rect.w, part.rect.h
    if picture is None or picture.kind != "icon" or min(wide, tall) < low or max(wide, tall) > high:
        return False
    if max(wide, tall) > _SQUARE * min(wide, tall) or max(picture.rect.w, picture.rect.h) > _LARGEST_ICON * tall:
        return False
    (x, y), (across, down) = part.rect.middle, picture.rect.middle
    return max(abs(x - across), abs(y - down)) <= _OFF_MIDDLE


def _as_button(part: Part) -> Part:
    picture = part.children[0].picture
    label = _label_icon(picture.icon) if picture is not None and picture.icon else ""
    attributes = (("type", "button"), ("aria-label", label or UNKNOWN))
    return replace(part, tag="button", name="icon-button", attributes=attributes)
