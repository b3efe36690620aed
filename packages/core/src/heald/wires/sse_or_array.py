"""Splits a response that is either server-sent events or a JSON array."""

from heald.wires.framing import ServerSentEvent
from heald.wires.json_array import JsonArrayParser
from heald.wires.sse import SSEParser


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
            self._framing = JsonArrayParser() if first in (b"[", b"{") else SSEParser()
            self.stray = self._framing.stray
            self.feed = self._framing.feed  # further calls go to it directly
            chunk = self._start
        return self._framing.feed(chunk)

    def close(self) -> list[ServerSentEvent]:
        return [] if self._framing is None else self._framing.close()
