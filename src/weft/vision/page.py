"""The page as a tree: what `arrange` makes of what was seen, and every writer starts from. Plain frozen data."""

from dataclasses import dataclass
from typing import Literal

from weft.vision.geometry import Rect
from weft.vision.seen import Box, Picture, Seen, Text

Kind = Literal["stack", "row", "grid", "layers", "table", "text", "picture", "rule"]
Style = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the page before it has a style: what it is, where it is, and what it holds.

    A `stack` holds its children one below the other, a `row` side by side, a `grid` in equal columns, `layers` over
    each other, a `table` rows of cells. `box` is what is painted behind them.
    """

    kind: Kind
    rect: Rect
    children: tuple["Part", ...] = ()
    box: Box | None = None
    text: Text | None = None
    picture: Picture | None = None
    columns: int = 0
    tag: str = "div"
    name: str = ""
    attributes: Style = ()


@dataclass(frozen=True, slots=True)
class Node:
    """An element: its tag, CSS, attributes and what it holds. `name` is the stem of its class, `lines` its text."""

    tag: str
    name: str
    style: Style = ()
    narrow: Style = ()
    """What changes on a narrow screen."""
    attributes: Style = ()
    lines: tuple[str, ...] = ()
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: its body, the pictures that it shows, and what the body itself looks like."""

    title: str
    language: str
    width: int
    height: int
    style: Style
    body: tuple[Node, ...]
    assets: tuple[tuple[str, bytes], ...]
    seen: Seen
    """Where everything was: for writers that place things instead of letting them flow."""
    notes: tuple[str, ...] = ()


def walk(nodes: tuple[Node, ...]) -> list[Node]:
    """Every element, parents first."""
    found: list[Node] = []
    for node in nodes:
        found.append(node)
        found += walk(node.children)
    return found
