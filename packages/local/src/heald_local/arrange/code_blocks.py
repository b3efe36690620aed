"""Joins the lines of code in a box to one preformatted text, with its indents, empty lines and colours."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_local.page import Node, Style
from heald_pictures.elements import TextElement, TextLine, TextStyle
from heald_pictures.fonts import face
from heald_pictures.rect import Rect

TOKEN = "token"
"""The name of words of code in a colour of their own."""
_CODE = frozenset({"mono", "code"})
_FEWEST_LINES = 2
_OFF = 2.0  # pixels that a line may be off its place


def mark_code(part: Part) -> Part:
    """Turn boxes that hold nothing but lines in a typeface for code into preformatted text."""
    if part.text is not None or part.tag != "div":
        return part
    lines = _code_lines(part) if part.box is not None else None
    block = _join_lines(lines) if lines else None
    if block is not None:
        return replace(part, kind="stack", children=(block,))
    return replace(part, children=tuple(mark_code(child) for child in part.children))


def _code_lines(part: Part) -> list[TextLine] | None:
    """Return all lines in a part; None if there is anything else than code."""
    lines: list[TextLine] = []
    for child in part.children:
        if child.text is not None:
            runs = [run.text for run in child.children if run.text is not None] or [child.text]
            lines += [line for run in runs for line in run.lines]
            continue
        inner = _code_lines(child) if child.box is None and child.kind in ("stack", "row", "layers") else None
        if inner is None:
            return None
        lines += inner
    return lines if all(line.style.family in _CODE for line in lines) else None


def _join_lines(lines: Sequence[TextLine]) -> Part | None:
    """Make one text of lines at even distances; None if they are few or stand anywhere."""
    rows = _rows(lines)
    if len(rows) < _FEWEST_LINES:
        return None
    steps = [lower[0].baseline - upper[0].baseline for upper, lower in itertools.pairwise(rows)]
    step = min(steps)
    if any(abs(distance - step * round(distance / step)) > _OFF for distance in steps):
        return None
    count = 1 + sum(round(distance / step) for distance in steps)
    step = sum(steps) / (count - 1)
    base = Counter(line.style for line in lines).most_common(1)[0][0]
    letter = face(base.family).advance("0") * base.size + base.spacing
    left = min(line.rect.x for line in lines)
    runs: list[TextElement] = []
    for number, row in enumerate(rows):
        column = 0
        breaks = "\n" * round(steps[number - 1] / step) if number else ""
        for line in row:
            at = max(round((line.rect.x - left) / letter), column)
            spaced = replace(line, text=f"{breaks}{' ' * (at - column)}{line.text}")
            runs.append(TextElement((spaced,), line.rect, line.style, "left", step))
            column, breaks = at + len(line.text), ""
    first = rows[0][0].rect
    right = max(line.rect.right for line in lines)
    rect = Rect(left, first.y + (first.h - step) / 2, right - left, count * step)
    whole = "".join(run.lines[0].text for run in runs)
    code_lines = tuple(replace(lines[0], text=text or " ", style=base, rect=rect) for text in whole.split("\n"))
    return Part(
        "text", rect, text=TextElement(code_lines, rect, base, "left", step, tuple(runs)), tag="pre", name="code"
    )


def _rows(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Group pieces on one baseline, from the left to the right."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda piece: piece.baseline):
        if rows and line.baseline - rows[-1][0].baseline <= 0.5 * line.style.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda piece: piece.rect.x) for row in rows]


def code_node(part: Part, text: TextElement, style: Style) -> Node:
    """Make the nodes of a preformatted text: words in another colour, weight or slant than most are spans."""
    inside = tuple(node for run in text.runs for node in _run_nodes(run, text.style))
    code = Node("code", "code", children=_merge_plain(inside))
    return Node("pre", part.name, style, (), part.attributes, (), (code,))


def _run_nodes(run: TextElement, base: TextStyle) -> list[Node]:
    """Make the nodes of a piece: the space before it, and its words."""
    whole = run.lines[0].text
    words = whole.lstrip()
    differing = {"color": run.style.colour} if run.style.colour != base.colour else {}
    differing |= {"font-weight": str(run.style.weight)} if run.style.weight != base.weight else {}
    slant = "italic" if run.style.italic else "normal"
    differing |= {"font-style": slant} if run.style.italic != base.italic else {}
    if not differing:
        return [Node("", "", lines=(whole,))]
    space = [Node("", "", lines=(whole[: len(whole) - len(words)],))] if whole != words else []
    return [*space, Node("span", TOKEN, tuple(differing.items()), lines=(words,))]


def _merge_plain(nodes: Sequence[Node]) -> tuple[Node, ...]:
    merged: list[Node] = []
    for node in nodes:
        if merged and not node.tag and not merged[-1].tag:
            merged[-1] = replace(merged[-1], lines=(merged[-1].lines[0] + node.lines[0],))
        else:
            merged.append(node)
    return tuple(merged)
