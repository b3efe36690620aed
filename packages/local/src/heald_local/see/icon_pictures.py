"""Draws recognised icons: one clean path in the view of its set, in the colour and the width of the picture."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from heald_local.see.icon_plates import VIEW
from heald_local.see.icon_sets import Icon
from heald_local.see.icons import FoundIcon
from heald_local.see.path_data import format_number
from heald_local.see.pixel_units import LIGHTEST
from heald_pictures.colours import hex_colour
from heald_pictures.elements import Box, PictureElement, Shape, TextElement
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

WHOLE = 0.02  # pixels that a place may be off whole ones
LEAST_FILLED = 0.55  # the part of an icon's sides that its ink fills; a flat one keeps its own size
BRANDS = "simple-icons"
HasRoom = Callable[[Rect, Rect], bool]
_FIRST = re.compile(r"\s*m\s*(-?\d*\.?\d+)[\s,]*(-?\d*\.?\d+)[\s,]*(.*)", re.DOTALL)


def draw_picture(
    picture: PictureElement, match: FoundIcon, ground: Pixels, ratio: int, has_room: HasRoom | None
) -> PictureElement:
    """Return a picture with the path of its icon. It gets the place of the whole view if there is room for it."""
    icon, rect = match.icon, picture.rect
    size = match.size / ratio
    frame = Rect(int(rect.x) + match.left / ratio, int(rect.y) + match.top / ratio, size, size)
    whole = all(abs(value - round(value)) < WHOLE for value in (frame.x, frame.y, size))
    full = min(rect.w, rect.h) >= LEAST_FILLED * size
    if whole and full and has_room is not None and has_room(rect, frame):
        rect = frame
    unit = icon.view / size
    view = ((rect.x - frame.x) * unit, (rect.y - frame.y) * unit, rect.w * unit, rect.h * unit)
    paper = np.median(ground, axis=(0, 1))
    return replace(
        picture,
        rect=rect,
        icon=icon.name,
        label=icon.label if icon.set == BRANDS else "",
        view=" ".join(format_number(value) for value in view),
        paint=_paint(icon, match.width),
        shapes=(Shape("path", _path_attributes(icon)),),
        colour=hex_colour(np.clip(paper + match.change, 0, LIGHTEST)),
    )


def find_room(
    boxes: Sequence[Box], texts: Sequence[TextElement], pictures: Sequence[PictureElement], page: Pixels
) -> HasRoom:
    """Return whether a rectangle can grow: in the same boxes, and over nothing that it does not lie on already."""
    others = [*(line.ink for text in texts for line in text.lines), *(picture.rect for picture in pictures)]
    places = [box.rect for box in boxes]
    whole = Rect(0, 0, page.shape[1], page.shape[0])

    def has_room(rect: Rect, wide: Rect) -> bool:
        if not whole.holds(wide) or any(other != rect and other.common(wide) > other.common(rect) for other in others):
            return False
        return all(place.holds(wide) if place.holds(rect) else not place.common(wide) for place in places)

    return has_room


def _paint(icon: Icon, width: float) -> tuple[tuple[str, str], ...]:
    if icon.kind == "fill":
        return (("fill", "currentColor"),)
    return (
        ("fill", "none" if icon.kind == "stroke" else "currentColor"),
        ("stroke", "currentColor"),
        ("stroke-width", format_number(width * icon.view / VIEW)),
        ("stroke-linecap", "round"),
        ("stroke-linejoin", "round"),
    )


def _path_attributes(icon: Icon) -> tuple[tuple[str, str], ...]:
    evenodd = any(name == "fill-rule" for _, attributes in icon.shapes for name, _ in attributes)
    rule = (("fill-rule", "evenodd"),) if evenodd else ()
    return (*rule, ("d", "".join(write_path(tag, dict(attributes)) for tag, attributes in icon.shapes)))


def write_path(tag: str, attributes: Mapping[str, str]) -> str:
    """Write a shape as the data of a path that can follow another one."""
    if tag == "path":
        return _begin_absolutely(attributes["d"])
    if tag in ("polyline", "polygon"):
        return f"M{attributes['points'].strip()}{'z' if tag == 'polygon' else ''}"
    number = {name: float(value) for name, value in attributes.items()}
    if tag == "line":
        return _join("M", number["x1"], number["y1"]) + _join("L", number["x2"], number["y2"])
    if tag == "rect":
        return _write_rect(number)
    across, down = number.get("r", number.get("rx", 0.0)), number.get("r", number.get("ry", 0.0))
    half = _join("a", across, down, 0, 1, 0)
    start = _join("M", number["cx"] - across, number["cy"])
    return f"{start}{half} {_join('', 2 * across, 0)}{half} {_join('', -2 * across, 0)}z"


def _write_rect(number: Mapping[str, float]) -> str:
    x, y, w, h = (number.get(name, 0.0) for name in ("x", "y", "width", "height"))
    bend = min(number.get("rx", number.get("ry", 0.0)), w / 2, h / 2)
    if not bend:
        return f"{_join('M', x, y)}{_join('h', w)}{_join('v', h)}{_join('h', -w)}z"
    sides = (("h", w - 2 * bend, bend, bend), ("v", h - 2 * bend, -bend, bend), ("h", 2 * bend - w, -bend, -bend))
    last = ("v", 2 * bend - h, bend, -bend)
    drawn = (_join(side, reach) + _join("a", bend, bend, 0, 0, 1, u, v) for side, reach, u, v in (*sides, last))
    return _join("M", x + bend, y) + "".join(drawn) + "z"


def _begin_absolutely(data: str) -> str:
    """Write the first move of a path with its place: a small m is relative to what stands before it."""
    first_move = _FIRST.fullmatch(data)
    if first_move is None:
        return data.strip()
    x, y, rest = first_move.groups()
    follows = "l" if re.match(r"[-\d.]", rest) else ""
    return f"M{x} {y}{follows}{rest.strip()}"


def _join(command: str, *values: float) -> str:
    return command + " ".join(format_number(value) for value in values)
