"""Encodes the events of a stream in a dialect, several in one message where the client accepts that."""

from collections.abc import Iterator, Sequence

from heald.core.json import encode
from heald_server.dialects.dialect import Dialect
from heald_server.protocols.native.dialect import NativeDialect
from heald_server.streams.event_hub import BATCH_BYTES, BATCH_EVENTS, EncodedEvent


class DialectEncoder:
    """Encodes events in a dialect, as server-sent events or WebSocket messages; with `batch`, many in one message."""

    def __init__(self, dialect: Dialect, *, batch: bool = False) -> None:
        self.dialect = dialect
        self._batch = batch
        self._is_native = isinstance(dialect, NativeDialect)

    def sse(self, entries: Sequence[EncodedEvent], session: str) -> bytes:
        if self._is_native:
            return entries[0].sse(session) if len(entries) == 1 else b"".join([entry.sse(session) for entry in entries])
        return b"".join(self.dialect.sse(frame) for entry in entries for frame in self.dialect.feed(entry.event))

    def texts(self, entries: Sequence[EncodedEvent]) -> list[str]:
        if self._is_native and self._batch and len(entries) > 1:
            return [encode_batch([entry.json for entry in entries]).decode()]
        if self._is_native:
            return [entry.text for entry in entries]
        return [self.dialect.text(frame) for entry in entries for frame in self.dialect.feed(entry.event)]


def encode_batch(events: Sequence[bytes], kind: str = "events", session: str | None = None) -> bytes:
    """Join encoded events into one message."""
    head = {"type": kind} if session is None else {"type": kind, "session": session}
    return b'%s,"events":[%s]}' % (encode(head)[:-1], b",".join(events))


def split_batches(entries: Sequence[EncodedEvent]) -> Iterator[Sequence[EncodedEvent]]:
    """Split events into batches that respect the limits of one batch."""
    start = size = 0
    for number, entry in enumerate(entries):
        if number > start and (number - start >= BATCH_EVENTS or size + entry.length > BATCH_BYTES):
            yield entries[start:number]
            start, size = number, 0
        size += entry.length
    if start < len(entries):
        yield entries[start:]
