"""A frame: one thing said to a client, and how it is written on a stream of server-sent events."""

import msgspec

from weft.core.envelope import Event
from weft.core.json import JsonObject, encode


class Frame(msgspec.Struct, frozen=True, gc=False):
    """What one message to a client says."""

    data: JsonObject | Event | str
    """An object is written as JSON, a text as it is."""
    event: str | None = None
    """The name that server-sent events give it."""
    id: int | None = None
    """The seq of the event that is said in full with this frame: from here on a client can resume."""

    @property
    def payload(self) -> bytes:
        """The data as it is written."""
        return self.data.encode() if isinstance(self.data, str) else encode(self.data)


def write_sse(frame: Frame) -> bytes:
    """The frame as a server-sent event."""
    parts: list[bytes] = []
    if frame.id is not None:
        parts.append(b"id: %d\n" % frame.id)
    if frame.event is not None:
        parts.append(b"event: %s\n" % " ".join(frame.event.split()).encode("utf-8", "replace"))
    if isinstance(frame.data, str):
        parts += [b"data: %s\n" % line.encode() for line in frame.data.splitlines() or [""]]
    else:
        parts.append(b"data: %s\n" % frame.payload)  # JSON has no line breaks of its own
    return b"".join((*parts, b"\n"))
