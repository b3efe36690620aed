"""Parses server-sent events, in any split of the bytes.

They follow https://html.spec.whatwg.org/multipage/server-sent-events.html with two deviations that model streams need:
`close` returns a last event that lacks its blank line, and lines that are not a field are collected in `stray`, because
some servers send bare JSON in the middle of a stream.
"""

from functools import lru_cache
from itertools import chain

from heald.core.errors import MalformedResponse
from heald.wires.framing import MAX_EVENT_BYTES, ServerSentEvent

_MAX_STRAY_LINES = 1000
_BOM = b"\xef\xbb\xbf"


class SSEParser:
    """Parses bytes in any split into events. The cost is linear in the bytes."""

    retry_ms: int | None = None
    _held = 0  # bytes of the pieces
    _size = 0  # of the data of an open event of which some lines are parsed
    _event = ""
    _id = ""
    _dirty = False  # a field of the open event was read
    _skip_lf = False  # the last byte seen was a CR: a following LF belongs to it
    _started = False

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.stray: list[bytes] = []
        self._max = max_event_bytes
        self._pieces: list[bytes] = []  # of the line or event that is still open, not parsed yet
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if not self._started:
            chunk = self._strip_bom(chunk)
        events: list[ServerSentEvent] = []
        if chunk.find(b"\r") >= 0 or self._skip_lf:  # `in` first tries the bytes as a number, and raises
            chunk = self._to_lf(self._parse_crlf(chunk, events))
        end = chunk.rfind(b"\n\n") + 2  # an event that is still open is kept as it is
        if end == 1:
            end = chunk.rfind(b"\n") + 1
        if not end:
            if chunk:
                self._hold(chunk)
            return events
        lines = self._end_pieces(chunk[:end]) if self._pieces else chunk[:end]
        if end < len(chunk):
            self._hold(chunk[end:])
        if self._dirty:
            self._parse_lines(lines, events)
        else:
            self._parse_blocks(lines, events)
        return events

    def close(self) -> list[ServerSentEvent]:
        """End the stream and return the event that lacks its blank line."""
        events: list[ServerSentEvent] = []
        if not self._pieces and not self._dirty:
            return events
        self._parse_lines(b"".join(self._pieces) + b"\n\n", events)
        self._pieces = []
        return events

    def _hold(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._held += len(piece)
        if self._size + self._held > self._max:
            raise self._too_large()

    def _end_pieces(self, piece: bytes) -> bytes:
        """Return the pieces that were held, with the one that ends them."""
        self._pieces.append(piece)
        whole = b"".join(self._pieces)
        self._pieces, self._held = [], 0
        return whole

    def _strip_bom(self, chunk: bytes) -> bytes:
        if self._pieces:
            chunk = self._end_pieces(chunk)
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

    def _parse_blocks(self, lines: bytes, events: list[ServerSentEvent]) -> None:
        """Parse whole events. The common shapes need no loop over lines."""
        if lines.startswith(b"data: ") and lines.find(b"\n") == len(lines) - 2:  # one event of one line
            events.append(ServerSentEvent(lines[6:-2], "message", self._id))
            return
        if lines.startswith(b"data: ") and lines.endswith(b"\n\n"):
            payloads = lines[6:-2].split(b"\n\ndata: ")
            if b"".join(payloads).find(b"\n") < 0:  # each event is one line
                events += [ServerSentEvent(data, "message", self._id) for data in payloads]
                return
        elif lines.startswith(b"event: ") and lines.endswith(b"\n\n"):
            pairs = [event.split(b"\ndata: ") for event in lines[7:-2].split(b"\n\nevent: ")]
            if set(map(len, pairs)) == {2} and b"".join(chain.from_iterable(pairs)).find(b"\n") < 0:
                # a name and one line
                events += [ServerSentEvent(data, _event_name(name), self._id) for name, data in pairs]
                return
        blocks = lines.split(b"\n\n")
        rest = blocks.pop()
        for block in blocks:
            first, _, second = block.partition(b"\n")
            if not second and first.startswith(b"data: "):
                events.append(ServerSentEvent(first[6:], "message", self._id))
            elif second.startswith(b"data: ") and first.startswith(b"event: ") and second.find(b"\n") < 0:
                events.append(ServerSentEvent(second[6:], _event_name(first[7:]), self._id))
            else:
                self._parse_lines(block + b"\n\n", events)
        if rest:
            self._parse_lines(rest, events)

    def _parse_crlf(self, chunk: bytes, events: list[ServerSentEvent]) -> bytes:
        """Parse whole events whose lines end with CR and LF, and return the rest."""
        end = chunk.rfind(b"\r\n\r\n") + 4
        if end == 3 or self._dirty or self._skip_lf:
            return chunk
        lines = self._end_pieces(chunk[:end]) if self._pieces else chunk[:end]
        payloads = lines[6:-4].split(b"\r\n\r\ndata: ")
        if lines.startswith(b"data: ") and lines.count(b"\n") == lines.count(b"\r") == 2 * len(payloads):
            events += [ServerSentEvent(data, "message", self._id) for data in payloads]  # each event is one line
        else:
            self._parse_blocks(self._to_lf(lines), events)
        return chunk[end:]

    def _parse_lines(self, lines: bytes, events: list[ServerSentEvent]) -> None:
        for line in lines.split(b"\n")[:-1]:
            if line:
                self._parse_field(line)
            elif self._dirty:
                self._dispatch(events)

    def _parse_field(self, line: bytes) -> None:
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


@lru_cache(256)
def _event_name(name: bytes) -> str:
    return name.decode("utf-8", "replace") or "message"
