"""Carries stored events to the readers of other nodes, in the notices of their commits.

A node that has readers of a session announces them. For a while, the notice of each commit then carries the rows of
that session, so that the other node need not read them. Whatever does not fit in a notice, and whatever a node cannot
decode or has missed, is read from the database.
"""

from collections.abc import Sequence
from time import monotonic

from heald.core.envelope import Event
from heald.sessions.news import News
from heald.sessions.shared_store import READERS_SECONDS
from heald.sessions.store_errors import StoreCorrupt
from heald_nodes.postgres.chunks import ROWS, AnchorCache, EncodedChunk, decode_rows

MAX_CARRIED = 4000
"""Bytes of a chunk that a notice carries at most."""
_MOST_SESSIONS = 10_000


class PostgresEventFeed:
    """The sessions that other nodes have readers of, and the rows that came from other nodes."""

    def __init__(self, anchors: AnchorCache) -> None:
        self._anchors = anchors
        self._readers: dict[str, float] = {}  # by session, until when they are announced

    def add_readers(self, session: str) -> None:
        """Another node has announced readers of a session."""
        self._readers.pop(session, None)
        self._readers[session] = monotonic() + READERS_SECONDS
        if len(self._readers) > _MOST_SESSIONS:
            del self._readers[next(iter(self._readers))]

    def has_readers(self, session: str) -> bool:
        """Whether another node has announced readers of a session lately."""
        until = self._readers.get(session)
        if until is None:
            return False
        if until < monotonic():
            del self._readers[session]
            return False
        return True

    def carries(self, session: str, chunk: EncodedChunk) -> bool:
        """Whether the notice of a commit is to carry a chunk of a session."""
        if not self.has_readers(session):
            return False
        return chunk.codec == ROWS and len(chunk.body) <= MAX_CARRIED and not chunk.has_refs and _is_text(chunk.body)

    def decode(self, news: News) -> Sequence[Event] | None:
        """Return the events that news carry; None if they must be read."""
        key, _, rows = news.rows.partition("\n")
        if not rows or not key.isdecimal():
            return None
        reader = self._anchors.reader(int(key))
        try:
            events = decode_rows(news.first, rows.encode().split(b"\n"), reader)
        except StoreCorrupt:  # its anchor is not known here
            return None
        if not events or events[-1].seq != news.seq:
            return None
        self._anchors.keep(int(key), reader)
        return events


def _is_text(body: bytes) -> bool:
    """Whether a body is UTF-8: half a character of a model's text is not."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
