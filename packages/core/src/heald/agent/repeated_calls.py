"""Finds turns that repeat the calls of the turn before."""

from heald.core.json import JsonObject
from heald.core.messages import ToolCall

REPEAT_LIMIT = 3
"""The number of identical turns in a row after which the model gets a note."""


class RepeatCounter:
    """Counts turns that repeat exactly the calls of the turn before."""

    def __init__(self) -> None:
        self._last: list[str | JsonObject] = []  # the names and arguments
        self._count = 0

    def notes(self, calls: list[ToolCall]) -> dict[str, str]:
        """Return notes for the model, by call."""
        current: list[str | JsonObject] = []
        for call in calls:
            current += (call.name, call.input)
        self._count = self._count + 1 if current == self._last else 1
        self._last = current
        if self._count < REPEAT_LIMIT:
            return {}
        note = (
            f"(You have made exactly this call {self._count} times in a row. "
            "Unless you wait for something to change, do something else or finish.)"
        )
        return {calls[0].id: note}
