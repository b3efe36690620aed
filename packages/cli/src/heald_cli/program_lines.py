"""The lines of calls that a program makes: below a line for the program, and indented."""

from heald.core.messages import ToolCall
from heald.tools.sanitize import sanitize_text

_INDENT = "  "


class ProgramLines:
    """Knows which calls were made by programs."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._begun: set[str] = set()

    def begin(self, call: ToolCall, asked: str) -> str | None:
        """Return the line of the program that makes its first call. `asked` is the summary of the program."""
        if call.parent is None:
            return None
        self._parents[call.id] = call.parent
        if call.parent in self._begun:
            return None
        self._begun.add(call.parent)
        return sanitize_text(" ".join(f"▸ run_program {asked}".split()))

    def place(self, call: str, line: str) -> str:
        """Return the line of a finished call where it belongs."""
        self._begun.discard(call)
        return line if self._parents.pop(call, None) is None else f"{_INDENT}{line}"
