"""Splits a JSON array into its elements as they arrive."""

from heald.core.errors import MalformedResponse
from heald.core.lazy import lazy_pattern
from heald.wires.framing import MAX_EVENT_BYTES, ServerSentEvent

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
            delimiter = (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at)
            if delimiter is None:
                break
            at = delimiter.end()
            char = delimiter[0]
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
