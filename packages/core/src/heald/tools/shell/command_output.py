"""The output of a command, in a bounded buffer."""

import codecs
from collections import deque
from collections.abc import Callable
from typing import Literal

from heald.tools.sanitize import TextSanitizer

Channel = Literal["stdout", "stderr"]
Show = Callable[[str, Channel], object]
HEAD = TAIL = 128 * 1024
MOST = 64 * 1024 * 1024
"""Bytes of output after which a command is stopped."""


class _Reader:
    """Decodes one stream incrementally to printable text."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._printable = TextSanitizer(keep_returns=True)

    def feed(self, data: bytes) -> str:
        return self._printable.feed(self._decoder.decode(data))

    def close(self) -> str:
        return self._printable.feed(self._decoder.decode(b"", final=True)) + self._printable.close()


class CommandOutput:
    """Both streams of a command, interleaved in order of arrival. `show` receives every piece that is kept."""

    def __init__(self, show: Show | None = None) -> None:
        self.size = 0
        """Total bytes received."""
        self._show = show
        self._readers: dict[Channel, _Reader] = {"stdout": _Reader(), "stderr": _Reader()}
        self._text: list[str] = []
        self._last: deque[tuple[Channel, bytes]] = deque()
        self._last_size = 0
        self._closed = False

    @property
    def exceeds_limit(self) -> bool:
        return self.size > MOST

    @property
    def truncated(self) -> bool:
        return self.size > HEAD + TAIL

    def feed(self, channel: Channel, data: bytes) -> None:
        room = HEAD - self.size
        self.size += len(data)
        if room > 0:
            self._append(channel, self._readers[channel].feed(data[:room]))
            data = data[room:]
        if data:
            self._last.append((channel, data))
            self._last_size += len(data)
            while self._last_size - len(self._last[0][1]) >= TAIL:
                self._last_size -= len(self._last.popleft()[1])

    def peek(self) -> str:
        """Return the kept output so far."""
        return "".join(self._text) + b"".join(data for _, data in self._last).decode("utf-8", "replace")

    def close(self) -> str:
        """Return the kept output at the end of the command."""
        if not self._closed:
            self._closed = True
            self._end()
        return "".join(self._text)

    def _end(self) -> None:
        if self.truncated:
            self._append("stdout", self._readers["stdout"].close())
            self._append("stderr", self._readers["stderr"].close())
            self._append("stdout", f"\n\n[… {self.size - HEAD - TAIL:,} bytes left out …]\n\n")
            self._readers = {"stdout": _Reader(), "stderr": _Reader()}
            channel, first = self._last[0]
            first = first[self._last_size - TAIL :].lstrip(bytes(range(0x80, 0xC0)))
            self._last[0] = channel, first
        for channel, data in self._last:
            self._append(channel, self._readers[channel].feed(data))
        for channel, reader in self._readers.items():
            self._append(channel, reader.close())
        self._last.clear()

    def _append(self, channel: Channel, text: str) -> None:
        if not text:
            return
        self._text.append(text)
        if self._show is not None:
            self._show(text, channel)
