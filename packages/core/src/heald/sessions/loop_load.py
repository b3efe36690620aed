"""Measures how busy an event loop and its store have been in the last moments."""

from collections.abc import Callable
from time import thread_time

MOMENTS = 0.2
"""Seconds of which the share is an average. What was before them counts less and less."""


class LoopLoad:
    """The share of the last moments that was spent working: by the thread of the loop, or by its store.

    A store works from the first request to store to the last answer. That is its own measure of a disk, of a database
    behind a network, and of a machine that is busy with other programs.
    """

    def __init__(self, thread_seconds: Callable[[], float] = thread_time) -> None:
        """`thread_seconds` returns the seconds that the calling thread has worked."""
        self.share = 0.0
        """The larger of both shares, from 0 to 1."""
        self._thread_seconds = thread_seconds
        self._measured: float | None = None
        self._worked = 0.0
        self._loop_share = self._store_share = 0.0
        self._stores = 0  # that are under way
        self._stored_until = 0.0
        self._storing = 0.0  # seconds since the last measurement

    def begin_store(self, now: float) -> None:
        if not self._stores:
            self._stored_until = now
        self._stores += 1

    def end_store(self, now: float) -> None:
        self._stores -= 1
        if not self._stores:
            self._storing += now - self._stored_until

    def measure(self, now: float) -> None:
        """Take what was worked since the last call into account. Called in the thread of the loop."""
        worked = self._thread_seconds()
        storing = self._storing
        if self._stores:
            storing += now - self._stored_until
            self._stored_until = now
        if self._measured is not None:
            elapsed = now - self._measured
            if elapsed <= 0:
                return
            weight = min(elapsed / MOMENTS, 1.0)
            self._loop_share += (min((worked - self._worked) / elapsed, 1.0) - self._loop_share) * weight
            self._store_share += (min(storing / elapsed, 1.0) - self._store_share) * weight
            self.share = max(self._loop_share, self._store_share)
        self._measured, self._worked, self._storing = now, worked, 0.0
