"""The tree that becomes a page: its elements with their styles, its pictures and its title."""

from dataclasses import dataclass

from heald_pictures.elements import Detection

Style = tuple[tuple[str, str], ...]
BREAK, MEDIUM_BREAK = 720, 1000
"""Screens up to the first width are narrow; up to the second, columns stack."""


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the page. `name` is the stem of its class, `lines` its text."""

    tag: str
    name: str
    style: Style = ()
    narrow: Style = ()  # changes on a narrow screen
    attributes: Style = ()
    lines: tuple[str, ...] = ()
    children: tuple["Node", ...] = ()
    medium: Style = ()  # changes on a screen that is narrower than a desktop's, and on narrow ones
    height: float = 0.0  # pixels on the screenshot; 0 if it was not there as such


LEFTWARD = frozenset({"ar", "he"})
"""Languages that are written from right to left."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: its body, its pictures, and the style of the body."""

    title: str
    language: str
    width: int
    height: int
    style: Style
    body: tuple[Node, ...]
    assets: tuple[tuple[str, bytes], ...]
    detection: Detection  # for writers that place elements absolutely
    notes: tuple[str, ...] = ()

    @property
    def is_leftward(self) -> bool:
        """Whether it is read from right to left."""
        return self.language in LEFTWARD


def walk_nodes(nodes: tuple[Node, ...]) -> list[Node]:
    """Return all nodes, parents first."""
    walked: list[Node] = []
    for node in nodes:
        walked.append(node)
        walked += walk_nodes(node.children)
    return walked
