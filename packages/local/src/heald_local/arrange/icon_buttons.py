"""Recognises buttons that show an icon alone, with or without a box, and labels them with what the icon means."""

import re
from dataclasses import replace

from heald_local.arrange.part import Part

_SIDES = (22.0, 76.0)
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
_ACTIONS = frozenset(
    {"arrow-left", "bars-3", "bell", "bookmark", "camera", "copy", "download", "ellipsis", "ellipsis-horizontal"}
    | {"ellipsis-vertical", "eye", "filter", "heart", "info", "log-out", "magnifying-glass", "maximize", "menu", "mic"}
    | {"minus", "moon", "paper-airplane", "paperclip", "pause", "pen", "pencil", "phone", "play", "plus", "printer"}
    | {"refresh-cw", "repeat", "rotate-cw", "search", "send", "settings", "share", "shopping-bag", "shopping-cart"}
    | {"shuffle", "skip-back", "skip-forward", "smile", "sun", "thumbs-down", "thumbs-up", "trash", "upload", "user"}
    | {"video", "volume", "x", "x-mark"}
)
"""Icons that stand for something to do. Alone, apart from words, they are pressed."""
_LAST = frozenset(
    {"bell", "bookmark", "ellipsis", "ellipsis-horizontal", "ellipsis-vertical", "heart", "pencil", "share", "trash"}
    | {"menu", "bars-3", "x", "x-mark"}
)
"""Those that also end a row of words alone."""
_FIRST = frozenset({"menu", "bars-3", "arrow-left"})
"""Those that also begin one."""
_APART = 20.0  # pixels between an icon and words that it does not belong to
_BARE_SIDES = (12.0, 34.0)  # pixels of an icon without a box; a flat one such as three dots has one such side
_FEWEST_BARE = 3  # of a row: two may also show what a site has, such as a basket
_WIDEST_RAIL, _FEWEST_ON_RAIL = 88.0, 3
_CELLS = frozenset({"td", "th"})


def mark_icon_buttons(part: Part) -> Part:
    """Turn icons that stand alone into buttons: in a row in boxes or beside controls, in a cell, in a narrow column."""
    if part.kind in ("row", "grid"):
        pressed = [*_find_boxes(part), *_find_bare(part)]
    elif part.tag in _CELLS and len(part.children) == 1 and _is_action(part.children[0], _ACTIONS):
        pressed = list(part.children)
    elif _is_rail(part):
        pressed = [child for child in part.children if child.tag == "div"]
    else:
        return part
    if not pressed:
        return part
    chosen = {id(child) for child in pressed}
    return replace(part, children=tuple(_as_button(child) if id(child) in chosen else child for child in part.children))


def _find_boxes(row: Part) -> list[Part]:
    """Return the boxes with an icon alone: several near each other, beside other controls, or with something to do at
    the end of the row."""
    boxes = [child for child in row.children if _is_icon_box(child)]
    if any(child.tag in _PRESSED for child in row.children):
        return boxes
    ends = [box for box in boxes if box is row.children[-1] and _is_action(box.children[0], _ACTIONS)]
    return [
        box
        for box in boxes
        if box in ends or any(_is_near(box, neighbour) for neighbour in boxes if neighbour is not box)
    ]


def _find_bare(row: Part) -> list[Part]:
    """Return the icons without a box that are pressed: beside buttons, several of them, or at the end of the row."""
    apart = [child for number, child in enumerate(row.children) if _is_bare(child) and _is_apart(row, number)]
    actions = [child for child in apart if _is_action(child, _ACTIONS)]
    if any(child.tag == "button" or _is_icon_box(child) for child in row.children):
        return actions
    if len(actions) >= _FEWEST_BARE:
        return [child for child in apart if child in actions or child.picture is None or not child.picture.icon]
    ends = ((row.children[-1], row.children[-2:-1], _LAST), (row.children[0], row.children[1:2], _FIRST))
    return [
        icon
        for icon, beside, names in ends
        if icon in actions and _is_action(icon, names) and not any(map(_is_bare, beside))
    ]


def _is_bare(part: Part) -> bool:
    if part.picture is None or part.picture.kind != "icon" or part.tag != "div":
        return False
    low, high = _BARE_SIDES
    return low <= max(part.rect.w, part.rect.h) <= high


def _is_action(part: Part, names: frozenset[str]) -> bool:
    return _is_bare(part) and part.picture is not None and _plain_name(part.picture.icon) in names


def _is_apart(row: Part, number: int) -> bool:
    """Whether no words stand close to an icon: they would be its label, or it their decoration."""
    icon = row.children[number]
    near = [row.children[at] for at in (number - 1, number + 1) if 0 <= at < len(row.children)]
    gaps = (
        max(neighbour.rect.x - icon.rect.right, icon.rect.x - neighbour.rect.right)
        for neighbour in near
        if neighbour.text is not None
    )
    return all(gap > _APART for gap in gaps)


def _is_rail(part: Part) -> bool:
    """Whether a part is a narrow column of icons, bare or in boxes, one below the other."""
    if part.kind != "stack" or part.rect.w > _WIDEST_RAIL or len(part.children) < _FEWEST_ON_RAIL:
        return False
    middles = [child.rect.middle[0] for child in part.children]
    return max(middles) - min(middles) <= 2 * _OFF_MIDDLE and all(
        _is_bare(child) or _is_icon_box(child) for child in part.children
    )


def _is_near(first: Part, second: Part) -> bool:
    """Whether two parts are as near as the buttons of a bar; plates of icons above columns are farther apart."""
    return max(second.rect.x - first.rect.right, first.rect.x - second.rect.right) <= _WIDEST_GAP


def _label_icon(name: str) -> str:
    """Return what an icon stands for, by its name in its set; empty if it has none."""
    plain = _plain_name(name)
    return _LABELS.get(name) or _LABELS.get(plain) or plain.replace("-", " ").capitalize()


def _plain_name(name: str) -> str:
    return re.sub(r"(-\d+|-solid|-outline|-small)+$", "", name)


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
    picture = part.picture if part.picture is not None else part.children[0].picture
    label = _label_icon(picture.icon) if picture is not None and picture.icon else ""
    attributes = (("type", "button"), ("aria-label", label or UNKNOWN))
    if part.picture is not None:
        part = Part("stack", part.rect, (part,))
    return replace(part, tag="button", name="icon-button", attributes=attributes)
