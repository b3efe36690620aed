"""The calls that a client was told of and that have no outcome yet, by the ids that the client knows.

A provider may give a call of a second attempt the id that a dropped one had. To a client they are two calls, so the
second goes by another id.
"""

import msgspec

from weft.core.json import JsonObject
from weft.core.payload import Payload


class OpenCall:
    """A call on its way from its first byte to its result."""

    __slots__ = ("asked", "id", "input", "name", "ready", "streaming")

    def __init__(self, shown_id: str, name: str) -> None:
        self.id = shown_id
        """As the client knows it."""
        self.name = name
        self.input: object = None
        self.streaming = True
        """Its arguments still arrive."""
        self.ready = False
        """The client was given its arguments as valid."""
        self.asked = False
        """Somebody is asked whether it may run."""


class Calls:
    """The open calls of one exchange."""

    def __init__(self) -> None:
        self._open: dict[str, OpenCall] = {}
        self._blocks: dict[str, str] = {}  # call ids by block, while arguments arrive
        self._dropped: dict[str, int] = {}  # how often an id was used and dropped

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, call: str, name: str, block: str | None = None) -> OpenCall:
        """A call begins. Its arguments arrive in a block, or are there at once."""
        opened = self._open[call] = OpenCall(_numbered(call, self._dropped.get(call, 0) + 1), name)
        if block is not None:
            self._blocks[block] = call
        return opened

    def get(self, call: str) -> OpenCall | None:
        return self._open.get(call)

    def known_as(self, call: str) -> str:
        """The id by which the client knows a call, also one that was dropped."""
        opened = self._open.get(call)
        return opened.id if opened is not None else _numbered(call, self._dropped.get(call, 1))

    def told(self, payload: Payload) -> JsonObject:
        """A payload as plain values, its calls by the ids that the client knows."""
        said: JsonObject = msgspec.to_builtins(payload)
        return said | {key: self.known_as(said[key]) for key in ("id", "call") if key in said}

    def of_block(self, block: str) -> OpenCall | None:
        return self._open.get(self._blocks.get(block, ""))

    def end_block(self, block: str) -> OpenCall | None:
        """All arguments of a call have arrived."""
        call = self._open.get(self._blocks.pop(block, ""))
        if call is not None:
            call.streaming = False
        return call

    def end(self, call: str) -> OpenCall | None:
        """A call has its outcome."""
        return self._open.pop(call, None)

    def drop(self) -> list[OpenCall]:
        """All calls that are open come to nothing."""
        for call in self._open:
            self._dropped[call] = self._dropped.get(call, 0) + 1
        dropped = list(self._open.values())
        self._open.clear()
        self._blocks.clear()
        return dropped


def _numbered(call: str, times: int) -> str:
    return call if times == 1 else f"{call}.{times}"
