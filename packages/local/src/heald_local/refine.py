"""Refines a page: corrects the differences of a comparison, or lets it flow in the responsive mode.

`fidelity` keeps the page as it was arranged. `responsive` lets paragraphs flow and lines wrap, keeps spacing to a
rhythm of four pixels, and lets grids choose their columns by the room there is; that moves things by a few pixels.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from heald_local.arrange.page import ensure_contrast
from heald_local.model import Mode
from heald_local.page import Node, Page, Style, walk_nodes
from heald_pictures.comparison import PageComparison, PageDifference
from heald_pictures.scripts import wide_letter

_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)px")
_NEAR, _FAR = 4, 400
"""Pixels. Blocks of text are measured less exactly than the first; an offset beyond the second is not a slip."""
_LONGEST_NAME, _NAME_START = 60, 57  # characters: a longer text is found by its beginning, and is not replaced


def correct_page(page: Page, compared: PageComparison, mode: Mode) -> Page | None:
    """Correct colours, texts, places and the height of a page; None if nothing can be corrected.

    Of the misplaced texts only the highest is moved: it moves everything below it.
    """
    body = page.body
    by_kind: dict[str, list[PageDifference]] = {}
    for difference in compared.differences:
        by_kind.setdefault(difference.kind, []).append(difference)
    for difference in by_kind.get("colour", []):
        body = _change(body, difference.text, lambda node, value=difference.colour: _with_style(node, "color", value))
    body = ensure_contrast(body, dict(page.style).get("background", ""))
    for difference in by_kind.get("text", []):
        if max(len(difference.text), len(difference.page_text)) <= _LONGEST_NAME:
            body = _change(body, difference.page_text, lambda node, text=difference.text: replace(node, lines=(text,)))
    style = page.style
    if mode == "fidelity":
        body = _move_highest(body, by_kind.get("position", []), page.is_leftward)
        for difference in by_kind.get("height", []):
            style = _with_room_below(style, -difference.down)
    better = replace(page, body=body, style=style)
    return better if better != page else None


def _move_highest(body: tuple[Node, ...], misplaced: list[PageDifference], leftward: bool) -> tuple[Node, ...]:
    movable = [difference for difference in misplaced if max(abs(difference.right), abs(difference.down)) >= _NEAR]
    if not movable:
        return body
    order = {id(node): number for number, node in enumerate(walk_nodes(body))}

    def place(difference: PageDifference) -> int:
        return next((order[id(node)] for node in walk_nodes(body) if _has_text(node, difference.text)), len(order))

    highest = min(movable, key=place)
    if max(abs(highest.right), abs(highest.down)) > _FAR:
        return body
    right, down = (by if abs(by) >= _NEAR else 0 for by in (highest.right, highest.down))
    side, across = ("margin-right", right) if leftward else ("margin-left", -right)
    return _change(body, highest.text, lambda node: _shift(_shift(node, side, across), "margin-top", -down))


def _change(body: tuple[Node, ...], text: str, change: Callable[[Node], Node]) -> tuple[Node, ...]:
    """Change the one element with this text; nothing if there are none or several."""
    if sum(_has_text(node, text) for node in walk_nodes(body)) != 1:
        return body

    def visit(node: Node) -> Node:
        if _has_text(node, text):
            return change(node)
        children = tuple(visit(child) for child in node.children)
        return node if children == node.children else replace(node, children=children)

    return tuple(visit(node) for node in body)


def _has_text(node: Node, expected: str) -> bool:
    text = " ".join(" ".join(node.lines).split())
    if len(expected) > _LONGEST_NAME:
        return text.startswith(expected[:_NAME_START])
    return bool(text) and text == expected


def _with_style(node: Node, name: str, value: str) -> Node:
    return replace(node, style=_set(node.style, name, value))


def _shift(node: Node, name: str, by: float) -> Node:
    if not by or any(key == "margin" for key, _ in node.style):
        return node
    now = _LENGTH.fullmatch(dict(node.style).get(name, "0px"))
    return node if now is None else _with_style(node, name, f"{float(now[1]) + by:g}px")


def _with_room_below(style: Style, by: float) -> Style:
    now = _LENGTH.fullmatch(dict(style).get("padding-bottom", "0px"))
    room = float(now[1]) + by if now is not None else -1
    return _set(style, "padding-bottom", f"{room:g}px") if room >= 0 else style


def _set(style: Style, name: str, value: str) -> Style:
    if any(key == name for key, _ in style):
        return tuple((key, value if key == name else old) for key, old in style)
    return (*style, (name, value))


_RHYTHM = 4
_SPACING = ("gap", "margin", "margin-top", "margin-bottom", "padding", "padding-top", "padding-bottom")
_COLUMNS = re.compile(r"repeat\((\d+), minmax\(0, 1fr\)\)")
_WHOLE_LINES = frozenset({"button", "a", "nav", "label", "th", "td", "li", "h1"})  # text inside these does not wrap
_NOWRAP = ("white-space", "nowrap")


def apply_mode(page: Page, mode: Mode) -> Page:
    return page if mode == "fidelity" else replace(page, body=tuple(_let_flow(node, False) for node in page.body))


def _let_flow(node: Node, whole: bool) -> Node:
    whole = whole or node.tag in _WHOLE_LINES
    lines = node.lines if whole or len(node.lines) < 2 else (_join_lines(node.lines),)
    style = tuple(_ease(node, name, value) for name, value in node.style if whole or (name, value) != _NOWRAP)
    return replace(node, lines=lines, style=style, children=tuple(_let_flow(child, whole) for child in node.children))


def _ease(node: Node, name: str, value: str) -> tuple[str, str]:
    if name in _SPACING:
        return name, _LENGTH.sub(_round_to_rhythm, value)
    columns = _COLUMNS.fullmatch(value) if name == "grid-template-columns" else None
    width = _LENGTH.fullmatch(dict(node.style).get("width", ""))
    if columns is None or width is None or not 1 < int(columns[1]) <= 9:
        return name, value
    count = int(columns[1])
    gap = float((_LENGTH.findall(dict(node.style).get("gap", "")) or ["0"])[-1])
    least = round(0.9 * (float(width[1]) - (count - 1) * gap) / count)
    return name, f"repeat(auto-fit, minmax(min(100%, {least}px), 1fr))" if least >= 80 else value


def _round_to_rhythm(length: re.Match[str]) -> str:
    value = float(length[1])
    if abs(value) < 6:
        return f"{round(value)}px"
    return f"{_RHYTHM * round(value / _RHYTHM)}px"


def _join_lines(lines: tuple[str, ...]) -> str:
    text = ""
    for line in lines:
        tight = not text or not line or (wide_letter(text[-1]) and wide_letter(line[0]))
        text += line if tight else f" {line}"
    return text
