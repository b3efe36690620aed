"""Elements that only wrap one text become that text: a button, a badge, a cell is one element, not two."""

from dataclasses import replace

from weft.vision.page import Node

_WRAPPERS = frozenset({"div", "button", "li"})
_TEXTS = frozenset({"p", "span"})
_OWN = frozenset({"width", "max-width", "align-self", "margin-top", "margin-left", "margin-right", "position", "flex"})
"""What a text says of its place, which it could not say of its parent."""
_FLOW = (("display", "flex"), ("flex-direction", "column"))


def simplified(node: Node) -> Node:
    """The same to look at, with one element less where that can be."""
    if len(node.children) != 1 or node.tag not in _WRAPPERS or not set(_FLOW) <= set(node.style):
        return node
    (child,) = node.children
    if child.tag not in _TEXTS or child.children or any(name in _OWN for name, _ in child.style):
        return node
    style = {name: value for name, value in node.style if (name, value) not in _FLOW and name != "gap"}
    named = node.name if node.name not in ("stack", "block") else child.name
    return replace(
        node,
        tag=child.tag if node.tag == "div" else node.tag,
        name=named,
        style=tuple({**style, **dict(child.style)}.items()),
        narrow=tuple({**dict(node.narrow), **dict(child.narrow)}.items()),
        attributes=(*node.attributes, *child.attributes),
        lines=child.lines,
        children=(),
    )
