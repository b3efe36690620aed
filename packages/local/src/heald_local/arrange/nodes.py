"""Builds nodes for leaves, and simplifies and evens out nodes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from heald_local.arrange.code_blocks import code_node
from heald_local.arrange.part import Part
from heald_local.arrange.phrases import code_room, is_code, run_spaces, run_tag
from heald_local.page import Node, Style
from heald_local.see.paragraphs import wrapped_lines
from heald_pictures.colours import contrast
from heald_pictures.elements import Box, Control, Family, Shape, TextElement, TextStyle
from heald_pictures.fonts import FONT_STACKS, face

_LEAST_CONTRAST = 3.0  # of a link and the words around it, which WCAG 2 asks for where nothing else marks it


class Declarations(dict[str, str]):
    """CSS declarations of a node under construction; those for narrow screens have some for medium ones beside them."""

    def __init__(self, declared: Mapping[str, str] | None = None) -> None:
        super().__init__(declared or {})
        self.medium: dict[str, str] = {}

    def set_px(self, name: str, value: float) -> None:
        if abs(value) >= 0.3:
            self[name] = length(value)

    def finish(self) -> Style:
        """Return all declarations that differ from the default."""
        return tuple(entry for entry in self.items() if entry != ("align-self", "stretch"))


def make_node(
    part: Part,
    name: str,
    sheet: Declarations,
    slim: Declarations,
    attributes: Style = (),
    lines: tuple[str, ...] = (),
    children: tuple[Node, ...] = (),
) -> Node:
    """Make the node of a part with the declarations of all screens."""
    medium = tuple(slim.medium.items())
    return Node(part.tag, name, sheet.finish(), slim.finish(), attributes, lines, children, medium, part.rect.h)


def length(value: float) -> str:
    """Format pixels for CSS, rounded where a quarter does not matter."""
    rounded = round(value) if abs(value - round(value)) < 0.26 else round(value, 1)
    return "0" if not rounded else f"{rounded:g}px"


def paint_box(box: Box, sheet: Declarations) -> None:
    if box.image:
        sheet["background"] = f"{box.fill} url(assets/{box.image}.png) center / cover no-repeat"
    elif box.gradient is not None:
        sheet["background"] = box.gradient.css
    else:
        sheet["background"] = box.fill
    paint_frame(box, sheet)
    if box.radius >= 1:
        sheet["border-radius"] = length(box.radius)
    if box.shadow is not None:
        shadow = box.shadow
        sheet["box-shadow"] = (
            f"{length(shadow.x)} {length(shadow.y)} {length(shadow.blur)} rgb(0 0 0 / {shadow.alpha:g})"
        )


def paint_frame(box: Box, sheet: Declarations) -> None:
    """Paint the border alone."""
    if box.border is None:
        return
    widths, colour = box.border.widths, box.border.colour
    if len(set(widths)) == 1:
        sheet["border"] = f"{length(widths[0])} {'dashed' if box.border.dashed else 'solid'} {colour}"
        return
    sheet["border"] = f"0 solid {colour}"
    sheet["border-width"] = " ".join(length(width) for width in widths)


_UNEVEN = 0.1  # pixels between letters by which the lines of a text differ, such as where one has two spaces in a row
_SLIP = 1.5  # pixels by which a snapped line may be longer or shorter
_BAR = 6.0  # widths of a box without content, in heights, from which on it is a bar
_ROOMY = 0.92  # of its room, up to which a line is sure not to wrap with other fonts
_LARGE, _LEAST_LARGE = 36.0, 28  # a text of this size shrinks on a narrow screen, to the second


def text_node(
    part: Part, text: TextElement, family: Family, sheet: Declarations, slim: Declarations, room: float = 0.0
) -> Node:
    """Make the node of a text; its font family is omitted if it is inherited.

    `room` is the width that it may have. A line that nearly fills it stays on one line at the page's own width.
    """
    style = text.style
    if style.family != family:
        sheet["font-family"] = FONT_STACKS[style.family]
    sheet["font-size"] = f"{style.size:g}px"
    sheet["line-height"] = length(part.rect.h / len(text.lines))
    if style.weight != 400:
        sheet["font-weight"] = str(style.weight)
    if style.italic:
        sheet["font-style"] = "italic"
    spacing = _snap_spacing(_fitting_spacing(text), max(len(line.text) for line in text.lines))
    if spacing:
        sheet["letter-spacing"] = f"{spacing:g}px"
    if style.underline:
        sheet["text-decoration"] = "underline"
    sheet["color"] = style.colour
    if any(name == "dir" for name, _ in part.attributes):
        sheet.setdefault("text-align", text.align)
    if part.tag == "pre":
        return code_node(part, text, sheet.finish())
    if style.size >= _LARGE:
        slim.medium["font-size"] = f"clamp({_LEAST_LARGE}px, {style.size / 10:.3g}vw, {style.size:g}px)"
        slim["font-size"] = f"clamp({_LEAST_LARGE}px, 9vw, {style.size:g}px)"
        slim["line-height"] = f"{min(max(part.rect.h / len(text.lines) / style.size, 1.2), 1.5):.2g}"
    if len(text.lines) == 1 and part.rect.w > _ROOMY * room:
        sheet["white-space"] = "nowrap"
        slim["white-space"] = "normal"
    if part.children:
        return make_node(part, part.name, sheet, slim, part.attributes, (), _run_nodes(part, style))
    node = make_node(part, part.name, sheet, slim, part.attributes, wrapped_lines(text))
    return node if part.tag in ("a", "p") else _link_inside(node)


def _link_inside(node: Node) -> Node:
    """Put the words of a heading that leads somewhere into a link."""
    attributes = tuple(pair for pair in node.attributes if pair[0] != "href")
    if attributes == node.attributes:
        return node
    link = Node("a", "link", attributes=(("href", "#"),), lines=node.lines)
    return replace(node, attributes=attributes, lines=(), children=(link,))


def _fitting_spacing(text: TextElement) -> float:
    """Return the spacing of a text; less of it where a line whose own is smaller would not fit any more."""
    if len(text.lines) == 1:
        return text.style.spacing
    widest = max(line.rect.w for line in text.lines)
    fitting = (line.style.spacing + (widest - line.rect.w) / max(len(line.text), 1) for line in text.lines)
    least = min(fitting)
    return least if text.style.spacing - least > _UNEVEN else text.style.spacing


def _snap_spacing(spacing: float, letters: int) -> float:
    """Return the nearest quarter of a pixel, if that moves the end of the line by little."""
    near = round(4 * spacing) / 4
    return near if abs(near - spacing) * letters <= _SLIP else spacing


def _run_nodes(part: Part, base: TextStyle) -> tuple[Node, ...]:
    """Make the nodes within a sentence: plain words have no tag, others an inline one with what differs."""
    nodes: list[Node] = []
    texts = [None, *(child.text for child in part.children), None]
    for at, (space, child) in enumerate(zip(run_spaces(part), part.children, strict=True)):
        assert child.text is not None
        style = child.text.style
        tag = "a" if child.tag == "a" else run_tag(style, base)
        sheet = Declarations()
        if tag and is_code(style) and not is_code(base):
            size = style.size + style.spacing / face(style.family).advance("0")  # its letters are equally wide
            sheet["font-family"], sheet["font-size"] = FONT_STACKS[style.family], f"{round(size, 1):g}px"
            sheet["line-height"] = "1"
            before, after = code_room(texts[at], child.text, texts[at + 2])
            if max(before, after) >= 1:
                right, left = length(after), length(before)
                sheet["padding"] = f"0 {right}" if right == left else f"0 {right} 0 {left}"
        if tag and style.colour != base.colour:
            sheet["color"] = style.colour
        if tag and style.weight != base.weight:
            sheet["font-weight"] = str(style.weight)
        if tag and style.italic != base.italic:
            sheet["font-style"] = "italic" if style.italic else "normal"
        is_faint = tag == "a" and contrast(style.colour, base.colour) < _LEAST_CONTRAST  # a link that few would see
        if tag and (style.underline or is_faint) and not base.underline:
            sheet["text-decoration"] = "underline"
        if space:
            nodes.append(Node("", "", lines=(space,)))
        href = (("href", "#"),) if tag == "a" else ()
        name = {"a": "link", "span": "note"}.get(tag, tag)
        nodes.append(Node(tag, name, sheet.finish(), (), href, (child.text.text,)))
    return tuple(nodes)


def picture_node(part: Part, sheet: Declarations, slim: Declarations) -> Node:
    """Make the node of a picture, with its size as attributes, so that nothing moves when it loads."""
    size = (("width", f"{part.rect.w:g}"), ("height", f"{part.rect.h:g}"))
    if sheet.get("align-self") == "flex-start":
        del sheet["align-self"]
    if sheet.get("max-width") == "100%":
        del sheet["max-width"]
    if any(not value.isdigit() for _, value in size):
        sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
        size = ()
    picture = part.picture
    if picture is None or part.tag != "svg":
        return make_node(part, part.name, sheet, slim, (*part.attributes, *size))
    if picture.colour:
        sheet["color"] = picture.colour
    view = ("viewBox", picture.view_box)
    drawn = tuple(_shape_node(shape) for shape in picture.shapes)
    attributes = (view, *size, *picture.paint, *part.attributes)
    return make_node(part, part.name, sheet, slim, attributes, (), drawn)


def _shape_node(shape: Shape) -> Node:
    inside = tuple(_shape_node(child) for child in shape.children)
    return Node(shape.tag, "", (), (), shape.attributes, (shape.text,) if shape.text else (), inside)


def rule_node(part: Part, box: Box, sheet: Declarations, slim: Declarations) -> Node:
    sheet["background"] = box.fill
    if part.rect.w >= part.rect.h:
        sheet["height"] = length(part.rect.h)
        sheet.setdefault("width", "100%" if sheet.get("align-self") == "stretch" else length(part.rect.w))
        sheet.setdefault("max-width", "100%")
    else:
        sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
        sheet["flex"] = "none"
    return make_node(replace(part, tag=_line_tag(part)), part.name or "rule", sheet, slim, part.attributes)


def block_node(part: Part, box: Box | None, sheet: Declarations, slim: Declarations) -> Node:
    """Make the node of a box without content: a bar is a line, a plain area is a drawing."""
    sheet["height"] = length(part.rect.h)
    sheet.setdefault("width", length(part.rect.w))
    is_bar = part.rect.w >= _BAR * part.rect.h or sheet.get("align-self") == "stretch"
    is_plain = box is not None and box.gradient is None and not box.image
    if part.tag == "div" and is_plain and not is_bar and "url(" not in sheet["width"]:
        sheet["color"] = sheet.pop("background")
        area = Node("rect", "", (), (), (("width", "100%"), ("height", "100%"), ("fill", "currentColor")))
        sheet["overflow"] = "hidden"
        attributes = (*part.attributes, ("aria-hidden", "true"))
        return make_node(replace(part, tag="svg"), part.name or "block", sheet, slim, attributes, (), (area,))
    return make_node(replace(part, tag=_line_tag(part)), part.name or "block", sheet, slim, part.attributes)


def _line_tag(part: Part) -> str:
    return "hr" if part.tag == "div" else part.tag


_CHOICE_PADDING = 2.0  # pixels that browsers leave before the choices of a list box


def field_node(part: Part, box: Box, sheet: Declarations, slim: Declarations) -> Node:
    """Make the node of a field, a check box or a select."""
    if box.control is not None:
        return _state_node(part, box.control, sheet, slim)
    paint_box(box, sheet)
    sheet.setdefault("border", "0")
    sheet["width"], sheet["height"] = length(part.rect.w), length(part.rect.h)
    text = next((child.text for child in part.children if child.text is not None), None)
    if part.tag == "textarea":
        sheet["resize"] = "vertical"
    if part.tag == "select" or (text is None and part.name not in ("field", "area")):
        sheet["appearance"] = "none"
    if text is None:
        return make_node(part, part.name, sheet, slim, part.attributes)
    edge = box.border.widths[3] if box.border is not None else 0.0
    above = length(max(text.rect.y - part.rect.y - edge, 0)) if part.tag == "textarea" else "0"
    browser_padding = _CHOICE_PADDING if _is_list_box(part) else 0.0
    sheet["padding"] = f"{above} {length(max(text.rect.x - part.rect.x - edge - browser_padding, 0))}"
    sheet["font"] = f"{text.style.size:g}px {FONT_STACKS[text.style.family]}"
    if text.style.weight != 400:
        sheet["font-weight"] = str(text.style.weight)
    sheet["color"] = text.style.colour
    _icons(part, box, sheet)
    options = _options(part, text) if part.tag == "select" else ()
    return make_node(part, part.name, sheet, slim, part.attributes, (), options)


def _options(part: Part, text: TextElement) -> tuple[Node, ...]:
    """Return the choices of a select: all that a list box shows, or the chosen one."""
    is_list = _is_list_box(part)
    texts = [child.text for child in part.children if child.text is not None] if is_list else [text]
    lines = [line for choice in texts for line in choice.lines]
    return tuple(Node("option", "", lines=(line.text,)) for line in (lines if is_list else lines[:1]))


def _is_list_box(part: Part) -> bool:
    return any(name == "multiple" for name, _ in part.attributes)


def _state_node(part: Part, control: Control, sheet: Declarations, slim: Declarations) -> Node:
    """Make the node of a control with a state: the browser's own in its colour, a switch from its knob and track."""
    wide, high = part.rect.w, part.rect.h
    sheet["width"], sheet["height"] = length(wide), length(high)
    if control.kind == "switch":
        middle = wide - high / 2 if control.on else high / 2
        knob = (
            f"circle at {length(middle)} 50%, {control.knob} {length(0.4 * high)}, transparent {length(0.4 * high + 1)}"
        )
        sheet["appearance"], sheet["border-radius"] = "none", length(high / 2)
        sheet["background"] = f"radial-gradient({knob}), {control.colour}"
    elif control.on or control.kind == "slider":
        sheet["accent-color"] = control.colour
    return make_node(part, part.name, sheet, slim, part.attributes)


def _icons(part: Part, box: Box, sheet: Declarations) -> None:
    """Show a magnifier before the text, or an arrow behind it, as background."""
    edges = box.border.widths if box.border is not None else (0.0, 0.0, 0.0, 0.0)
    layers: list[str] = []
    for picture in (child.picture for child in part.children if child.picture is not None):
        top = length(max(picture.rect.y - part.rect.y - edges[0], 0))
        left, right = picture.rect.x - part.rect.x - edges[3], part.rect.right - edges[1] - picture.rect.right
        across = f"left {length(max(left, 0))}" if left < right else f"right {length(max(right, 0))}"
        size = f"{length(picture.rect.w)} {length(picture.rect.h)}"
        layers.append(f"url({picture.path}) {across} top {top} / {size} no-repeat")
    if layers:
        sheet["background"] = ", ".join([*layers, box.fill])


_WRAPPERS = frozenset({"div", "button", "li", "a"})
_TEXTS = frozenset({"p", "span"})
_OWN = frozenset({"width", "max-width", "align-self", "margin-top", "margin-left", "margin-right", "position", "flex"})
"""Properties of a text that must not move to its wrapper."""
_CAPTION = 32  # letters
_SHORT = 400.0  # letters by their size: about 200 pixels
_WIDEST_CAPTION = 300.0
_FLOW = (("display", "flex"), ("flex-direction", "column"))


def is_caption(part: Part) -> bool:
    """Whether a part is a short text in a box of its own, such as a badge; it never wraps."""
    if part.box is None or len(part.children) != 1 or part.rect.w > _WIDEST_CAPTION:
        return False
    text = part.children[0].text
    return text is not None and len(text.lines) == 1 and len(text.text) <= _CAPTION


def simplify_node(node: Node) -> Node:
    """Drop an element that only wraps one text: a button, a badge, a cell."""
    if len(node.children) != 1 or node.tag not in _WRAPPERS or not set(_FLOW) <= set(node.style):
        return node
    (child,) = node.children
    if child.tag not in _TEXTS or child.children or any(name in _OWN for name, _ in child.style):
        return node
    style = {name: value for name, value in node.style if (name, value) not in _FLOW and name != "gap"}
    named = node.name if node.name not in ("stack", "block") else child.name
    narrow = {**dict(node.narrow), **dict(child.narrow)}
    is_label = "background" in style and len(child.lines) == 1 and len(child.lines[0]) <= _CAPTION
    if (node.tag == "button" or is_label) and _is_short(child):
        narrow.pop("white-space", None)
    return replace(
        node,
        tag=child.tag if node.tag == "div" else node.tag,
        name=named,
        style=tuple({**style, **dict(child.style)}.items()),
        narrow=tuple(narrow.items()),
        medium=tuple({**dict(node.medium), **dict(child.medium)}.items()),
        attributes=(*node.attributes, *child.attributes),
        lines=child.lines,
        children=(),
    )


def _is_short(node: Node) -> bool:
    """Whether a line fits the narrowest screen, also in another font, so that it need not wrap there."""
    size = float(dict(node.style).get("font-size", "16px").removesuffix("px"))
    return sum(map(len, node.lines)) * size <= _SHORT


_LENGTH = re.compile(r"-?\d+(?:\.\d+)?")
_SLIGHT = 0.5  # pixels

Sides = tuple[float, float, float, float]


def even_paddings(cards: Sequence[Node], stretched: bool) -> list[Node]:
    """Give cards one padding where theirs is nearly the same; the bottom may differ if they stretch."""
    paddings = [_padding_sides(card) for card in cards]
    readable = [sides for sides in paddings if sides is not None]
    if len(readable) < 2 or len(readable) != len(cards) or any(card.lines for card in cards):
        return list(cards)
    tops, rights, bottoms, lefts = zip(*readable, strict=True)
    even = [
        _common_value(tops),
        _common_value(rights),
        min(bottoms) if stretched else _common_value(bottoms),
        _common_value(lefts),
    ]
    if any(side is None for side in even):
        return list(cards)
    text = _padding([length(side) for side in even if side is not None])
    return [
        replace(card, style=tuple((name, text if name == "padding" else value) for name, value in card.style))
        for card in cards
    ]


def _common_value(values: Sequence[float]) -> float | None:
    """Return the whole number that is near to all values, or None."""
    middle = round(median(values))
    return middle if all(abs(value - middle) <= _SLIGHT for value in values) else None


def _padding(sides: Sequence[str]) -> str:
    top, right, bottom, left = sides
    if right != left:
        return " ".join(sides)
    return f"{top} {right} {bottom}" if top != bottom else f"{top} {right}" if top != right else top


def _padding_sides(card: Node) -> Sides | None:
    text = dict(card.style).get("padding", "")
    if not text or "(" in text:
        return None
    sides = [float(number) for number in _LENGTH.findall(text)]
    match sides:
        case [every]:
            return every, every, every, every
        case [across, along]:
            return across, along, across, along
        case [top, along, bottom]:
            return top, along, bottom, along
        case [top, right, bottom, left]:
            return top, right, bottom, left
        case _:
            return None
