"""The contract of a framing: it splits a response body into events, as the bytes arrive."""

from typing import Protocol

import msgspec

MAX_EVENT_BYTES = 64 * 1024 * 1024
"""The limit of one event."""


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    """One server-sent event."""

    data: bytes
    event: str = "message"
    id: str = ""


class StreamFraming(Protocol):
    """Splits the body of an answer into events."""

    stray: list[bytes]
    """Lines outside of any event."""

    @property
    def document(self) -> bytes:
        """The first JSON value of a body that is not a stream of events; empty for a stream."""
        ...

    def feed(self, chunk: bytes, /) -> list[ServerSentEvent]: ...

    def close(self) -> list[ServerSentEvent]: ...
