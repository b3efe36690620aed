"""The open calls of an exchange, by the ids that the client knows.

A provider may give a call of a second attempt the id of a dropped one. For the client they are two calls, so the second
gets another id.
"""

import msgspec

from heald.core.events import ApprovalRequested, ApprovalResolved, ClientToolRequested, QuestionAnswered, QuestionAsked
from heald.core.json import JsonObject
from heald.core.payload import Payload


class ClientCall:
    """A call between its first byte and its result."""

    __slots__ = ("asked", "id", "input", "name", "on_client", "ready", "streaming", "waits_for")

    def __init__(self, shown_id: str, name: str) -> None:
        self.id = shown_id
        """The id that the client knows."""
        self.name = name
        self.input: object = None
        self.streaming = True
        """Its arguments are still arriving."""
        self.ready = False
        """Its arguments were sent to the client as valid."""
        self.asked = False
        """An approval was requested for it."""
        self.on_client = False
        """A client runs it."""
        self.waits_for: Payload | None = None
        """The open request to the client: an approval, a question, or the call itself."""


class OpenCalls:
    """The open calls of one exchange."""

    def __init__(self) -> None:
        self._open: dict[str, ClientCall] = {}
        self._blocks: dict[str, str] = {}  # call ids by block, while arguments arrive
        self._dropped: dict[str, int] = {}  # how often a call of this id was dropped

    def __len__(self) -> int:
        return len(self._open)

    @property
    def is_waiting(self) -> bool:
        """Whether every open call waits for the client."""
        return bool(self._open) and all(call.waits_for is not None for call in self._open.values())

    @property
    def waiting(self) -> frozenset[str]:
        """The ids of the calls that wait for the client."""
        return frozenset(name for name, call in self._open.items() if call.waits_for is not None)

    @property
    def requests(self) -> list[Payload]:
        """The open requests to the client, in the order of the calls."""
        return [call.waits_for for call in self._open.values() if call.waits_for is not None]

    def track_request(self, payload: Payload) -> None:
        """Record that a call waits for the client, or that it does so no more."""
        match payload:
            case ClientToolRequested(id=id):
                self._wait(id, payload)
                if (call := self._open.get(id)) is not None:
                    call.on_client = True
            case ApprovalRequested(call_id=id) | QuestionAsked(call_id=id):
                self._wait(id, payload)
            case ApprovalResolved(call_id=id) | QuestionAnswered(call_id=id):
                self._wait(id, None)
            case _:
                pass

    def _wait(self, call: str, request: Payload | None) -> None:
        opened = self._open.get(call)
        if opened is not None:
            opened.waits_for = request

    def begin(self, call: str, name: str, block: str | None = None) -> ClientCall:
        """Add a call. Its arguments arrive in a block, or are known at once."""
        opened = self._open[call] = ClientCall(_numbered(call, self._dropped.get(call, 0) + 1), name)
        if block is not None:
            self._blocks[block] = call
        return opened

    def get(self, call: str) -> ClientCall | None:
        return self._open.get(call)

    def client_id_of(self, call: str) -> str:
        """The id that the client knows for a call, dropped ones included."""
        opened = self._open.get(call)
        return opened.id if opened is not None else _numbered(call, self._dropped.get(call, 1))

    def encode_payload(self, payload: Payload) -> JsonObject:
        """A payload as plain values, with the client's ids of calls."""
        fields: JsonObject = msgspec.to_builtins(payload)
        return fields | {key: self.client_id_of(fields[key]) for key in ("id", "call_id") if key in fields}

    def in_block(self, block: str) -> ClientCall | None:
        return self._open.get(self._blocks.get(block, ""))

    def end_block(self, block: str) -> ClientCall | None:
        """The arguments of a call are complete."""
        call = self._open.get(self._blocks.pop(block, ""))
        if call is not None:
            call.streaming = False
        return call

    def end(self, call: str) -> ClientCall | None:
        """Remove a call that has its result."""
        return self._open.pop(call, None)

    def drop(self) -> list[ClientCall]:
        """Remove all open calls of a failed attempt."""
        for call in self._open:
            self._dropped[call] = self._dropped.get(call, 0) + 1
        dropped = list(self._open.values())
        self._open.clear()
        self._blocks.clear()
        return dropped


def _numbered(call: str, times: int) -> str:
    return call if times == 1 else f"{call}.{times}"
