"""What a command says: decoded, made printable, shown as it comes, and bounded.

The beginning and the end are kept. What lies between is counted and dropped, so memory does not grow with the output.
"""

import codecs
from collections import deque
from collections.abc import Callable
from typing import Literal

from weft.tools.printable import PrintableStream

Channel = Literal["stdout", "stderr"]
Show = Callable[[str, Channel], object]

HEAD = TAIL = 128 * 1024
MOST = 64 * 1024 * 1024
"""Bytes after which a command is stopped."""


class _Reader:
    """One stream, from bytes in any cut to printable text."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._printable = PrintableStream()

    def feed(self, data: bytes) -> str:
        return self._printable.feed(self._decoder.decode(data))

    def close(self) -> str:
        return self._printable.feed(self._decoder.decode(b"", final=True)) + self._printable.close()


class Output:
    """Both streams of a command, interleaved as they came. `show` is given every piece that is kept."""

    def __init__(self, show: Show | None = None, *, head: int = HEAD, tail: int = TAIL, most: int = MOST) -> None:
        self.size = 0
        """Bytes that came."""
        self._show = show
        self._head, self._tail, self._most = head, tail, most
        self._readers: dict[Channel, _Reader] = {"stdout": _Reader(), "stderr": _Reader()}
        self._text: list[str] = []
        self._last: deque[tuple[Channel, bytes]] = deque()
        self._last_size = 0
        self._closed = False

    @property
    def too_much(self) -> bool:
        return self.size > self._most

    @property
    def truncated(self) -> bool:
        return self.size > self._head + self._tail

    def feed(self, channel: Channel, data: bytes) -> None:
        room = self._head - self.size
        self.size += len(data)
        if room > 0:
            self._say(channel, self._readers[channel].feed(data[:room]))
            data = data[room:]
        if data:
            self._last.append((channel, data))
            self._last_size += len(data)
            while self._last_size - len(self._last[0][1]) >= self._tail:
                self._last_size -= len(self._last.popleft()[1])

    def close(self) -> str:
        """The command is over: all that was kept of its output."""
        if not self._closed:
            self._closed = True
            self._end()
        return "".join(self._text)

    def _end(self) -> None:
        if self.truncated:
            self._say("stdout", self._readers["stdout"].close())
            self._say("stderr", self._readers["stderr"].close())
            self._say("stdout", f"\n\n[… {self.size - self._head - self._tail:,} bytes left out …]\n\n")
            self._readers = {"stdout": _Reader(), "stderr": _Reader()}
            channel, first = self._last[0]
            first = first[self._last_size - self._tail :].lstrip(bytes(range(0x80, 0xC0)))
            self._last[0] = channel, first
        for channel, data in self._last:
            self._say(channel, self._readers[channel].feed(data))
        for channel, reader in self._readers.items():
            self._say(channel, reader.close())
        self._last.clear()

    def _say(self, channel: Channel, text: str) -> None:
        if not text:
            return
        self._text.append(text)
        if self._show is not None:
            self._show(text, channel)
