"""How events are cut out of a response body: server-sent events, lines of JSON, or one JSON array."""

from typing import Protocol

from weft.core.errors import MalformedResponse
from weft.wires.json_array import JsonArrayParser
from weft.wires.sse import MAX_EVENT_BYTES, ServerSentEvent, SSEParser


class Framing(Protocol):
    stray: list[bytes]
    """What stood outside of any event."""

    def feed(self, chunk: bytes, /) -> list[ServerSentEvent]: ...

    def close(self) -> list[ServerSentEvent]: ...


class Lines:
    """One JSON object a line."""

    def __init__(self) -> None:
        self.stray: list[bytes] = []
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._keep(chunk)
            return []
        whole = b"".join([*self._pieces, chunk[:end]])
        self._pieces, self._size = [], 0
        self._keep(chunk[end:])
        return [ServerSentEvent(line) for line in whole.split(b"\n") if line.strip()]

    def close(self) -> list[ServerSentEvent]:
        return self.feed(b"\n")

    def _keep(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise MalformedResponse(f"The server sent one line of more than {MAX_EVENT_BYTES} bytes.")


class EventsOrArray:
    """Server-sent events, or a JSON array: the first byte tells."""

    def __init__(self) -> None:
        self.stray: list[bytes] = []
        self._start = b""
        self._framing: SSEParser | JsonArrayParser | None = None

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        if self._framing is None:
            self._start += chunk
            first = self._start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            if not first or first == b"\xef":
                return []
            self._framing = JsonArrayParser() if first in b"[{" else SSEParser()
            self.stray = self._framing.stray
            self.feed = self._framing.feed  # from here on it is the only one asked
            chunk = self._start
        return self._framing.feed(chunk)

    def close(self) -> list[ServerSentEvent]:
        return [] if self._framing is None else self._framing.close()
