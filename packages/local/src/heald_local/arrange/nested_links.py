"""Keeps links out of links and buttons, where a document may not have them: browsers take them apart."""

from dataclasses import replace

from heald_local.page import Node

_PRESSED = frozenset({"a", "button"})


def unlink_nested(nodes: tuple[Node, ...], *, is_inside: bool = False) -> tuple[Node, ...]:
    """Return the elements with plain words for the links within links and buttons."""
    return tuple(_unlink(node, is_inside) for node in nodes)


def _unlink(node: Node, is_inside: bool) -> Node:
    children = unlink_nested(node.children, is_inside=is_inside or node.tag in _PRESSED)
    if is_inside and node.tag == "a":
        attributes = tuple(pair for pair in node.attributes if pair[0] != "href")
        return replace(node, tag="span", attributes=attributes, children=children)
    return node if children == node.children else replace(node, children=children)
