"""One message to a client, and its form as a server-sent event."""

import msgspec

from heald.core.envelope import Event
from heald.core.json import JsonObject, encode


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One message to a client."""

    data: JsonObject | Event | str
    """An object is encoded as JSON, a text is sent as it is."""
    event: str | None = None
    """Its name as a server-sent event."""
    id: int | None = None
    """The seq of the event that this frame completes: a client can resume from here."""

    @property
    def payload(self) -> bytes:
        """The encoded data."""
        return self.data.encode() if isinstance(self.data, str) else encode(self.data)


def write_sse(frame: Frame) -> bytes:
    """The frame as a server-sent event."""
    if frame.event is None and frame.id is not None and not isinstance(frame.data, str):
        return b"id: %d\ndata: %b\n\n" % (frame.id, encode(frame.data))  # encoded JSON has no line breaks
    parts: list[bytes] = []
    if frame.id is not None:
        parts.append(b"id: %d\n" % frame.id)
    if frame.event is not None:
        parts.append(b"event: %s\n" % " ".join(frame.event.split()).encode("utf-8", "replace"))
    if isinstance(frame.data, str):
        parts += [b"data: %s\n" % line.encode() for line in frame.data.splitlines() or [""]]
    else:
        parts.append(b"data: %s\n" % frame.payload)
    return b"".join((*parts, b"\n"))
