"""The notices that nodes send one another, and the channel that carries them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from heald.sessions.news import News, OnNews

PER_NOTICE = 60
"""Sessions in one notice, which may have 8,000 bytes."""
LONGEST_ID = 100
Appended = tuple[str, int, int]
"""A session, the end of its log, and the epoch of its writer."""
CarriedRows = tuple[str, int, int, str]
"""A session, the last and the first seq of its new events, and the key of the session and the rows of the events."""
NO_NOTICE = -1
_NOTICE_BYTES = 7800
_ENTRY_BYTES = 120
"""Bytes of an entry of a notice besides its id and its rows, at most."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, with short names: events, rows of events, commands (by session), replies (by command), records (by
    kind), readers (by session), their node, the channel that it alone listens to and its port for other nodes, work."""

    e: list[Appended] = []
    d: list[CarriedRows] = []
    i: list[str] = []
    n: str = ""
    o: str = ""
    p: str = ""
    c: list[str] = []
    r: list[str] = []
    k: list[str] = []
    w: bool = False

    def news(self) -> Iterator[News]:
        carried = {(session, seq): (first, rows) for session, seq, first, rows in self.d}
        for session, seq, epoch in self.e:
            if session:
                first, rows = carried.get((session, seq), (0, ""))
                yield News(topic="events", session=session, seq=seq, epoch=epoch, first=first, rows=rows)
            else:  # its name was too long for a notice
                yield News(topic="lost")
        for session in self.c:
            yield News(topic="commands", session=session)
        for command in self.r:
            yield News(topic="replies", name=command)
        for session in self.i:
            yield News(topic="readers", session=session, name=self.n, channel=self.o, address=self.p)
        for kind in self.k:
            yield News(topic="records", name=kind)
        if self.w:
            yield News(topic="work")


_decoder = msgspec.json.Decoder(Notice)


def decode_notice(payload: str | bytes) -> Notice:
    return _decoder.decode(payload)


class _OpenPart(msgspec.Struct):
    """A notice that has room for more appends."""

    number: int
    entries: int = 0
    bytes: int = 0


class NoticeParts:
    """How the appends of a commit are divided into notices, which of them carry their rows, which have none, and which
    channels they go to."""

    def __init__(self) -> None:
        self.carried: list[bool] = []
        self.numbers: list[int] = []
        """The number of the notice of each append; `NO_NOTICE` if nobody reads it elsewhere."""
        self.channels: list[str] = []
        """The channel of the notice of each append; empty for that of all nodes."""
        self.addresses: list[Sequence[str]] = []
        """The ports of the nodes that get each append directly, if it has no notice for that reason."""
        self.direct_rows: list[bytes | None] = []
        """The rows of each append that they get with it."""
        self._count = 0
        self._open: dict[str, _OpenPart] = {}  # by channel

    def add_silent(self) -> None:
        """Add an append that no other node reads."""
        self.add_direct((), None)

    def add_direct(self, addresses: Sequence[str], rows: bytes | None) -> None:
        """Add an append that goes directly to the nodes that read it, with its rows if they are to be carried."""
        self.carried.append(False)
        self.numbers.append(NO_NOTICE)
        self.channels.append("")
        self.addresses.append(addresses)
        self.direct_rows.append(rows)

    def add(self, session: str, rows: bytes | None, channel: str = "") -> None:
        """Add an append, with its rows if they are to be carried."""
        name = 2 * len(session.encode(errors="replace"))
        carried = rows is not None and len(session) <= LONGEST_ID
        size = name + _ENTRY_BYTES + (name + _json_size(rows) if carried and rows is not None else 0)
        part = self._open.get(channel)
        if part is None or part.entries >= PER_NOTICE or part.bytes + size > _NOTICE_BYTES:
            part = self._open[channel] = _OpenPart(self._count)
            self._count += 1
        part.entries += 1
        part.bytes += size
        self.carried.append(carried)
        self.numbers.append(part.number)
        self.channels.append(channel)
        self.addresses.append(())
        self.direct_rows.append(None)


def _json_size(rows: bytes) -> int:
    """The bytes of rows as a text in JSON."""
    count = rows.count
    return len(rows) + count(b'"') + count(b"\\") + count(b"\n") + count(b"\t")


def split_appended(appended: Sequence[Appended], carried: Iterable[CarriedRows]) -> Iterator[Notice]:
    """Yield notices that are small enough to be sent."""
    rows = {entry[0]: entry for entry in carried}
    short = [entry if len(entry[0]) <= LONGEST_ID else ("", 0, 0) for entry in appended]
    for start in range(0, len(short), PER_NOTICE):
        part = short[start : start + PER_NOTICE]
        yield Notice(e=part, d=[rows[session] for session, _, _ in part if session in rows])


class NewsChannel(Protocol):
    """Carries notices between the nodes of a store."""

    @property
    def own_channel(self) -> str:
        """Where this node alone listens, for notices of events that only it reads; empty if it has no such channel."""
        ...

    @property
    def link_address(self) -> str:
        """The port where this node takes notices directly; empty if it has none."""
        ...

    def with_notice(self, statement: str, schema: str) -> str:
        """Add the notice of appends to the statement that stores them, if the channel is part of the database."""
        ...

    async def publish_after_commit(self, appended: Sequence[Appended], carried: Iterable[CarriedRows]) -> None:
        """Send the notice of appends after their commit, if the channel is not part of the database."""
        ...

    async def publish(self, notice: Notice) -> None: ...

    def subscribe(self, callback: OnNews) -> Callable[[], None]: ...

    async def close(self) -> None: ...
