"""Writes drawings and paths that a page has several times once, and refers to them."""

from collections import Counter
from dataclasses import replace
from itertools import count

from heald_local.page import Node, walk_nodes
from heald_pictures.elements import ICON_NAME

_SHORTEST = 60  # characters of path data that are worth a reference
_ONCE = ("d", "fill-rule")  # attributes that stand where the path is defined


def share_shapes(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Define what occurs more than once in a hidden drawing before the page, and refer to it."""
    drawn = [node for node in walk_nodes(nodes) if _is_worth_sharing(node)]
    drawings = Counter(node.children for node in drawn)
    icons = {node.children: dict(node.attributes).get(ICON_NAME, "") for node in drawn}
    groups: dict[tuple[Node, ...], str] = {}
    for children in (children_of_icon for children_of_icon, times in drawings.items() if times > 1):
        groups[children] = _choose_id(icons[children], set(groups.values()))
    defined = tuple(_define(children, name) for children, name in groups.items())
    nodes = tuple(_refer_to_groups(node, groups) for node in nodes)
    counted = Counter(_data(node) for node in walk_nodes((*defined, *nodes)) if node.tag == "path")
    shared = [data for data, count in counted.items() if count > 1 and len(data) >= _SHORTEST]
    names = {data: f"mark-{number + 1}" for number, data in enumerate(shared)}
    path_nodes = {_data(node): node for node in walk_nodes((*defined, *nodes)) if _data(node) in names}
    paths = tuple(_define_path(path_nodes[data], name) for data, name in names.items())
    if not (defined or paths):
        return nodes
    definitions = (*paths, *(_refer_to_paths(node, names) for node in defined))
    hidden = Node("svg", "shapes", (("display", "none"),), (), (("aria-hidden", "true"),), (), definitions)
    return (hidden, *(_refer_to_paths(node, names) for node in nodes))


def _choose_id(icon: str, used: set[str]) -> str:
    """Return `icon-search` for a known icon, else `icon-1`, or the next number that is free."""
    name = f"icon-{icon}"
    if icon and name not in used:
        return name
    return next(candidate for number in count(1) if (candidate := f"icon-{number}") not in used)


def _is_worth_sharing(node: Node) -> bool:
    return node.tag == "svg" and sum(len(_data(child)) for child in node.children) >= _SHORTEST


def _data(node: Node) -> str:
    return dict(node.attributes).get("d", "")


def _define(children: tuple[Node, ...], name: str) -> Node:
    if len(children) == 1:
        return replace(children[0], attributes=(("id", name), *children[0].attributes))
    return Node("g", "", (), (), (("id", name),), (), children)


def _refer_to_groups(node: Node, names: dict[tuple[Node, ...], str]) -> Node:
    if _is_worth_sharing(node) and node.children in names:
        return replace(node, children=(Node("use", "", (), (), (("href", f"#{names[node.children]}"),)),))
    return replace(node, children=tuple(_refer_to_groups(child, names) for child in node.children))


def _define_path(path: Node, name: str) -> Node:
    return Node("path", "", (), (), (("id", name), *(pair for pair in path.attributes if pair[0] in _ONCE)))


def _refer_to_paths(node: Node, names: dict[str, str]) -> Node:
    if node.tag == "path" and _data(node) in names:
        rest = tuple(pair for pair in node.attributes if pair[0] not in _ONCE)
        return Node("use", "", (), (), (("href", f"#{names[_data(node)]}"), *rest))
    return replace(node, children=tuple(_refer_to_paths(child, names) for child in node.children))
