"""Paces the commits of the sessions of an event loop.

A commit costs a sync of the disk and a switch to another thread and back. So there is a pause between two commits, and
the sessions of an event loop share it: those whose deltas came during the pause are stored in one transaction. The
busier the loop or its store is, the longer is the pause: none on an idle one, `LONGEST_PAUSE` on a full one, however
many sessions stream. Where a journal stores the deltas, a pause only saves reads and writes of sockets, so it begins on
a loop that is half busy. Where several nodes share a store, each of them makes commits, so the work of a loop counts
once for each node, and the pause may be a little longer. Where many take part and the pause is worth it, their streams
are read together too, just before the commit: what a delta would wait for in memory, it waits for in its socket.

Sessions that nobody watches wait longer, and share that wait.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

import msgspec

from heald.http1.shared_reads import shared_reads
from heald.sessions.loop_load import LoopLoad

LONGEST_PAUSE = 0.045
"""Seconds from the begin of one commit to that of the next on a full core: so long a watched delta waits at most."""


LONGEST_SHARED_PAUSE = 0.05
"""The same where several nodes share a store, each of which makes commits: as long as deltas may wait that nobody
watches."""


class Pacing(msgspec.Struct, frozen=True):
    """How the pause grows with the share of the time that a loop works."""

    idle: float
    """The share up to which there is no pause."""
    full: float
    """The share from which on the pause is the longest."""
    full_shared: float | None = None
    """The same where several nodes share a store, if it is another one there."""

    def pause(self, share: float, nodes: int = 1) -> float:
        """Return the seconds between two commits, by the share of the last moments that was spent working and the
        number of nodes that share the store."""
        longest, full = LONGEST_PAUSE, self.full
        if nodes > 1:
            longest, full = LONGEST_SHARED_PAUSE, self.full_shared or self.full
        return longest * min(max(share * nodes - self.idle, 0.0) / (full - self.idle), 1.0)


COMMIT_PACING = Pacing(idle=0.0, full=0.3, full_shared=0.15)
"""Shorter pauses cost commits: with 0.8, a hundred agents took a fifth more CPU, so that fewer of them filled the
core. Where several nodes share a store, each of them makes commits for the same work, and the database has the work of
all of them."""
JOURNAL_PACING = Pacing(idle=0.4, full=0.55)
FEW_SESSIONS = 3
"""If more take part in a commit, their streams are read together. A node counts as many on each of the others."""
SHARED_READS_PAUSE = 0.006
"""The shortest pause that is worth it to read streams together."""
_MEASURE_SECONDS = 0.05
_READING_TURNS = 3
"""Turns of the loop from the release of a stream to the record of what it brought: its socket is polled and read, then
its task wakes and decodes."""


class CommitClock:
    """Calls back those that want to commit: at once after a pause, else at its end."""

    def __init__(self, load: LoopLoad | None = None) -> None:
        self.load = load or LoopLoad()
        self.pacing = COMMIT_PACING
        self.nodes = 1
        """The nodes that share the store of the sessions."""
        self._waiting: dict[Callable[[], object], None] = {}
        self._last = float("-inf")
        self.pause = 0.0
        """Seconds after the last commit in which there is no other one."""
        self._measured = float("-inf")
        self._is_scheduled = False
        self._unwatched: dict[Callable[[], object], None] = {}
        self._has_timer = False

    def is_idle(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether deltas may be stored at once, without a turn of the loop: where storing is cheap and there is no
        pause."""
        if self.pause or self._is_scheduled or not self.pacing.idle:
            return False
        now = loop.time()
        if now - self._measured > _MEASURE_SECONDS:
            self._measure(now)
        return True

    def _measure(self, now: float) -> None:
        self._measured = now
        self.load.measure(now)
        self.pause = self.pacing.pause(self.load.share, self.nodes)

    def add(self, loop: asyncio.AbstractEventLoop, commit: Callable[[], object]) -> None:
        """Call `commit` once, as soon as it may commit."""
        self._waiting[commit] = None
        if not self._is_scheduled:
            self._schedule(loop)

    def add_unwatched(self, loop: asyncio.AbstractEventLoop, commit: Callable[[], object], delay: float) -> None:
        """Call `commit` once, after at most `delay` seconds, together with the others that wait so."""
        if not self._has_timer:
            self._has_timer = True
            loop.call_later(delay, self._commit_unwatched)
        self._unwatched[commit] = None

    def remove_unwatched(self, commit: Callable[[], object]) -> None:
        self._unwatched.pop(commit, None)

    def _commit_unwatched(self) -> None:
        self._has_timer = False
        unwatched, self._unwatched = self._unwatched, {}
        for commit in unwatched:
            commit()

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_scheduled = True
        wait = self._last + self.pause - loop.time()
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
        self._measure(loop.time())
        self._is_scheduled = False
        reads = shared_reads(loop)
        if len(waiting) * self.nodes > FEW_SESSIONS and self.pause >= SHARED_READS_PAUSE:
            reads.is_active = True
            self._schedule(loop)  # before the commits, which may fail: held streams must be released
        elif reads.is_active:
            reads.end()
        for commit in waiting:
            commit()


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, CommitClock] = WeakKeyDictionary()


def clock_of(loop: asyncio.AbstractEventLoop) -> CommitClock:
    """The clock that the sessions of an event loop share."""
    clock = _clocks.get(loop)
    if clock is None:
        clock = _clocks[loop] = CommitClock()
    return clock
