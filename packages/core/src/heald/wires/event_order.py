"""Checks the order of a stream's events: a repeated event is dropped, a missing or misplaced one is an error."""

from typing import Any

from heald.core.errors import GarbledStream
from heald.core.json import JsonObject

NO_INDEX = -1


class EventNumbers:
    """Checks the numbers of events that do not follow directly on the one before (Responses)."""

    def __init__(self) -> None:
        self.next = -1
        """The number of the next event; -1 while it is unknown."""
        self.gap: GarbledStream | None = None
        """The error for events that never arrived."""
        self._first: tuple[int, bytes] | None = None
        self._off = False

    def accept(self, number: Any, expected: int, data: bytes) -> bool:
        """Whether an event counts: False for a repeated one, or one that comes after its successor.

        A server that gives every event the same number does not number its events: all of them count.
        """
        self.next = expected
        if self._off or not isinstance(number, int) or number < 0:
            return True
        if self._first is None:
            self._first = (number, data)
            self.next = number + 1
            return True
        if number > expected:
            self.gap = GarbledStream(f"Events {expected} to {number - 1} of the stream are missing; try again.")
            self.next = number + 1
            return True
        self._off = expected == self._first[0] + 1 and number == self._first[0] and data != self._first[1]
        return self._off


class BlockOrder:
    """Checks the indexes of blocks (Messages). Indexes that do not begin at 0 are names: they may have holes."""

    def __init__(self) -> None:
        self.open: int | None = None
        """The latest block, while it is open."""
        self._last: int | None = None
        self._blocks: dict[int, JsonObject] = {}
        self._closed: set[int] = set()
        self._counts = False

    def start(self, index: int, block: JsonObject, has_content: bool) -> int | None:
        """The index of a new block; None if the event is repeated. `has_content`: the latest block has deltas."""
        last = self._last
        if last is None:
            index = max(index, 0)
            self._counts = index == 0
        elif index == NO_INDEX:
            index = last + 1
        elif self._counts and index > last + 1:
            raise GarbledStream(f"Block {last + 1} of the message is missing in the stream; try again.")
        if index in self._blocks:
            if index != self.open or self._blocks[index] != block or has_content:
                raise GarbledStream(f"Block {index} of the message came twice in the stream; try again.")
            return None
        self.open = self._last = index
        self._blocks[index] = dict(block)
        return index

    def find(self, index: int) -> int:
        """The index of the block that a delta belongs to, where it is not the open one."""
        if index == NO_INDEX and self.open is not None:
            return self.open
        if index in self._blocks and index not in self._closed:
            return index
        raise GarbledStream("A part of the message came before its block began or after it ended; try again.")

    def stop(self, index: int) -> int | None:
        """The index of a block that ends; None if the event is repeated."""
        if index == NO_INDEX and self.open is not None:
            index = self.open
        if index in self._closed or index not in self._blocks:
            return None
        self._closed.add(index)
        if index == self.open:
            self.open = None
        return index
