"""Decides when deltas that somebody watches are stored: at once, but for all sessions of a process together.

A commit costs a sync of the disk and a switch to another thread and back. So there is a pause between two commits, and
the sessions of an event loop share it: those whose deltas came during the pause are stored in one transaction. The more
sessions take part, the longer is the pause, so that storing and sending have a bounded share of the loop's time.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

PAUSE = 0.01
"""Seconds from the begin of one commit to that of the next, if few sessions take part."""
FEW_SESSIONS = 3
"""Sessions that a pause is for. If more take part in a commit, the pause after it is longer in proportion."""
MOST_PAUSES = 4
"""The longest pause, in units of `PAUSE`: so long a watched delta waits for a commit at most."""


class CommitClock:
    """Calls back those that want to commit: at once after a pause, else at its end."""

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], object], None] = {}
        self._last = float("-inf")
        self._sessions = 0  # of the last commit

    def add(self, loop: asyncio.AbstractEventLoop, commit: Callable[[], object]) -> None:
        """Call `commit` once, as soon as it may commit."""
        if not self._waiting:
            pause = PAUSE * min(max(1.0, self._sessions / FEW_SESSIONS), MOST_PAUSES)
            wait = self._last + pause - loop.time()
            if wait > 0:
                loop.call_later(wait, self._tick, loop)
            else:
                loop.call_soon(self._tick, loop)  # events of the same moment join the commit
        self._waiting[commit] = None

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._last = loop.time()
        waiting, self._waiting = self._waiting, {}
        self._sessions = len(waiting)
        for commit in waiting:
            commit()


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, CommitClock] = WeakKeyDictionary()


def clock_of(loop: asyncio.AbstractEventLoop) -> CommitClock:
    """The clock that the sessions of an event loop share."""
    return _clocks.setdefault(loop, CommitClock())
