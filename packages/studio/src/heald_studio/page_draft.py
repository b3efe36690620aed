"""The part of a file that a call has written so far, and its path."""

import re

from heald.core.json import loads

GROWTH = 1 / 8
MIN_STEP = 40
MIN_SECONDS = 0.05


class PageDraft:
    """The part of a file that a call has written so far."""

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
        """Whether to send it now. `time` is the event's, so the same log gives the same frames."""
        if self.size - self._sent < max(MIN_STEP, self._sent * GROWTH) or time - self._time < MIN_SECONDS:
            return False
        self._sent, self._time = self.size, time
        return True

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""


class PathReader:
    """Reads the path of a file from the head of a call's arguments, while they arrive."""

    __slots__ = ("_head",)

    def __init__(self) -> None:
        self._head = ""

    def feed(self, arguments: str) -> str | None:
        """Return the path once it is whole, if it is the first argument."""
        if len(self._head) > _HEAD_SIZE:
            return None
        self._head += arguments
        match = _PATH.match(self._head)
        return str(loads(match[1].encode())) if match is not None else None


_PATH = re.compile(r'\s*\{\s*"path"\s*:\s*("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+")')
_HEAD_SIZE = 4096
