"""Splits a response body into events: server-sent events, JSON lines, a JSON array, or one JSON object.

Server-sent events follow https://html.spec.whatwg.org/multipage/server-sent-events.html with two deviations that model
streams need: `close` returns a last event that lacks its blank line, and lines that are no field are collected in
`stray`, because some servers send bare JSON in the middle of a stream.
"""

from functools import lru_cache
from itertools import chain
from typing import Protocol

import msgspec

from weft.core.errors import MalformedResponse
from weft.core.lazy import lazy_pattern

MAX_EVENT_BYTES = 64 * 1024 * 1024
_MAX_STRAY_LINES = 1000
_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    data: bytes
    event: str = "message"
    id: str = ""


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
        if b"\r" in chunk or self._skip_lf:
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
        if lines.startswith(b"data: ") and lines.endswith(b"\n\n"):
            found = lines[6:-2].split(b"\n\ndata: ")
            if b"\n" not in b"".join(found):  # each event is one line
                events += [ServerSentEvent(data, "message", self._id) for data in found]
                return
        elif lines.startswith(b"event: ") and lines.endswith(b"\n\n"):
            pairs = [event.split(b"\ndata: ") for event in lines[7:-2].split(b"\n\nevent: ")]
            if set(map(len, pairs)) == {2} and b"\n" not in b"".join(chain.from_iterable(pairs)):  # a name and one line
                events += [ServerSentEvent(data, _event_name(name), self._id) for name, data in pairs]
                return
        blocks = lines.split(b"\n\n")
        rest = blocks.pop()
        for block in blocks:
            first, _, second = block.partition(b"\n")
            if not second and first.startswith(b"data: "):
                events.append(ServerSentEvent(first[6:], "message", self._id))
            elif second.startswith(b"data: ") and first.startswith(b"event: ") and b"\n" not in second:
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
        found = lines[6:-4].split(b"\r\n\r\ndata: ")
        if lines.startswith(b"data: ") and lines.count(b"\n") == lines.count(b"\r") == 2 * len(found):
            events += [ServerSentEvent(data, "message", self._id) for data in found]  # each event is one line
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


_OUTSIDE = lazy_pattern(rb'["{}\[\]]')
_INSIDE = lazy_pattern(rb'["\\]')


class JsonArrayParser:
    """Splits a JSON array, in any split of bytes, into its raw elements. A bare object counts as an array of one."""

    def __init__(self, max_element_bytes: int = MAX_EVENT_BYTES) -> None:
        self.stray: list[bytes] = []
        self.first = b""
        """The first element."""
        self._max = max_element_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._depth = 0  # of braces and brackets, the array's own left out
        self._in_array = False
        self._in_string = False
        self._escaped = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        elements: list[ServerSentEvent] = []
        at = start = 0
        if self._escaped and chunk:
            at = 1
            self._escaped = False
        while at < len(chunk):
            found = (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                break
            at = found.end()
            char = found[0]
            if char == b'"':
                self._in_string = not self._in_string
            elif char == b"\\":
                self._escaped = at == len(chunk)
                at += 1
            elif char in b"{[":
                if self._depth == 0:
                    start = at - 1
                    if char == b"[" and not self._in_array:
                        self._in_array = True
                        continue
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                if self._depth == 0:
                    self._pieces.append(chunk[start:at])
                    elements.append(ServerSentEvent(b"".join(self._pieces)))
                    self.first = self.first or elements[0].data
                    self._pieces, self._size = [], 0
        if self._depth:
            self._buffer(chunk[start:])
        return elements

    def close(self) -> list[ServerSentEvent]:
        """End the array. An unfinished element is dropped."""
        return []

    def _buffer(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._max:
            raise MalformedResponse(f"The server sent one element of more than {self._max} bytes.")


class StreamFraming(Protocol):
    stray: list[bytes]
    """Lines outside of any event."""

    @property
    def document(self) -> bytes:
        """The first JSON value of a body that is not a stream of events; empty for a stream."""
        ...

    def feed(self, chunk: bytes, /) -> list[ServerSentEvent]: ...

    def close(self) -> list[ServerSentEvent]: ...


class JsonLinesParser:
    """Splits lines, each of which is a JSON object. A lone brace as the first line begins one long object."""

    def __init__(self) -> None:
        self.stray: list[bytes] = []
        self._pieces: list[bytes] = []
        self._size = 0
        self._begun = False
        self._whole: JsonArrayParser | None = None

    @property
    def document(self) -> bytes:
        return b"" if self._whole is None else self._whole.first

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if self._whole is not None:
            return self._whole.feed(chunk)
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._buffer(chunk)
            return []
        whole = b"".join([*self._pieces, chunk[:end]])
        if not self._begun and (first := whole.lstrip()):
            self._begun = True
            if first.partition(b"\n")[0].rstrip() in (b"{", b"["):
                self._whole = JsonArrayParser()
                return self._whole.feed(whole + chunk[end:])
        self._pieces, self._size = [], 0
        self._buffer(chunk[end:])
        return [ServerSentEvent(line) for line in whole.split(b"\n") if line.strip()]

    def close(self) -> list[ServerSentEvent]:
        return self.feed(b"\n")

    def _buffer(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise MalformedResponse(f"The server sent one line of more than {MAX_EVENT_BYTES} bytes.")


class SSEOrArrayParser:
    """Parses server-sent events, a JSON array or one JSON object, depending on the first byte."""

    def __init__(self) -> None:
        self.stray: list[bytes] = []
        self._start = b""
        self._framing: SSEParser | JsonArrayParser | None = None

    @property
    def document(self) -> bytes:
        return self._framing.first if isinstance(self._framing, JsonArrayParser) else b""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if self._framing is None:
            self._start += chunk
            first = self._start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            if not first or first == b"\xef":
                return []
            self._framing = JsonArrayParser() if first in b"[{" else SSEParser()
            self.stray = self._framing.stray
            self.feed = self._framing.feed  # further calls go to it directly
            chunk = self._start
        return self._framing.feed(chunk)

    def close(self) -> list[ServerSentEvent]:
        return [] if self._framing is None else self._framing.close()
