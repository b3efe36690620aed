"""A change of a file as lines: what went, what came, and how much of it."""

from weft.cli.paint import CYAN, DIM, GREEN, RED, Paint
from weft.tools.printable import printable

_MOST = 40


def diff_lines(diff: str, paint: Paint, *, most: int = _MOST) -> list[str]:
    """A unified diff without its head, coloured and cut."""
    body = [line for line in printable(diff).splitlines() if not line.startswith(("--- ", "+++ "))]
    shown = [_line(line, paint) for line in body[:most]]
    left = len(body) - most
    return [*shown, *([paint(f"  … {left} more lines", DIM)] if left > 0 else [])]


def counted(diff: str) -> str:
    """How many lines came and went."""
    lines = [line for line in diff.splitlines() if not line.startswith(("--- ", "+++ "))]
    came = sum(line.startswith("+") for line in lines)
    went = sum(line.startswith("-") for line in lines)
    return f"+{came} −{went}"


def _line(line: str, paint: Paint) -> str:
    colours = {"+": GREEN, "-": RED, "@": CYAN}
    colour = colours.get(line[:1], DIM)
    return f"  {paint(line, colour)}"
