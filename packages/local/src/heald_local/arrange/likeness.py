"""Makes siblings that repeat each other alike: cards, rows and items that differ by a pixel or a shade become equal."""

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from heald_local.page import Node, Style
from heald_pictures.colours import colour_distance

_FEWEST = 2
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=px)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NEAR, _SHARE = 2.5, 0.04  # pixels, and parts of the largest, by which equal lengths may seem to differ
_TYPE = {"font-size": 0.6, "line-height": 1.6, "letter-spacing": 0.3}  # the same for what decides where lines wrap
_MAY_LACK = frozenset({"letter-spacing", "margin-top"})
_SHADES = 28.0  # levels by which equal colours may seem to differ
_WIDTHS = frozenset({"width", "max-width", "flex"})
_SLACK = 0.12  # parts by which the widths of repeated texts may differ

Skeleton = tuple[str, tuple["Skeleton", ...]]


def even_repeats(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes with equal styles for siblings of one structure, where these are nearly equal."""
    even: list[Node] = []
    run: list[Node] = []
    for node in (*nodes, None):
        if node is not None and run and node.children and _skeleton(node) == _skeleton(run[0]):
            run.append(node)
            continue
        even += _even(run) if len(run) >= _FEWEST else run
        run = [node] if node is not None else []
    return tuple(
        replace(node, children=even_repeats(node.children)) if node.tag != "svg" and not _is_sentence(node) else node
        for node in even
    )


def _is_sentence(node: Node) -> bool:
    return any(not child.tag for child in node.children)


def _skeleton(node: Node) -> Skeleton:
    """Return the structure of an element: its tag and those in it."""
    inside = () if node.tag in ("svg", "select") or _is_sentence(node) else node.children
    return node.tag, tuple(_skeleton(child) for child in inside)


def _even(nodes: Sequence[Node]) -> list[Node]:
    """Give nodes of one structure one style each, from the outside in. The first one keeps its own place."""
    styles = _even_styles([node.style for node in nodes])
    narrow = _even_styles([node.narrow for node in nodes])
    medium = _even_styles([node.medium for node in nodes])
    if nodes[0].tag in ("svg", "select") or any(_is_sentence(node) for node in nodes):
        columns = [node.children for node in nodes]
    else:
        positions = [_even([node.children[at] for node in nodes]) for at in range(len(nodes[0].children))]
        columns = [tuple(position[at] for position in positions) for at in range(len(nodes))]
    return [
        replace(node, style=style, narrow=slim, medium=half, children=children)
        for node, style, slim, half, children in zip(nodes, styles, narrow, medium, columns, strict=True)
    ]


def _even_styles(styles: Sequence[Style]) -> list[Style]:
    """Return the styles with one value for each property that all have with nearly the same value.

    A spacing that some do not have counts as none.
    """
    maps = [dict(style) for style in styles]
    even: dict[str, str] = {}
    for name in dict.fromkeys(name for declared in maps for name in declared):
        if not all(name in declared for declared in maps) and name not in _MAY_LACK:
            continue
        value = _even_value(name, [declared.get(name, "0px") for declared in maps])
        if value is not None:
            even[name] = value
    return [
        tuple(
            (name, even.get(name, declared.get(name, "")))
            for name in dict.fromkeys((*declared, *even))
            if even.get(name) != "0px"
        )
        for declared in maps
    ]


def _even_value(name: str, values: Sequence[str]) -> str | None:
    if len(set(values)) == 1:
        return values[0]
    frames = {_COLOUR.sub("#", _NUMBER.sub("0", value)) for value in values}
    if len(frames) != 1:
        return None
    colours = [_COLOUR.findall(value) for value in values]
    numbers = [[float(number) for number in _NUMBER.findall(value)] for value in values]
    if any(
        colour_distance(shade, first) > _SHADES for row in colours for shade, first in zip(row, colours[0], strict=True)
    ):
        return None
    lengths = [_even_length(name, column) for column in zip(*numbers, strict=True)]
    if any(size is None for size in lengths):
        return None
    rest = iter([size for size in lengths if size is not None])
    return _NUMBER.sub(lambda _: f"{next(rest):g}", values[0])


def _even_length(name: str, values: Sequence[float]) -> float | None:
    spread = max(values) - min(values)
    if name in _WIDTHS and spread <= _SLACK * max(values):
        return max(values)
    near = _TYPE.get(name, max(_NEAR, _SHARE * max(values)))
    return round(median(values), 2) if spread <= near else None
