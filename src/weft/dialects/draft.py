"""A file's text while it is being written, for clients that must be sent all of it each time.

Sent with each piece, a file of n characters would cost n² of them. Here it is sent when it has grown by an eighth since
the last time, and by 40 characters at least, and not more often than 20 times a second: what is sent in all stays below
ten times the file.
"""

GROWTH = 1 / 8
MIN_STEP = 40
MIN_SECONDS = 0.05


class Draft:
    """What a call has written of one file so far."""

    __slots__ = ("_parts", "_sent", "_time", "path", "size")

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = 0
        self._parts: list[str] = []
        self._sent = 0
        self._time = float("-inf")

    def add(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)

    def due(self, time: float) -> bool:
        """Whether to send it now. `time` is that of the event, so that a log gives the same frames each time."""
        if self.size - self._sent < max(MIN_STEP, self._sent * GROWTH) or time - self._time < MIN_SECONDS:
            return False
        self._sent, self._time = self.size, time
        return True

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""
