"""Keeps the last events of the sessions that somebody watches, each encoded once for all readers.

A reader has a position and no buffer: one that falls behind reads from the store until it has caught up. So a slow
reader costs the others nothing. Events that all readers have passed are dropped, and all hubs of a server together
have a limit.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from heald.core.envelope import Event
from heald.core.events import TextDelta
from heald.core.json import encode
from heald.sessions.event_codec import MAX_FRAME_BYTES, encode_frame

KEPT_BYTES = 2 * 1024 * 1024
"""Bytes of encoded events that a session keeps for readers that are behind."""
KEPT_EVENTS = 4096
SERVER_BYTES = 64 * 1024 * 1024
"""Memory of the kept events of all sessions."""
BATCH_EVENTS = 256
"""Events in one batch, so that a long log does not block the loop."""
BATCH_BYTES = 256 * 1024
"""Bytes in one batch of several events: the memory that a client can hold by not reading."""
_DROP_FROM = 64
"""Kept events from which on those that everybody has read are dropped."""
_EVENT_BYTES = 700
"""Memory of an event besides its three encoded forms."""
_DELTA_BYTES = 320
"""The JSON of a delta besides its text, about."""
_SHORT_TEXT = 4096
"""Characters of a delta that is encoded only when a reader of native events wants it."""


class EncodedEvent:
    """An event and its encoded forms, made once for all readers, when the first one wants them."""

    __slots__ = ("_json", "_sse", "_text", "event", "length")

    def __init__(self, event: Event, json: bytes | None = None) -> None:
        self.event = event
        self._json: bytes | None = None
        self._text: str | None = None
        self._sse: bytes | None = None
        text = event.data.text if type(event.data) is TextDelta else None
        if json is None and text is not None and len(text) <= _SHORT_TEXT:
            self.length = _DELTA_BYTES + len(text)
            """Bytes of the JSON; of a text that is not encoded yet, about."""
            return
        json = encode(event) if json is None else json
        self._json = json if len(json) <= MAX_FRAME_BYTES else encode_frame(event, json)
        self.length = len(self._json)

    @property
    def json(self) -> bytes:
        if self._json is None:
            self._json = encode(self.event)
        return self._json

    @property
    def text(self) -> str:
        """The event as a WebSocket message."""
        if self._text is None:
            self._text = self.json.decode()
        return self._text

    @property
    def size(self) -> int:
        """Approximate memory in bytes."""
        return 3 * self.length + _EVENT_BYTES

    def sse(self, session: str) -> bytes:
        """Encode the event as a server-sent event. Events of other sessions have no cursor."""
        if self._sse is None:
            cursor = b"id: %d\n" % self.event.seq if self.event.session == session else b""
            self._sse = b"%sevent: %s\ndata: %s\n\n" % (cursor, self.event.type.encode(), self.json)
        return self._sse


class HubReader:
    """The position of one reader in a hub."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


class HubMemory:
    """The memory of all hubs of a server."""

    def __init__(self, limit: int = SERVER_BYTES) -> None:
        self.limit = limit
        self.used = 0
        self.hubs: set[EventHub] = set()
        """Those that keep events."""

    def count(self, size: int) -> None:
        """Count memory that is used, or no longer used. Beyond the limit, the largest hub drops its events."""
        self.used += size
        while self.used > self.limit and self.hubs:
            max(self.hubs, key=lambda hub: hub.kept).drop()


class EventHub:
    """The last events of one session, for any number of readers."""

    def __init__(
        self, session: str, memory: HubMemory | None = None, on_first_reader: Callable[[str], object] | None = None
    ) -> None:
        """`on_first_reader` is called with the session when it has a reader and had none."""
        self.session = session
        self._on_first_reader = on_first_reader
        self.first = 0
        """The position of the oldest event that is kept."""
        self.kept = 0
        """Memory of the kept events."""
        self.tail: int | None = None
        """The last event of the session that was added, if it is known."""
        self._memory = memory or HubMemory()
        self._readers: set[HubReader] = set()
        self.visits = 0
        """The readers so far."""
        self._entries: deque[EncodedEvent] = deque()
        self._bytes = 0
        self._drop_at = _DROP_FROM
        self._listeners: dict[Callable[[], object], None] = {}
        self._due = False

    @property
    def readers(self) -> int:
        return len(self._readers)

    def is_watched(self) -> bool:
        """Whether somebody reads."""
        return bool(self._readers)

    @property
    def end(self) -> int:
        """The position of the next event."""
        return self.first + len(self._entries)

    def add(self, event: Event, json: bytes | None = None) -> None:
        """Add a stored event, and wake the readers soon. `json` is its encoding, if the store has made it."""
        if self._readers:
            self.collect(event, json)
            self._wake_soon()

    def collect(self, event: Event, json: bytes | None = None) -> None:
        """Add a stored event whose readers `wake_readers` wakes."""
        if not self._readers:
            return
        if event.session == self.session:
            self.tail = event.seq
        entry = EncodedEvent(event, json)
        size = entry.size
        self._entries.append(entry)
        self._bytes += entry.length
        self.kept += size
        if len(self._entries) >= self._drop_at:
            self._drop_until(min(reader.position for reader in self._readers))
            self._drop_at = max(2 * len(self._entries), _DROP_FROM)
        if self._bytes > KEPT_BYTES or len(self._entries) > KEPT_EVENTS:
            self._drop_until(self.first + 1)
        self._memory.hubs.add(self)
        self._memory.count(size)

    def extend(self, events: Sequence[Event]) -> None:
        """Add events that another process stored. Those that are here already are left out."""
        for event in events:
            if self.tail is None or event.seq > self.tail:
                self.add(event)

    def drop(self) -> None:
        """Drop all kept events: readers that are behind go to the store."""
        self._drop_until(self.end)

    def invalidate(self) -> None:
        """Send all readers to the store: events were stored that were not added here."""
        self.drop()
        self.first += 1
        self._wake_soon()

    def subscribe(self) -> HubReader:
        """Add a reader. Events that are stored from now on come after its position."""
        reader = HubReader(self.end)
        is_first = not self._readers
        self._readers.add(reader)
        self.visits += 1
        if is_first and self._on_first_reader is not None:
            self._on_first_reader(self.session)
        return reader

    def unsubscribe(self, reader: HubReader) -> None:
        self._readers.discard(reader)
        if not self._readers:
            self.tail = None
            self.drop()

    def read(self, reader: HubReader) -> list[EncodedEvent] | None:
        """Return the next events of a reader, at most a batch, and move it behind them; None if they were dropped."""
        if reader.position < self.first:
            return None
        start = reader.position - self.first
        if start == len(self._entries) - 1:
            reader.position += 1
            return [self._entries[start]]
        entries: list[EncodedEvent] = []
        size = 0
        for index in range(start, min(len(self._entries), start + BATCH_EVENTS)):
            entry = self._entries[index]
            size += entry.length
            if entries and size > BATCH_BYTES:
                break
            entries.append(entry)
        reader.position += len(entries)
        return entries

    def _drop_until(self, position: int) -> None:
        freed = 0
        while self._entries and (self.first < position or self._bytes > KEPT_BYTES or len(self._entries) > KEPT_EVENTS):
            entry = self._entries.popleft()
            self._bytes -= entry.length
            freed += entry.size
            self.first += 1
        if not self._entries:
            self._memory.hubs.discard(self)
        self.kept -= freed
        self._memory.count(-freed)

    def add_listener(self, callback: Callable[[], object]) -> None:
        """Call back whenever events have come, until `remove_listener`."""
        self._listeners[callback] = None

    def remove_listener(self, callback: Callable[[], object]) -> None:
        self._listeners.pop(callback, None)

    def wake_readers(self) -> None:
        """Wake all waiting readers."""
        self._due = False
        for callback in list(self._listeners):
            callback()

    def _wake_soon(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self.wake_readers)  # once for all events of a batch


def wake_waiter(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
