"""Keeps the distances of a page to a scale: at most eight steps, chosen to be near to what was measured.

A distance that no step is near to stays as it is. What a step moves is made good at the next distance below it, so that
nothing drifts down the page. Large distances are smaller on narrow screens.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from heald_local.page import Node, Style, walk_nodes

MOST_STEPS = 8
_COMMON = frozenset({2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96})  # Tailwind's steps
_CANDIDATES = range(2, 97)
_APART = 0.18  # of a step, by which it differs from others
_ODD = 0.3  # pixels that a step must be nearer than a common one
_PIXELS = re.compile(r"(\d+(?:\.\d+)?)px")
_DOWN = ("margin-top", "padding-top", "padding-bottom")
_SPACINGS = frozenset({*_DOWN, "gap", "margin-left", "margin-right", "padding", "padding-left", "padding-right"})
_CAP = 4.0  # pixels: a step that is farther away is no use
_TINY = 1.5  # pixels; a distance up to this is none
_EXACT, _LOOSE = 0.5, 3.0  # pixels by which a step may differ from a distance, of what is painted and of words
_PAINTED = frozenset({"background", "border", "box-shadow"})
_ROW = 3.0  # pixels by which all gaps of a row together may change
_LARGE, _SMALLEST, _SHRUNK = 40.0, 24, 0.5  # distances from the first on shrink on narrow screens, not below the second


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A node with its distances on the scale, and how much taller that makes it."""

    node: Node
    grown: float


def keep_to_scale(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes with their distances on a scale of at most eight steps, and smaller on narrow screens."""
    steps = choose_steps(_measure(body))
    return tuple(_shrink(scaled) for scaled in _scale_stack(body, steps)[0])


def choose_steps(distances: Iterable[float]) -> tuple[int, ...]:
    """Return the steps that are nearest to the distances, each chosen for what it adds to those before it."""
    counted = Counter(distances)
    chosen: list[int] = []

    def cost(steps: Sequence[int]) -> float:
        return sum(
            count * min([_CAP, *(abs(value - step) + (step not in _COMMON) * _ODD for step in steps)])
            for value, count in counted.items()
            if value <= max(_CANDIDATES) + _CAP
        )

    while len(chosen) < MOST_STEPS and counted:
        free = [step for step in _CANDIDATES if all(abs(step - other) > _APART * step for other in chosen)]
        best = min(free, key=lambda step: cost([*chosen, step]))
        if cost([*chosen, best]) >= cost(chosen):
            break
        chosen.append(best)
    return tuple(sorted(chosen))


def _measure(nodes: tuple[Node, ...]) -> list[float]:
    return [
        float(value)
        for node in walk_nodes(nodes)
        for name, text in node.style
        if name in _SPACINGS and "(" not in text
        for value in _PIXELS.findall(text)
        if float(value) > _TINY
    ]


def _scale_stack(nodes: Sequence[Node], steps: tuple[int, ...]) -> tuple[tuple[Node, ...], float]:
    """Scale nodes one below the other; return them, and how far what follows is moved down."""
    moved = 0.0
    scaled: list[Node] = []
    for at, node in enumerate(nodes):
        reach = _LOOSE if all(_is_loose(neighbour) for neighbour in nodes[at : at + 2]) else _EXACT
        child, shift = _scale_property(node, "margin-top", steps, moved, reach)
        moved += shift
        inner = _scale(child, steps)
        moved += inner.grown
        scaled.append(inner.node)
    return tuple(scaled), moved


def _is_loose(node: Node) -> bool:
    """Whether an element is words alone, which nobody sees move by a pixel or two."""
    return not any(
        inner.tag in ("img", "svg", "hr", "input", "select", "textarea")
        or any(name in _PAINTED for name, _ in inner.style)
        for inner in walk_nodes((node,))
    )


def _scale_property(
    node: Node, name: str, steps: tuple[int, ...], moved: float = 0.0, reach: float = _EXACT
) -> tuple[Node, float]:
    """Scale one distance of a node, which also makes good what was moved before; return it and what it moves."""
    text = dict(node.style).get(name, "")
    match = _PIXELS.fullmatch(text)
    if match is None:
        return node, 0.0
    value = float(match[1])
    chosen = _nearest(value - moved, steps, reach)
    return _with(node, name, chosen), chosen - value


def _nearest(value: float, steps: Sequence[int], reach: float = _EXACT) -> float:
    if abs(value) <= min(_TINY, reach):
        return 0.0
    step = min(steps, key=lambda candidate: abs(candidate - value), default=0)
    if value > 0 and abs(step - value) <= reach:
        return float(step)
    return float(round(max(value, 0.0)))


def _with(node: Node, name: str, value: float) -> Node:
    style = tuple((prop, f"{value:g}px" if prop == name else text) for prop, text in node.style)
    return replace(node, style=tuple(entry for entry in style if entry != (name, "0px")))


def _scale(node: Node, steps: tuple[int, ...]) -> _Scaled:
    """Scale the distances in a node: its padding, its gap, and what is in it."""
    style = dict(node.style)
    if node.tag in ("svg", "table", "select", "input", "textarea") or any(not child.tag for child in node.children):
        return _Scaled(node, 0.0)
    if style.get("display") == "grid":
        children = tuple(_scale(child, steps).node for child in node.children)
        return _Scaled(replace(_scale_gap(node, steps), children=children), 0.0)
    is_stack = style.get("display") == "flex" and style.get("flex-direction") == "column"
    if not is_stack and node.children:
        inner = [_scale(_scale_across(child, steps), steps) for child in node.children]
        tops = [_above(child) for child in node.children]
        before = max(top + child.height for top, child in zip(tops, node.children, strict=True))
        after = max(
            _above(child.node) + source.height + child.grown for source, child in zip(node.children, inner, strict=True)
        )
        grown = after - before
        return _Scaled(replace(_scale_gap(node, steps), children=tuple(child.node for child in inner)), grown)
    node, above = _scale_padding(node, steps)
    node, between = (node, 0.0) if len(node.children) < 2 else _scale_column_gap(node, steps)
    children, moved = _scale_stack([_scale_across(child, steps) for child in node.children], steps)
    return _Scaled(replace(node, children=children), above + between + moved)


def _above(node: Node) -> float:
    match = _PIXELS.fullmatch(dict(node.style).get("margin-top", ""))
    return float(match[1]) if match is not None else 0.0


def _scale_across(node: Node, steps: tuple[int, ...]) -> Node:
    for name in ("margin-left", "margin-right"):
        node = _scale_property(node, name, steps)[0]
    return node


def _scale_gap(node: Node, steps: tuple[int, ...]) -> Node:
    """Scale the gap of a row where all gaps together change little."""
    match = _PIXELS.fullmatch(dict(node.style).get("gap", ""))
    if match is None or not node.children:
        return node
    value, count = float(match[1]), max(len(node.children) - 1, 1)
    chosen = _nearest(value, steps)
    if not chosen or abs(chosen - value) * count > _ROW:
        return node
    return _with(node, "gap", chosen)


def _scale_column_gap(node: Node, steps: tuple[int, ...]) -> tuple[Node, float]:
    scaled = _scale_gap(node, steps)
    before, after = (_PIXELS.fullmatch(dict(side.style).get("gap", "")) for side in (node, scaled))
    if before is None or after is None:
        return node, 0.0
    return scaled, (float(after[1]) - float(before[1])) * (len(node.children) - 1)


def _scale_padding(node: Node, steps: tuple[int, ...]) -> tuple[Node, float]:
    """Scale the padding; return how much taller the node becomes."""
    text = dict(node.style).get("padding", "")
    if not text or "(" in text or "%" in text:
        return node, 0.0
    sides = [float(side.removesuffix("px")) for side in text.split(" ")]
    chosen = [_nearest(side, steps) for side in sides]
    rows = {1: (0, 0), 2: (0, 0), 3: (0, 2), 4: (0, 2)}[len(sides)]
    grown = sum(chosen[at] - sides[at] for at in rows)
    written = " ".join("0" if not side else f"{side:g}px" for side in chosen)
    style = tuple((name, written if name == "padding" else value) for name, value in node.style)
    return replace(node, style=style), grown


def _shrink(node: Node) -> Node:
    """Make large distances down the page smaller on narrow screens."""
    narrow = dict(node.narrow)
    style = dict(node.style)
    is_row = style.get("display") == "flex" and style.get("flex-direction") != "column"
    for name, value in shrunk_distances(node.style):
        if not (is_row and name == "gap"):
            narrow.setdefault(name, value)
    return replace(node, narrow=tuple(narrow.items()), children=tuple(_shrink(child) for child in node.children))


def shrunk_distances(style: Style) -> list[tuple[str, str]]:
    """Return the large distances of a style with their values on a narrow screen."""
    declared = dict(style)
    large: list[tuple[str, str]] = []
    for name in ("margin-top", "gap"):
        match = _PIXELS.fullmatch(declared.get(name, ""))
        if match is not None and float(match[1]) >= _LARGE:
            large.append((name, _shrunk(float(match[1]))))
    padding = declared.get("padding", "")
    sides = re.findall(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+", padding) if "(" not in padding else []
    if len(sides) in (1, 2, 3):
        for name, side in (("padding-top", sides[0]), ("padding-bottom", sides[-1] if len(sides) == 3 else sides[0])):
            match = _PIXELS.fullmatch(side)
            if match is not None and float(match[1]) >= _LARGE:
                large.append((name, _shrunk(float(match[1]))))
    return large


def _shrunk(value: float) -> str:
    return f"{max(_SMALLEST, 4 * round(_SHRUNK * value / 4))}px"
