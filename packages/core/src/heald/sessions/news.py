"""News: notices by which the nodes of a store learn that there is something to read.

News may be lost, doubled or late, so the store is the truth. News of events may carry the events too: they are stored,
and save a reader that has all of the events before them from reading.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

Topic = Literal["events", "commands", "replies", "records", "work", "readers", "lost"]


class News(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that the store has something new.

    `events`: the log of a session has grown up to `seq`, or has a new writer of a higher `epoch`. `commands`: a command
    waits for the holder of a session. `work`: a session waits for a node. `records`: records of the kind `name` have
    changed. `readers`: the node `name` has readers of a session. `lost`: notices may be missing, so everything must be
    read.
    """

    topic: Topic
    session: str = ""
    seq: int = 0
    epoch: int = 0
    name: str = ""
    first: int = 0
    """The first of the events that it carries."""
    rows: str = ""
    """The events from the first to `seq`, in a form that the store decodes; empty if it carries none."""
    channel: str = ""
    """Of news of readers: where their node alone listens; empty if it has no such channel."""
    address: str = ""
    """Of news of readers: the port where their node takes events directly, if it has one. Of lost notices: the port
    that has lost them, if it is one; announcements of readers are not among them."""


OnNews = Callable[[News], object]


class NewsCallbacks:
    """The subscribers of a store's news in one process."""

    def __init__(self) -> None:
        self._callbacks: dict[int, OnNews] = {}
        self._count = 0

    def add(self, callback: OnNews) -> Callable[[], None]:
        self._count += 1
        number = self._count
        self._callbacks[number] = callback
        return lambda: self._callbacks.pop(number, None) and None  # pyrefly: ignore[bad-return]

    def publish(self, news: News) -> None:
        for callback in list(self._callbacks.values()):
            callback(news)


def deletion_news(session: str) -> News:
    """Return the news that a session was deleted: the epoch is above that of any writer."""
    return News(topic="events", session=session, epoch=2**31)
