"""Text that can be read: a colour with a little too little contrast is moved just as far as WCAG asks.

Thin letters are seen lighter than they are, so a text that was legible may be copied as one that is not. What is far
from legible was meant so, and stays; so does what stands on a picture or a gradient.
"""

import re
from dataclasses import replace

from weft.vision.colours import contrast, css, distance, luminance, parts
from weft.vision.page import Node

ENOUGH, ENOUGH_LARGE = 4.5, 3.0
LARGE, LARGE_BOLD = 24.0, 18.66
"""Sizes in pixels from which on the lower bar counts."""
MOST = 64
"""The largest change, in one channel."""
_STEPS = 255
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_LAYER = ("grid-area", "1 / 1")


def legible(nodes: tuple[Node, ...], ground: str) -> tuple[Node, ...]:
    """The same elements, their texts legible on what lies below them. `ground` is empty where no colour is known."""
    found: list[Node] = []
    below = ground
    for node in nodes:
        found.append(_legible(node, below))
        if _LAYER in node.style and (node.tag == "img" or "background" in dict(node.style)):
            below = ""
    return tuple(found)


def nudged(colour: str, ground: str, wanted: float) -> str:
    """The nearest colour on the way to black or white that has the wanted contrast; the same if that is too far."""
    if contrast(colour, ground) >= wanted:
        return colour
    end = 0 if luminance(colour) <= luminance(ground) else 255
    for step in range(1, _STEPS + 1):
        moved = css(part + (end - part) * step / _STEPS for part in parts(colour))
        if distance(moved, colour) > MOST:
            return colour
        if contrast(moved, ground) >= wanted:
            return moved
    return colour


def _legible(node: Node, ground: str) -> Node:
    style = dict(node.style)
    painted = style.get("background", "transparent")
    if painted != "transparent":
        ground = painted if _COLOUR.fullmatch(painted) else ""
    children = legible(node.children, ground)
    colour = style.get("color", "")
    if ground and _COLOUR.fullmatch(colour) and _worded(node):
        colour = nudged(colour, ground, _wanted(style))
        changed = tuple((name, colour if name == "color" else value) for name, value in node.style)
        return replace(node, style=changed, children=children)
    return replace(node, children=children)


def _worded(node: Node) -> bool:
    """Whether it shows words: a lone sign has no contrast to keep."""
    said = [*node.lines, *(value for name, value in node.attributes if name in ("placeholder", "value"))]
    said += [line for child in node.children if child.tag == "option" for line in child.lines]
    return any(letter.isalnum() for text in said for letter in text)


def _wanted(style: dict[str, str]) -> float:
    found = _SIZE.search(style.get("font-size", style.get("font", "")))
    size = float(found[1]) if found is not None else 16.0
    bold = style.get("font-weight", "400") in ("700", "800", "900", "bold")
    return ENOUGH_LARGE if size >= (LARGE_BOLD if bold else LARGE) else ENOUGH
