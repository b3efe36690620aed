"""Shows what a call that waits for a decision will do: every argument, and the diff that it makes."""

from collections.abc import Sequence

import msgspec

from heald.commands.terminal import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Colours, terminal_size
from heald.core.events import ApprovalRequested
from heald.tools.argument_text import ArgumentText, argument_texts
from heald.tools.visible_text import Excerpt, describe_hidden, escape_hidden, escape_line, excerpt
from heald.tools.workspace.diff import diff_body
from heald_cli.escaped_rows import INDENT, lay_out, note_lines

_MAX_DIFF_LINES = 40
_MAX_DIFF_CHARACTERS = 800
"""The longest line of a diff that is shown whole."""
_LEADING = {"run_command": ("command", "$ "), "fetch_url": ("url", "→ ")}
"""Tools with one argument that describes the call: its name, and the mark before it."""
_IN_DIFF = ("content", "old_text", "new_text", "edits", "patch")
"""Arguments that the diff of a call shows."""


class ApprovalView(msgspec.Struct, frozen=True):
    """The lines that describe a call, and the number of characters that they leave out."""

    lines: list[str]
    left_out: int


def show_approval(
    request: ApprovalRequested, paint: Colours, columns: int | None = None, *, whole: bool = False
) -> ApprovalView:
    """Describe a call for the person who decides on it; with `whole`, nothing is left out."""
    columns = columns or terminal_size().columns - 1
    texts = argument_texts(request.input) or _from_summary(request)
    name, mark = _LEADING.get(request.name, ("", ""))
    lines: list[str] = []
    left_out = 0
    for text in sorted(texts, key=lambda text: text.name != name):
        if not whole and text.name in _IN_DIFF and _has_lines(request.diff):
            continue
        shortened = Excerpt(text.rows, 0) if whole else text.shorten()
        left_out += shortened.left_out
        is_leading = text.name == name
        head = f"{INDENT}{mark}" if is_leading else f"{INDENT}{text.name}: "
        lines += lay_out(shortened.rows, head, paint, columns, *((BOLD,) if is_leading else ()))
    notes = [note for text in texts for note in text.notes]
    if request.diff:
        most = None if whole else _MAX_DIFF_LINES
        diff = diff_view(request.diff, paint, columns, most=most, heads="path" not in request.input)
        lines += diff.lines
        left_out += diff.left_out
        notes += [f"the diff {note}" for note in describe_hidden(request.diff)]
    if request.reason:
        lines += lay_out([escape_line(request.reason)], INDENT, paint, columns, YELLOW)
    return ApprovalView([*lines, *note_lines(notes, paint, columns, YELLOW)], left_out)


def _has_lines(diff: str) -> bool:
    return bool(diff) and not diff.startswith("Binary files ")


def _from_summary(request: ApprovalRequested) -> Sequence[ArgumentText]:
    """The arguments of a request that an older version of Heald has logged."""
    pairs = [line.partition(": ") for line in request.summary.split("\n") if line]
    return [ArgumentText(name, value) for name, _, value in pairs]


def diff_lines(diff: str, paint: Colours, *, most: int = _MAX_DIFF_LINES, heads: bool = False) -> list[str]:
    """Return the coloured lines of a unified diff, about `most`; without the names of files unless `heads` is set."""
    return diff_view(diff, paint, terminal_size().columns - 1, most=most, heads=heads).lines


def diff_view(diff: str, paint: Colours, columns: int, *, most: int | None, heads: bool) -> ApprovalView:
    """Show a unified diff. If it has more than `most` lines, the middle is left out, and so is that of long lines."""
    body = (diff if heads else diff_body(diff)).removesuffix("\n").split("\n")
    if most is None:
        return ApprovalView([row for line in body for row in _diff_rows(line, escape_hidden(line), paint, columns)], 0)
    head, tail = most * 2 // 3, most - most * 2 // 3
    cut = body[head:-tail] if len(body) > most else []
    lines: list[str] = []
    left_out = sum(len(line) + 1 for line in cut)
    for at, line in enumerate(body):
        if cut and at == head:
            lines.append(f"{INDENT}{paint(f'⟦… {len(cut):,} lines, {left_out:,} characters left out⟧', DIM)}")
        if cut and head <= at < head + len(cut):
            continue
        shortened = excerpt(line, characters=_MAX_DIFF_CHARACTERS)
        left_out += shortened.left_out
        lines += _diff_rows(line, "".join(shortened.rows), paint, columns)
    return ApprovalView(lines, left_out)


def _diff_rows(line: str, row: str, paint: Colours, columns: int) -> list[str]:
    colour = {"+": GREEN, "-": RED, "@": CYAN}.get(line[:1], DIM)
    return lay_out([row], INDENT, paint, columns, colour)
