"""A sum over the messages of a conversation, which grows: each message is measured once."""

from collections.abc import Callable

from heald.core.messages import Message


class RunningTotal:
    """The sum of a measure of messages. If messages were replaced or removed, all are measured anew."""

    def __init__(self, measure: Callable[[Message], float]) -> None:
        self._measure = measure
        self._counted: list[Message] = []
        self._total = 0.0

    def of(self, messages: list[Message]) -> float:
        counted = self._counted
        if counted != messages[: len(counted)]:  # lists compare the identity of their elements first
            counted.clear()
            self._total = 0.0
        added = messages[len(counted) :]
        counted += added
        self._total += sum(map(self._measure, added))
        return self._total
