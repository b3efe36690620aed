"""Elements as HTML text: escaped, indented, void elements without an end."""

from collections.abc import Callable
from html import escape

from weft.vision.page import Node

VOID = frozenset({"img", "input", "br", "hr", "meta", "link"})
Attributes = Callable[[Node], str]
"""The attributes that say how a node looks (a class, mostly), with a leading space, or nothing."""


def element(node: Node, looks: Attributes, depth: int = 0) -> str:
    """One element and all in it, each on a line of its own."""
    pad = "  " * depth
    plain = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes if name != "alt"
    )
    alt = "".join(f' alt="{escape(value)}"' for name, value in node.attributes if name == "alt")
    opening = f"{pad}<{node.tag}{looks(node)}{plain}{alt}>"
    if node.tag in VOID:
        return opening
    words = "<br>".join(escape(line, quote=False) for line in node.lines)
    if not node.children:
        return f"{opening}{words}</{node.tag}>"
    inside = "\n".join(element(child, looks, depth + 1) for child in node.children)
    first = f"\n{pad}  {words}" if words else ""
    return f"{opening}{first}\n{inside}\n{pad}</{node.tag}>"
