"""Shows what a call that waits for a decision will do: a diff, a command line, an address."""

from heald.commands.terminal import BOLD, CYAN, DIM, GREEN, RED, Colours
from heald.core.events import ApprovalRequested
from heald.tools.sanitize import sanitize_text

_MAX_DIFF_LINES = 40
_LEADING = {"run_command": ("command", "$ "), "fetch_url": ("url", "→ ")}
"""Tools with one argument that describes the call: its name, and the mark before it."""


def approval_lines(request: ApprovalRequested, paint: Colours) -> list[str]:
    """Describe a call for the person who decides on it."""
    lines = sanitize_text(request.summary).splitlines()
    if request.diff:
        path = next((line for line in lines if line.startswith("path: ")), "")
        return [f"  {path}", *diff_lines(request.diff, paint)] if path else diff_lines(request.diff, paint)
    name, mark = _LEADING.get(request.name, ("", ""))
    first = [line for line in lines if name and line.startswith(f"{name}: ")]
    rest = [line for line in lines if line not in first]
    head = [f"  {paint(mark + line.removeprefix(f'{name}: '), BOLD)}" for line in first]
    return [*head, *(f"  {paint(line, DIM) if first else line}" for line in rest)]


def diff_lines(diff: str, paint: Colours, *, most: int = _MAX_DIFF_LINES, heads: bool = False) -> list[str]:
    """Return the coloured lines of a unified diff, at most `most`; without the names of files unless `heads` is set."""
    body = [line for line in sanitize_text(diff).splitlines() if heads or not line.startswith(("--- ", "+++ "))]
    lines = [_diff_line(line, paint) for line in body[:most]]
    left = len(body) - most
    return [*lines, *([paint(f"  … {left} more lines", DIM)] if left > 0 else [])]


def _diff_line(line: str, paint: Colours) -> str:
    colours = {"+": GREEN, "-": RED, "@": CYAN}
    colour = colours.get(line[:1], DIM)
    return f"  {paint(line, colour)}"
