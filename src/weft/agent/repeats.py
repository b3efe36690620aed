"""Notices a model that makes the same calls again and again."""

from weft.core.json import JsonObject
from weft.core.tools import ToolCall

ENOUGH = 3
"""The same calls so often in a row are worth a word."""


class Repeats:
    """Counts turns that made exactly the calls of the turn before."""

    def __init__(self) -> None:
        self._last: list[tuple[str, JsonObject]] = []
        self._count = 0

    def notes(self, calls: list[ToolCall]) -> dict[str, str]:
        """What to tell the model with the results of these calls."""
        made = [(call.name, call.input) for call in calls]
        self._count = self._count + 1 if made == self._last else 1
        self._last = made
        if self._count < ENOUGH:
            return {}
        said = (
            f"(You have made exactly this call {self._count} times in a row. "
            "Unless you wait for something to change, do something else or finish.)"
        )
        return {calls[0].id: said}
