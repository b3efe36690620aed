"""Paces the commits of the sessions of an event loop.

A commit costs a sync of the disk and a switch to another thread and back. So there is a pause between two commits, and
the sessions of an event loop share it: those whose deltas came during the pause are stored in one transaction. The more
sessions take part, the longer is the pause, so that storing and sending have a bounded share of the loop's time. Where
many take part, their streams are read together too, just before the commit: what a delta would wait for in memory, it
waits for in its socket.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from heald.http1.shared_reads import shared_reads

PAUSE = 0.01
"""Seconds from the begin of one commit to that of the next, if few sessions take part."""
FEW_SESSIONS = 3
"""Sessions that a pause is for. If more take part in a commit, the pause after it is longer in proportion."""
MOST_PAUSES = 4.5
"""The longest pause, in units of `PAUSE`: so long a watched delta waits for a commit at most."""
_READING_TURNS = 3
"""Turns of the loop from the release of a stream to the record of what it brought: its socket is polled and read, then
its task wakes and decodes."""


class CommitClock:
    """Calls back those that want to commit: at once after a pause, else at its end."""

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], object], None] = {}
        self._last = float("-inf")
        self._sessions = 0  # of the last commit
        self._is_scheduled = False

    def add(self, loop: asyncio.AbstractEventLoop, commit: Callable[[], object]) -> None:
        """Call `commit` once, as soon as it may commit."""
        self._waiting[commit] = None
        if not self._is_scheduled:
            self._schedule(loop)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_scheduled = True
        pause = PAUSE * min(max(1.0, self._sessions / FEW_SESSIONS), MOST_PAUSES)
        wait = self._last + pause - loop.time()
        if wait > 0:
            loop.call_later(wait, self._tick, loop)
        else:
            loop.call_soon(self._tick, loop)  # events of the same moment join the commit

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._last = loop.time()
        self._commit_after(_READING_TURNS if shared_reads(loop).release() else 0, loop)

    def _commit_after(self, turns: int, loop: asyncio.AbstractEventLoop) -> None:
        if turns:
            loop.call_soon(self._commit_after, turns - 1, loop)
        else:
            self._commit(loop)

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, {}
        self._sessions = len(waiting)
        self._is_scheduled = False
        reads = shared_reads(loop)
        if self._sessions > FEW_SESSIONS:
            reads.is_active = True
            self._schedule(loop)  # before the commits, which may fail: held streams must be released
        elif reads.is_active:
            reads.end()
        for commit in waiting:
            commit()


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, CommitClock] = WeakKeyDictionary()


def clock_of(loop: asyncio.AbstractEventLoop) -> CommitClock:
    """The clock that the sessions of an event loop share."""
    return _clocks.setdefault(loop, CommitClock())
