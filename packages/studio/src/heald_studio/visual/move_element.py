"""Moves elements before or behind another one in the source."""

import re
from collections.abc import Sequence
from typing import Literal

from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.locate import Located
from heald_studio.visual.text_replacement import TextReplacement

Place = Literal["before", "after"]


def move_element(moved: Located, target: Located, place: Place, *, keeps_place: bool = True) -> list[TextReplacement]:
    """Return the replacements that move an element. Its lines are moved whole if it has them for itself.

    There are none if it is already there. Without `keeps_place` it is written anew even then, since other elements that
    are moved to the same place may have to stand before it.
    """
    element, goal, source = moved.element, target.element, moved.source
    if moved.file != target.file:
        raise CannotEdit("The two elements are written in different files; describe the move in words.")
    if goal.start == element.start:
        raise CannotEdit("One place in the source makes both elements, such as a list; reorder its data instead.")
    if element.start <= goal.start < element.end:
        raise CannotEdit("An element cannot be moved into itself.")
    for part in (element, goal):
        if part.parent is None or part not in part.parent.children:
            raise CannotEdit("An expression decides about this element; describe the move in words.")
    text = source[element.start : element.end]
    cut = _line_span(source, element.start, element.end)
    goal_span = _line_span(source, goal.start, goal.end)
    if cut is None or goal_span is None:
        start = element.start
        at = goal.start if place == "before" else goal.end
        space = source[start - 1 : start] if cut is None and source[start - 1 : start] == " " else ""
        gap = cut or (start - len(space), element.end)  # it leaves no empty line behind
        if keeps_place and gap[0] <= at <= gap[1]:
            return []
        inserted = f"{text}{space}" if place == "before" else f"{space}{text}"
        return [TextReplacement(moved.file, gap[0], gap[1], ""), TextReplacement(moved.file, at, at, inserted)]
    lines = source[cut[0] : cut[1]]
    if not lines.endswith("\n"):
        lines += "\n"
    lines = _reindent(lines, _indentation(source, cut[0]), _indentation(source, goal_span[0]))
    at = goal_span[0] if place == "before" else goal_span[1]
    if keeps_place and cut[0] <= at <= cut[1]:
        return []
    if not source[:at].endswith("\n"):
        lines = f"\n{lines.removesuffix(chr(10))}"
    return [TextReplacement(moved.file, cut[0], cut[1], ""), TextReplacement(moved.file, at, at, lines)]


def join_insertions(replacements: Sequence[TextReplacement]) -> list[TextReplacement]:
    """Join what several moves write at one place, in their order."""
    insertions: dict[tuple[str, int], str] = {}
    for replacement in replacements:
        if replacement.start == replacement.end:
            place = (replacement.file, replacement.start)
            insertions[place] = insertions.get(place, "") + replacement.text
    joined = [TextReplacement(file, at, at, text) for (file, at), text in insertions.items()]
    return [*(replacement for replacement in replacements if replacement.start < replacement.end), *joined]


def _line_span(source: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the whole lines of an element; None if something else stands in them."""
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", end)
    line_end = len(source) if line_end < 0 else line_end + 1
    if source[line_start:start].strip() or source[end:line_end].strip():
        return None
    return line_start, line_end


def _indentation(source: str, line_start: int) -> str:
    space = re.compile(r"[ \t]*").match(source, line_start)
    return space[0] if space is not None else ""


def _reindent(lines: str, before: str, after: str) -> str:
    if before == after:
        return lines
    return "".join(
        after + line[len(before) :] if line.startswith(before) else line for line in lines.splitlines(keepends=True)
    )
