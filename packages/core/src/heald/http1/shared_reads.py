"""Lets the streams of an event loop be read together, while what they bring waits for the same moment anyway.

A read costs a turn of the loop and what follows from it. While `is_active`, a stream that was just read stays unread
until `release`: what arrives meanwhile waits in its socket and comes in one piece. The commits of the sessions decide
when that is.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary


class SharedReads:
    """The streams of one event loop whose next read waits."""

    def __init__(self) -> None:
        self.is_active = False
        """Streams wait with their next read."""
        self._held: dict[Callable[[], object], None] = {}

    def hold(self, resume: Callable[[], object]) -> None:
        """Call `resume` at the next `release`."""
        self._held[resume] = None

    def discard(self, resume: Callable[[], object]) -> None:
        self._held.pop(resume, None)

    def release(self) -> int:
        """Let all held streams read. Returns their number."""
        held, self._held = self._held, {}
        for resume in held:
            resume()
        return len(held)

    def end(self) -> None:
        """Read every stream as its bytes come."""
        self.is_active = False
        self.release()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedReads] = WeakKeyDictionary()


def shared_reads(loop: asyncio.AbstractEventLoop) -> SharedReads:
    """The shared reads of an event loop."""
    reads = _by_loop.get(loop)
    if reads is None:
        reads = _by_loop[loop] = SharedReads()
    return reads
