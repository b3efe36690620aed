"""Server-sent events, read to the WHATWG text (https://html.spec.whatwg.org/multipage/server-sent-events.html).

Two deviations, both needed for model streams: `close` gives out a last event that lacks its blank line, and lines
that are no field at all are kept in `stray`, because some servers answer with bare JSON in the middle of a stream.
"""

import msgspec

from weft.core.errors import MalformedResponse

MAX_EVENT_BYTES = 64 * 1024 * 1024
_MAX_STRAY_LINES = 1000
_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    data: bytes
    event: str = "message"
    id: str = ""


class SSEParser:
    """Bytes in any cut, events out. Cost is linear in the bytes, however they are cut."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.retry_ms: int | None = None
        self.stray: list[bytes] = []
        self._max = max_event_bytes
        self._pieces: list[bytes] = []  # of the line that is still open
        self._size = 0  # of the data of the event that is still open
        self._line = 0  # of the line that is still open
        self._data: list[bytes] = []
        self._event = ""
        self._id = ""
        self._dirty = False  # a field of the open event was read
        self._skip_lf = False  # the last byte seen was a CR: a following LF belongs to it
        self._started = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if not self._started:
            chunk = self._strip_bom(chunk)
        if b"\r" in chunk or self._skip_lf:
            chunk = self._to_lf(chunk)
        end = chunk.rfind(b"\n") + 1
        self._line = len(chunk) - end + (0 if end else self._line)
        if self._size + self._line > self._max:
            raise self._too_large()
        if not end:
            self._pieces.append(chunk)
            return []
        lines = chunk[:end]
        if self._pieces:
            self._pieces.append(lines)
            lines = b"".join(self._pieces)
        self._pieces = [chunk[end:]] if end < len(chunk) else []
        events: list[ServerSentEvent] = []
        if self._dirty:
            self._lines(lines, events)
        else:
            self._blocks(lines, events)
        return events

    def close(self) -> list[ServerSentEvent]:
        """The stream is over; give out what was waiting for its blank line."""
        events: list[ServerSentEvent] = []
        if not self._pieces and not self._dirty:
            return events
        self._lines(b"".join(self._pieces) + b"\n\n", events)
        self._pieces = []
        return events

    def _strip_bom(self, chunk: bytes) -> bytes:
        if self._pieces:
            chunk = b"".join([*self._pieces, chunk])
            self._pieces = []
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._pieces = [chunk]
            return b""
        self._started = True
        return chunk.removeprefix(_BOM)

    def _to_lf(self, chunk: bytes) -> bytes:
        if self._skip_lf and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_lf = False
        if chunk.endswith(b"\r"):
            self._skip_lf = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _blocks(self, lines: bytes, events: list[ServerSentEvent]) -> None:
        """Whole events at a time: the common shapes without a loop over lines."""
        blocks = lines.split(b"\n\n")
        rest = blocks.pop()
        for block in blocks:
            first, _, second = block.partition(b"\n")
            if not second and first.startswith(b"data: "):
                events.append(ServerSentEvent(first[6:], "message", self._id))
            elif second.startswith(b"data: ") and first.startswith(b"event: ") and b"\n" not in second:
                events.append(ServerSentEvent(second[6:], first[7:].decode("utf-8", "replace"), self._id))
            else:
                self._lines(block + b"\n\n", events)
        if rest:
            self._lines(rest, events)

    def _lines(self, lines: bytes, events: list[ServerSentEvent]) -> None:
        for line in lines.split(b"\n")[:-1]:
            if line:
                self._field(line)
            elif self._dirty:
                self._dispatch(events)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        self._dirty = True
        match name:
            case b"data":
                self._data.append(value)
                self._size += len(value)
                if self._size > self._max:
                    raise self._too_large()
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id":
                if b"\0" not in value:
                    self._id = value.decode("utf-8", "replace")
            case b"retry":
                if value.isdigit() and len(value) < 10:
                    self.retry_ms = int(value)
            case b"":
                pass  # a comment
            case _:
                if len(self.stray) < _MAX_STRAY_LINES:
                    self.stray.append(line)

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        if self._data:
            events.append(ServerSentEvent(b"\n".join(self._data), self._event or "message", self._id))
        self._data = []
        self._size = 0
        self._event = ""
        self._dirty = False

    def _too_large(self) -> MalformedResponse:
        return MalformedResponse(
            f"The server sent one event of more than {self._max} bytes; raise max_event_bytes if it is meant to."
        )
