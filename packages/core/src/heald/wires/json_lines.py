"""Splits a response into lines of JSON."""

from heald.core.errors import MalformedResponse
from heald.wires.framing import MAX_EVENT_BYTES, ServerSentEvent
from heald.wires.json_array import JsonArrayParser


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
