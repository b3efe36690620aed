"""Carries stored events to the readers of other nodes, in the notices of their commits.

A node that has readers of a session announces them, and does so again and again. For a while, each commit then has a
notice, which carries the rows of that session, so that the other node need not read them. Whatever does not fit in a
notice, and whatever a node cannot decode or has missed, is read from the database. A notice costs the database a
transaction for each node, so a commit that nobody reads elsewhere has none. If readers are announced later, they get
a notice of it then. Nor has one that is read only by nodes with a port for other nodes: it goes there.
"""

from collections.abc import Mapping, Sequence
from math import inf
from time import monotonic

import msgspec

from heald.core.envelope import Event
from heald.sessions.news import News
from heald.sessions.shared_store import READERS_SECONDS
from heald.sessions.store_errors import StoreCorrupt
from heald_nodes.postgres.chunks import AnchorCache, EncodedChunk, decode_rows, is_of_rows, notice_lines
from heald_nodes.postgres.notices import LONGEST_ID, Appended

MAX_CARRIED = 4000
"""Bytes of a chunk that a notice carries at most."""
_MOST_SESSIONS = 10_000
_MOST_NODES = 1000


class NoticeRoute(msgspec.Struct, frozen=True):
    """Where the notice of an append goes."""

    is_needed: bool
    """Whether another node may have readers of the session."""
    carries: bool
    """Whether it is to carry the rows of the append."""
    channel: str
    """The channel of the one node that reads the session, or an empty text for that of all nodes."""
    addresses: Sequence[str] = ()
    """The ports of all nodes that read it; empty if one of them has none, or there may be others."""


_SILENT = NoticeRoute(False, False, "")


class PostgresEventFeed:
    """The sessions that other nodes have readers of, and the rows that came from other nodes."""

    def __init__(self, anchors: AnchorCache) -> None:
        self._anchors = anchors
        self._readers: dict[str, dict[str, float]] = {}  # by session and channel, until when they are announced
        self._addresses: dict[str, str] = {}  # the ports of nodes, by their channels
        self._all_until = inf  # until when there may be readers whose announcements were not heard
        self._unnoticed: dict[str, Appended] = {}  # by session, its last append without a notice

    def expect_readers(self) -> None:
        """Announcements may have been lost until now: each session may have readers until all are announced anew."""
        self._all_until = monotonic() + READERS_SECONDS

    def add_readers(self, session: str, channel: str = "", address: str = "") -> Appended | None:
        """Another node has announced readers of a session, the channel that it alone listens to, and the port where it
        takes events directly, if it has them. Returns an append that they need a notice of."""
        if channel:
            self._addresses.pop(channel, None)
            self._addresses[channel] = address
            if len(self._addresses) > _MOST_NODES:
                del self._addresses[next(iter(self._addresses))]
        channels = self._readers.pop(session, {})
        channels[channel] = monotonic() + READERS_SECONDS
        self._readers[session] = channels
        if len(self._readers) > _MOST_SESSIONS:
            del self._readers[next(iter(self._readers))]
            self.expect_readers()
        return self._unnoticed.pop(session, None)

    def route(self, session: str, chunk: EncodedChunk | None = None) -> NoticeRoute:
        """Return where the notice of an append goes."""
        channels = self._channels(session)
        may_have_others = monotonic() < self._all_until
        if not channels:
            return NoticeRoute(True, False, "") if may_have_others or len(session) > LONGEST_ID else _SILENT
        carries = (
            chunk is not None and is_of_rows(chunk.codec) and len(chunk.body) <= MAX_CARRIED and not chunk.has_refs
        )
        if may_have_others:
            return NoticeRoute(True, carries, "")
        addresses = [self._addresses.get(channel, "") for channel in channels]
        return NoticeRoute(
            True, carries, next(iter(channels)) if len(channels) == 1 else "", addresses if all(addresses) else ()
        )

    def add_unnoticed(self, appended: Appended) -> bool:
        """Remember an append without a notice. Returns False if its readers were announced meanwhile."""
        session = appended[0]
        if self.has_readers(session):
            return False
        self._unnoticed.pop(session, None)
        self._unnoticed[session] = appended
        if len(self._unnoticed) > _MOST_SESSIONS:
            del self._unnoticed[next(iter(self._unnoticed))]
        return True

    def has_readers(self, session: str) -> bool:
        """Whether another node has announced readers of a session lately."""
        return bool(self._channels(session))

    def _channels(self, session: str) -> Mapping[str, float]:
        """Return the channels of the nodes that have announced readers of a session lately."""
        channels = self._readers.get(session)
        if channels is None:
            return {}
        now = monotonic()
        if min(channels.values()) >= now:
            return channels
        for channel in [channel for channel, until in channels.items() if until < now]:
            del channels[channel]
        if not channels:
            del self._readers[session]
        return channels

    def decode(self, news: News) -> Sequence[Event] | None:
        """Return the events that news carry; None if they must be read."""
        key, _, rows = news.rows.partition("\n")
        if not rows or not key.isdecimal():
            return None
        reader = self._anchors.reader(int(key))
        try:
            events = decode_rows(news.first, notice_lines(rows), reader)
        except (StoreCorrupt, ValueError):  # its anchor is not known here, or a newer node has sent it
            return None
        if not events or events[-1].seq != news.seq:
            return None
        self._anchors.keep(int(key), reader)
        return events
