"""What a comparison shows becomes a better page: colours, texts, places and the height, in the page's tree.

Each round mends what the sentences name and no more. Places are mended from the top: what stands higher moves all
that stands below it, so only the highest misplaced text of a round is moved.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from weft.providers.local.model import Way
from weft.vision.legibility import legible
from weft.vision.page import Node, Page, Style, walk

_OVERALL = re.compile(r"\b[Ss]core (\d(?:\.\d+)?) of 1\b")
_COLOUR = re.compile(r"“([^”\n]+)” is (#[0-9a-f]{6}) instead of (#[0-9a-f]{6})\.")
_READS = re.compile(r"“([^”…\n]+)” reads “([^”…\n]+)”\.")
_MOVED = re.compile(r"“([^”\n]+)” is (?:(\d+) px too far (right|left))?(?: and )?(?:(\d+) px too (low|high))?\.")
_HEIGHT = re.compile(r"The page is (\d+) px (taller|shorter) than the target\.")
_PX = re.compile(r"(-?\d+(?:\.\d+)?)px")
_NEAR, _FAR = 4, 400
"""Pixels. Blocks of text are measured less exactly than the first, and what is off by the second is no slip."""


def score_in(text: str) -> float | None:
    """The overall figure in the result of a comparison."""
    found = _OVERALL.search(text)
    return float(found[1]) if found is not None and float(found[1]) <= 1 else None


def mended(page: Page, compared: str, way: Way) -> Page | None:
    """The page with what was found mended; None if nothing of it can be."""
    body = page.body
    for words, _, wanted in _COLOUR.findall(compared):
        body = _changed(body, words, lambda node, value=wanted: _styled(node, "color", value))
    body = legible(body, dict(page.style).get("background", ""))
    for wanted, shown in _READS.findall(compared):
        body = _changed(body, shown, lambda node, text=wanted: replace(node, lines=(text,)))
    style = page.style
    if way == "fidelity":
        body, style = _moved(body, compared), _heightened(style, compared)
    better = replace(page, body=body, style=style)
    return better if better != page else None


def _moved(body: tuple[Node, ...], compared: str) -> tuple[Node, ...]:
    found = [entry for entry in _MOVED.findall(compared) if max(int(entry[1] or 0), int(entry[3] or 0)) >= _NEAR]
    if not found:
        return body
    order = {id(node): number for number, node in enumerate(walk(body))}

    def place(entry: tuple[str, str, str, str, str]) -> int:
        return next((order[id(node)] for node in walk(body) if _says(node, entry[0])), len(order))

    words, across, side, down, end = min(found, key=place)
    right = float(across or 0) * (1 if side == "right" else -1)
    low = float(down or 0) * (1 if end == "low" else -1)
    if max(abs(right), abs(low)) > _FAR:
        return body
    right, low = (by if abs(by) >= _NEAR else 0 for by in (right, low))
    return _changed(body, words, lambda node: _shifted(_shifted(node, "margin-left", -right), "margin-top", -low))


def _changed(body: tuple[Node, ...], words: str, change: Callable[[Node], Node]) -> tuple[Node, ...]:
    """The one element that says these words, changed; nothing if there are none or several."""
    if sum(_says(node, words) for node in walk(body)) != 1:
        return body

    def visit(node: Node) -> Node:
        if _says(node, words):
            return change(node)
        children = tuple(visit(child) for child in node.children)
        return node if children == node.children else replace(node, children=children)

    return tuple(visit(node) for node in body)


def _says(node: Node, words: str) -> bool:
    text = " ".join(" ".join(node.lines).split())
    start = words.removesuffix("…")
    return bool(text) and (text.startswith(start) if words.endswith("…") else text == words)


def _styled(node: Node, name: str, value: str) -> Node:
    return replace(node, style=_with(node.style, name, value))


def _shifted(node: Node, name: str, by: float) -> Node:
    if not by or any(key == "margin" for key, _ in node.style):
        return node
    now = _PX.fullmatch(dict(node.style).get(name, "0px"))
    if now is None:
        return node
    return _styled(node, name, f"{float(now[1]) + by:g}px")


def _heightened(style: Style, compared: str) -> Style:
    """Below the last thing there may be more room, or less."""
    found = _HEIGHT.search(compared)
    now = _PX.fullmatch(dict(style).get("padding-bottom", "0px"))
    if found is None or now is None:
        return style
    room = float(now[1]) + float(found[1]) * (-1 if found[2] == "taller" else 1)
    return _with(style, "padding-bottom", f"{room:g}px") if room >= 0 else style


def _with(style: Style, name: str, value: str) -> Style:
    if any(key == name for key, _ in style):
        return tuple((key, value if key == name else old) for key, old in style)
    return (*style, (name, value))
