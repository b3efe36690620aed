"""The last results of a function whose arguments cannot be hashed, such as lists of tools.

For what an agent that is made for every request has in common with the one before it.
"""

from typing import Generic, TypeVar

Result = TypeVar("Result")


class RecentResults(Generic[Result]):
    """A few results, each with all that it depends on. Lists are compared by the identity of their elements first."""

    def __init__(self, size: int = 8) -> None:
        self._size = size
        self._entries: tuple[tuple[object, Result], ...] = ()  # replaced as a whole: threads share it

    def find(self, depends_on: object) -> Result | None:
        for other, result in self._entries:
            if other == depends_on:
                return result
        return None

    def add(self, depends_on: object, result: Result) -> Result:
        """Remember a result, and forget the oldest one. What it depends on must not change any more."""
        self._entries = ((depends_on, result), *self._entries[: self._size - 1])
        return result
