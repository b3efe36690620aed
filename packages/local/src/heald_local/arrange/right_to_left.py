"""Arranges pages that are read from right to left: they are mirrored, laid out, and their styles mirrored back."""

import re
from collections.abc import Callable
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_local.page import Node, Style
from heald_pictures.elements import Align, Box, Detection, TextElement
from heald_pictures.rect import Rect
from heald_pictures.scripts import is_leftward

_SIDES: dict[Align, Align] = {"left": "right", "right": "left", "center": "center"}
_PROPERTIES = {
    "margin-left": "margin-right",
    "margin-right": "margin-left",
    "padding-left": "padding-right",
    "padding-right": "padding-left",
}
_FOUR_SIDES = frozenset({"margin", "padding", "border-width"})
_PLAIN = re.compile(r"\w+")
_SIDE = re.compile(r"\b(left|right)\b(?= \d| 0)")


def mark_directions(part: Part, leftward: bool) -> Part:
    """Give each text that does not follow the direction of its page its own."""
    if part.text is None:
        return replace(part, children=tuple(mark_directions(child, leftward) for child in part.children))
    if is_leftward(part.text.text) == leftward or (leftward and _PLAIN.fullmatch(part.text.text)):
        return part
    return replace(part, attributes=(*part.attributes, ("dir", "ltr" if leftward else "rtl")))


def mirror_detection(detection: Detection) -> Detection:
    """Mirror places, borders and alignment; what is seen inside of a picture or gradient stays."""
    width = detection.width

    def mirror(rect: Rect) -> Rect:
        return replace(rect, x=width - rect.right)

    return replace(
        detection,
        boxes=tuple(_mirror_box(box, mirror) for box in detection.boxes),
        texts=tuple(_mirror_text(text, mirror) for text in detection.texts),
        pictures=tuple(replace(picture, rect=mirror(picture.rect)) for picture in detection.pictures),
    )


def _mirror_box(box: Box, mirror: Callable[[Rect], Rect]) -> Box:
    border = box.border
    if border is not None:
        top, right, bottom, left = border.widths
        border = replace(border, widths=(top, left, bottom, right))
    return replace(box, rect=mirror(box.rect), border=border)


def _mirror_text(text: TextElement, mirror: Callable[[Rect], Rect]) -> TextElement:
    lines = tuple(replace(line, ink=mirror(line.ink), rect=mirror(line.rect)) for line in text.lines)
    align = _SIDES[text.align] if len(lines) > 1 else text.align
    return replace(text, lines=lines, rect=mirror(text.rect), align=align)


def mirror_nodes(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Mirror the styles of nodes: rows already run to the left in a page with `dir="rtl"`."""
    return tuple(
        replace(
            node,
            style=_mirror_style(node.style),
            narrow=_mirror_style(node.narrow),
            medium=_mirror_style(node.medium),
            children=mirror_nodes(node.children),
        )
        for node in nodes
    )


def _mirror_style(style: Style) -> Style:
    return tuple((_PROPERTIES.get(name, name), _mirror_value(name, value)) for name, value in style)


def _mirror_value(name: str, value: str) -> str:
    if name == "text-align":
        return {"left": "right", "right": "left"}.get(value, value)
    if name in _FOUR_SIDES and "(" not in value and len(sides := value.split(" ")) == 4:
        top, right, bottom, left = sides
        return f"{top} {left} {bottom} {right}"
    if name == "background" and "url(" in value:
        return _SIDE.sub(lambda match: "right" if match[1] == "left" else "left", value)
    return value
