"""Describes a frame of Figma in words: its texts, fonts and colours."""

from collections.abc import Iterator

from heald.core.json import JsonObject, as_object, as_objects

_MAX_OUTLINE = 24_000  # characters
_MAX_DEPTH = 200


def describe_node(document: JsonObject) -> str:
    """Describe a node and all below it in lines: what it is, its place and size, its fill, its text and font."""
    origin = as_object(document.get("absoluteBoundingBox"))
    lines: list[str] = []
    room = _MAX_OUTLINE
    for depth, node in walk_nodes(document):
        line = f"{'  ' * min(depth, 12)}- {_describe(node, origin)}"
        room -= len(line) + 1
        if room < 0:
            lines.append("- (more is left out)")
            break
        lines.append(line)
    return "\n".join(lines)


def walk_nodes(node: JsonObject, depth: int = 0) -> Iterator[tuple[int, JsonObject]]:
    """Yield the visible nodes of a tree, each before its children."""
    stack = [(depth, node)]
    while stack:
        at, current = stack.pop()
        if current.get("visible") is False or at > _MAX_DEPTH:
            continue
        yield at, current
        stack += [(at + 1, child) for child in reversed(as_objects(current.get("children")))]


def _describe(node: JsonObject, origin: JsonObject) -> str:
    kind = str(node.get("type") or "node").lower().replace("_", " ")
    parts = [f"{kind} “{shorten(node.get('name'))}”"]
    box = as_object(node.get("absoluteBoundingBox"))
    if box:
        x, y = (_number(box.get(key)) - _number(origin.get(key)) for key in ("x", "y"))
        parts.append(f"{x:g}, {y:g}, {_number(box.get('width')):g} × {_number(box.get('height')):g} px")
    if text := node.get("characters"):
        parts.append(f"text “{shorten(text, 400)}”")
    style = as_object(node.get("style"))
    if style:
        family, weight = style.get("fontFamily") or "font", _number(style.get("fontWeight"))
        font = f"{family} {weight:g} {_number(style.get('fontSize')):g} px"
        line = _number(style.get("lineHeightPx"))
        parts.append(font + (f", line {line:g} px" if line else ""))
    if colours := [colour for paint in as_objects(node.get("fills")) if (colour := _colour(paint))]:
        parts.append(("colour " if node.get("characters") else "fill ") + ", ".join(colours[:3]))
    if borders := [colour for paint in as_objects(node.get("strokes")) if (colour := _colour(paint))]:
        parts.append(f"border {_number(node.get('strokeWeight')):g} px {borders[0]}")
    if radius := _number(node.get("cornerRadius")):
        parts.append(f"radius {radius:g} px")
    if node.get("layoutMode") in ("HORIZONTAL", "VERTICAL"):
        parts.append(f"{str(node['layoutMode']).lower()} layout, gap {_number(node.get('itemSpacing')):g} px")
    return ", ".join(parts)


def _colour(paint: JsonObject) -> str:
    if paint.get("visible") is False:
        return ""
    if paint.get("type") == "IMAGE":
        return "a picture"
    colour = as_object(paint.get("color"))
    if not colour:
        stops = [as_object(stop.get("color")) for stop in as_objects(paint.get("gradientStops"))]
        return "gradient " + " to ".join(_hex(stop) for stop in stops[:4]) if stops else ""
    alpha = _number(colour.get("a"), 1.0) * _number(paint.get("opacity"), 1.0)
    return _hex(colour) + (f" at {alpha:.0%}" if alpha < 0.995 else "")


def _hex(colour: JsonObject) -> str:
    return "#" + "".join(f"{max(0, min(255, round(_number(colour.get(part)) * 255))):02x}" for part in "rgb")


def shorten(text: object, most: int = 80) -> str:
    words = " ".join(str(text or "").split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _number(value: object, default: float = 0.0) -> float:
    return round(float(value), 2) if isinstance(value, int | float) and not isinstance(value, bool) else default
