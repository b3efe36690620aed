"""Lets the columns of a page reach the bottom of windows that are taller than its picture."""

from dataclasses import replace

from heald_local.arrange.part import Part
from heald_local.page import Node, Style

_REACHES = 2.0  # pixels from the bottom of the picture
_MOST_OF = 0.6  # the part of the picture's height that the columns of a page have, at least


def fill_window(root: Node, body: Part, height: float) -> Node:
    """Let the last part of a page grow if it has a column that ends where the picture does, such as a sidebar."""
    if not root.children or len(root.children) != len(body.children):
        return root
    part, node = body.children[-1], root.children[-1]
    if part.rect.h < _MOST_OF * height or not _reaches(part, height):
        return root
    columns = [number for number, child in enumerate(part.children) if child.box is not None]
    columns = [number for number in columns if part.kind == "row" and _reaches(part.children[number], height)]
    if part.box is None and not columns:
        return root
    if columns and len(node.children) == len(part.children):
        node = _stretch(node, columns)
    return replace(root, children=(*root.children[:-1], _with_style(node, "flex", "1 0 auto")))


def _stretch(row: Node, columns: list[int]) -> Node:
    """Stretch the columns of a row; its other children stay where they are."""
    place = dict(row.style).get("align-items", "stretch")
    children = tuple(
        child if number in columns or "align-self" in dict(child.style) else _with_style(child, "align-self", place)
        for number, child in enumerate(row.children)
    )
    return replace(_with_style(row, "align-items", "stretch"), children=children)


def _reaches(part: Part, height: float) -> bool:
    return part.rect.bottom >= height - _REACHES


def _with_style(node: Node, name: str, value: str) -> Node:
    others: Style = tuple(pair for pair in node.style if pair[0] != name)
    return replace(node, style=(*others, (name, value)))
