"""The live end of a session's log, for any number of readers at once.

Readers hold a place, not a buffer: the last events are kept once for all of them, and whoever falls behind reads on
from the store. So a thousand readers cost a thousand places, and a slow one costs nobody anything.
"""

import asyncio
from collections import deque

from weft.core.envelope import Event
from weft.core.json import encode

KEPT_BYTES = 2 * 1024 * 1024
KEPT_EVENTS = 4096


class Entry:
    """An event and what is sent of it: written once, for all readers."""

    __slots__ = ("_sse", "_text", "event", "json")

    def __init__(self, event: Event, json: bytes) -> None:
        self.event = event
        self.json = json
        self._text: str | None = None
        self._sse: bytes | None = None

    @property
    def text(self) -> str:
        """As a WebSocket message."""
        if self._text is None:
            self._text = self.json.decode()
        return self._text

    def sse(self, session: str) -> bytes:
        """As a server-sent event. Only those of the session itself have a cursor."""
        if self._sse is None:
            cursor = b"id: %d\n" % self.event.seq if self.event.session == session else b""
            self._sse = b"%sevent: %s\ndata: %s\n\n" % (cursor, self.event.type.encode(), self.json)
        return self._sse


class Hub:
    """Readers of one session meet here."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.readers = 0
        self.first = 0
        """The place of the oldest event that is kept."""
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._due = False

    @property
    def end(self) -> int:
        """The place of the next event."""
        return self.first + len(self._entries)

    def take(self, event: Event) -> None:
        """An event that is stored."""
        if not self.readers:
            return
        entry = Entry(event, encode(event))
        self._entries.append(entry)
        self._bytes += len(entry.json)
        while self._entries and (self._bytes > KEPT_BYTES or len(self._entries) > KEPT_EVENTS):
            self._bytes -= len(self._entries.popleft().json)
            self.first += 1
        self._wake_soon()

    def skip(self) -> None:
        """Something was stored that did not come this way: all read on from the store."""
        self.first = self.end + 1
        self._entries.clear()
        self._bytes = 0
        self._wake_soon()

    def join(self) -> int:
        """A reader comes. Gives its place: what is stored from now on lies behind it."""
        self.readers += 1
        return self.end

    def leave(self) -> None:
        self.readers -= 1
        if not self.readers:
            self.first = self.end
            self._entries.clear()
            self._bytes = 0

    def since(self, place: int) -> list[Entry] | None:
        """What came since a place; None if it is no longer kept here."""
        if place < self.first:
            return None
        start = place - self.first
        return [self._entries[index] for index in range(start, len(self._entries))]

    def expect(self, waiter: "asyncio.Future[None]") -> None:
        """Settle it when something comes."""
        self._waiting.add(waiter)

    def forget(self, waiter: "asyncio.Future[None]") -> None:
        self._waiting.discard(waiter)

    def wake(self) -> None:
        """All who wait look up, whether there is anything or not."""
        self._due = False
        waiting, self._waiting = self._waiting, set()
        for waiter in waiting:
            settle(waiter)

    def _wake_soon(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self.wake)  # once for all that is handed out together


def settle(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
