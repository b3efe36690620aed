"""Elements that hold no others: texts, pictures, lines, fields. The sheets are what their parent said of them."""

from weft.vision.fonts import STACKS
from weft.vision.page import Node, Part
from weft.vision.seen import Box, Family, Text
from weft.vision.sheet import Sheet, length, paint_box
from weft.vision.wrapping import broken


def text_node(part: Part, text: Text, family: Family, sheet: Sheet, slim: Sheet) -> Node:
    """A text in its style; the family is the one that it would have anyhow."""
    style = text.style
    if style.family != family:
        sheet["font-family"] = STACKS[style.family]
    sheet["font-size"] = f"{style.size:g}px"
    sheet["line-height"] = length(part.rect.h / len(text.lines))
    if style.weight != 400:
        sheet["font-weight"] = str(style.weight)
    if style.italic:
        sheet["font-style"] = "italic"
    if style.spacing:
        sheet["letter-spacing"] = f"{style.spacing:g}px"
    if style.underline:
        sheet["text-decoration"] = "underline"
    sheet["color"] = style.colour
    if ("dir", "rtl") in part.attributes:
        sheet.setdefault("text-align", text.align)
    if len(text.lines) == 1:
        sheet["white-space"] = "nowrap"
        slim["white-space"] = "normal"
        return Node(part.tag, part.name, sheet.done(), slim.done(), part.attributes, (text.lines[0].text,))
    return Node(part.tag, part.name, sheet.done(), slim.done(), part.attributes, broken(text))


def picture_node(part: Part, sheet: Sheet, slim: Sheet) -> Node:
    """A picture with its size as attributes, so that nothing moves when it comes."""
    size = (("width", f"{part.rect.w:g}"), ("height", f"{part.rect.h:g}"))
    if sheet.get("align-self") == "flex-start":
        del sheet["align-self"]
    sheet.pop("max-width", None)
    if any(not value.isdigit() for _, value in size):
        sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
        size = ()
    return Node(part.tag, part.name, sheet.done(), slim.done(), (*part.attributes, *size))


def rule_node(part: Part, box: Box, sheet: Sheet, slim: Sheet) -> Node:
    """A line between two things."""
    sheet["background"] = box.fill
    if part.rect.w >= part.rect.h:
        sheet["height"] = length(part.rect.h)
        sheet.setdefault("width", "100%" if sheet.get("align-self") == "stretch" else length(part.rect.w))
        sheet["max-width"] = "100%"
    else:
        sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
        sheet["flex"] = "none"
    return Node(part.tag, part.name or "rule", sheet.done(), slim.done(), part.attributes)


def field_node(part: Part, box: Box, sheet: Sheet, slim: Sheet) -> Node:
    """A field, a tick box or a choice from a list."""
    paint_box(box, sheet)
    sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
    text = next((child.text for child in part.children if child.text is not None), None)
    if part.tag == "select" or (text is None and part.name != "field"):
        sheet["appearance"] = "none"
    if text is None:
        return Node(part.tag, part.name, sheet.done(), slim.done(), part.attributes)
    edge = box.border.widths[3] if box.border is not None else 0.0
    sheet["padding"] = f"0 {length(max(text.rect.x - part.rect.x - edge, 0))}"
    sheet["font"] = f"{text.style.size:g}px {STACKS[text.style.family]}"
    if text.style.weight != 400:
        sheet["font-weight"] = str(text.style.weight)
    sheet["color"] = text.style.colour
    _icons(part, box, sheet)
    options = (Node("option", "", lines=(text.lines[0].text,)),) if part.tag == "select" else ()
    return Node(part.tag, part.name, sheet.done(), slim.done(), part.attributes, (), options)


def _icons(part: Part, box: Box, sheet: Sheet) -> None:
    """A magnifier before the text or an arrow behind it stays where it is, as background."""
    edges = box.border.widths if box.border is not None else (0.0, 0.0, 0.0, 0.0)
    layers: list[str] = []
    for picture in (child.picture for child in part.children if child.picture is not None):
        top = length(max(picture.rect.y - part.rect.y - edges[0], 0))
        left, right = picture.rect.x - part.rect.x - edges[3], part.rect.right - edges[1] - picture.rect.right
        across = f"left {length(max(left, 0))}" if left < right else f"right {length(max(right, 0))}"
        size = f"{length(picture.rect.w)} {length(picture.rect.h)}"
        layers.append(f"url(assets/{picture.name}.png) {across} top {top} / {size} no-repeat")
    if layers:
        sheet["background"] = ", ".join([*layers, box.fill])
