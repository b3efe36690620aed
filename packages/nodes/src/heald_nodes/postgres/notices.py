"""The notices that nodes send one another, and the channel that carries them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from heald.sessions.news import News, OnNews

PER_NOTICE = 60
"""Sessions in one notice, which may have 8,000 bytes."""
LONGEST_ID = 100
Appended = tuple[str, int, int]
"""A session, the end of its log, and the epoch of its writer."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, with short names: events, commands (by session), replies (by command), records (by kind), work."""

    e: list[Appended] = []
    c: list[str] = []
    r: list[str] = []
    k: list[str] = []
    w: bool = False

    def news(self) -> Iterator[News]:
        for session, seq, epoch in self.e:
            if session:
                yield News(topic="events", session=session, seq=seq, epoch=epoch)
            else:  # its name was too long for a notice
                yield News(topic="lost")
        for session in self.c:
            yield News(topic="commands", session=session)
        for command in self.r:
            yield News(topic="replies", name=command)
        for kind in self.k:
            yield News(topic="records", name=kind)
        if self.w:
            yield News(topic="work")


_decoder = msgspec.json.Decoder(Notice)


def decode_notice(payload: str | bytes) -> Notice:
    return _decoder.decode(payload)


def split_appended(appended: Sequence[Appended]) -> Iterator[Notice]:
    """Yield notices that are small enough to be sent."""
    short = [entry if len(entry[0]) <= LONGEST_ID else ("", 0, 0) for entry in appended]
    for start in range(0, len(short), PER_NOTICE):
        yield Notice(e=short[start : start + PER_NOTICE])


class NewsChannel(Protocol):
    """Carries notices between the nodes of a store."""

    def with_notice(self, statement: str, schema: str) -> str:
        """Add the notice of appends to the statement that stores them, if the channel is part of the database."""
        ...

    async def publish_after_commit(self, appended: Sequence[Appended]) -> None:
        """Send the notice of appends after their commit, if the channel is not part of the database."""
        ...

    async def publish(self, notice: Notice) -> None: ...

    def subscribe(self, callback: OnNews) -> Callable[[], None]: ...

    async def close(self) -> None: ...
