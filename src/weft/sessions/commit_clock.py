"""Decides when deltas that somebody watches are stored: at once, but for all sessions of a process together.

A commit costs a sync of the disk and a switch to another thread and back. So there is a pause between two commits, and
the sessions of an event loop share it: those whose deltas came during the pause are stored in one transaction.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

PAUSE = 0.01
"""Seconds from the begin of one commit to that of the next: the longest time that a watched delta waits for it."""


class CommitClock:
    """Calls back those that want to commit: at once after a pause, else at its end."""

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], object], None] = {}
        self._last = float("-inf")

    def add(self, loop: asyncio.AbstractEventLoop, commit: Callable[[], object]) -> None:
        """Call `commit` once, as soon as it may commit."""
        if not self._waiting:
            wait = self._last + PAUSE - loop.time()
            if wait > 0:
                loop.call_later(wait, self._tick, loop)
            else:
                loop.call_soon(self._tick, loop)  # events of the same moment join the commit
        self._waiting[commit] = None

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._last = loop.time()
        waiting, self._waiting = self._waiting, {}
        for commit in waiting:
            commit()


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, CommitClock] = WeakKeyDictionary()


def clock_of(loop: asyncio.AbstractEventLoop) -> CommitClock:
    """The clock that the sessions of an event loop share."""
    return _clocks.setdefault(loop, CommitClock())
