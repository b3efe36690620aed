"""Two honest ways to write the same page: as close to the picture as it goes, or as code that flows.

`fidelity` takes the page as it was arranged. `responsive` lets paragraphs flow and lines wrap, keeps spacing to a
rhythm of four pixels, and lets grids choose their columns by the room there is: it moves a few pixels for that.
"""

import re
from dataclasses import replace

from weft.providers.local.model import Way
from weft.vision.page import Node, Page, Style
from weft.vision.seen import wide_letter

_RHYTHM = 4
_SPACING = ("gap", "margin", "margin-top", "margin-bottom", "padding", "padding-top", "padding-bottom")
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)px")
_COLUMNS = re.compile(r"repeat\((\d+), minmax\(0, 1fr\)\)")
_WHOLE_LINES = frozenset({"button", "a", "nav", "label", "th", "td", "li", "h1"})
"""What is inside these does not wrap by itself."""


def written(page: Page, way: Way) -> Page:
    """The page in one of the ways."""
    return page if way == "fidelity" else replace(page, body=tuple(_flowing(node, False) for node in page.body))


def _flowing(node: Node, whole: bool) -> Node:
    whole = whole or node.tag in _WHOLE_LINES
    lines = node.lines if whole or len(node.lines) < 2 else (_joined(node.lines),)
    style = tuple(_eased(node, name, value) for name, value in node.style if whole or (name, value) != _NOWRAP)
    return replace(node, lines=lines, style=style, children=tuple(_flowing(child, whole) for child in node.children))


_NOWRAP = ("white-space", "nowrap")


def _eased(node: Node, name: str, value: str) -> tuple[str, str]:
    if name in _SPACING:
        return name, _LENGTH.sub(_in_rhythm, value)
    columns = _COLUMNS.fullmatch(value) if name == "grid-template-columns" else None
    width = _LENGTH.fullmatch(dict(node.style).get("width", ""))
    if columns is None or width is None or not 1 < int(columns[1]) <= 9:
        return name, value
    count = int(columns[1])
    least = round(0.9 * (float(width[1]) - (count - 1) * _gap(node.style)) / count)
    return name, f"repeat(auto-fit, minmax(min(100%, {least}px), 1fr))" if least >= 80 else value


def _gap(style: Style) -> float:
    found = _LENGTH.findall(dict(style).get("gap", ""))
    return float(found[-1]) if found else 0.0


def _in_rhythm(found: re.Match[str]) -> str:
    value = float(found[1])
    if abs(value) < 6:
        return f"{round(value)}px"
    return f"{_RHYTHM * round(value / _RHYTHM)}px"


def _joined(lines: tuple[str, ...]) -> str:
    text = ""
    for line in lines:
        tight = not text or not line or (wide_letter(text[-1]) and wide_letter(line[0]))
        text += line if tight else f" {line}"
    return text
