"""The vision code at work in a thread: once for each picture, however many sessions ask for it.

Whoever asks hears how far it is. When the last one has left before the end, the work stops at its next step.
"""

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor

from weft.vision import Progress, Seen, VisionError, see

_KEPT = 4
"""Pictures whose sight is remembered, so that variants and later turns need not look again."""


class _Left(Exception):
    """Nobody waits for it any more."""


class Look:
    """One picture being looked at. `look_at` makes it; every caller of that leaves it once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.seen: Seen | None = None
        self.over = False
        self._fault: Exception | None = None
        self._steps: list[Progress] = []
        self._watching = 0
        self._lock = threading.Lock()
        self._wakes: list[Callable[[], None]] = []

    async def progress(self, after: int = 0) -> AsyncGenerator[Progress]:
        """Each step, those of before too, until it is over. Raises VisionError if the picture cannot be used."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        with self._lock:
            self._wakes.append(wake)
        try:
            while True:
                changed.clear()
                over = self.over
                while after < len(self._steps):
                    yield self._steps[after]
                    after += 1
                if over:
                    break
                await changed.wait()
        finally:
            with self._lock:
                self._wakes.remove(wake)
        if self._fault is not None:
            raise self._fault

    async def result(self) -> Seen:
        async for _ in self.progress():
            pass
        assert self.seen is not None
        return self.seen

    def join(self) -> bool:
        """One more who waits. False if the work was given up."""
        with self._lock:
            if self._watching < 0:
                return False
            self._watching += 1
            return True

    def leave(self) -> None:
        with self._lock:
            self._watching -= 1
            if self._watching == 0 and not self.over:
                self._watching = -1

    def work(self) -> None:
        """See the picture. Runs in a thread."""
        try:
            self._report(None)
            self.seen = see(self.data, self._report)
        except _Left:
            self._fault = VisionError("Nobody waited for the picture any more; ask again.")
        except Exception as fault:
            self._fault = fault
        finally:
            self.over = True
            self._wake()

    @property
    def failed(self) -> bool:
        return self._fault is not None

    def _report(self, progress: Progress | None) -> None:
        if self._watching < 0:
            raise _Left
        if progress is not None:
            self._steps.append(progress)
            self._wake()

    def _wake(self) -> None:
        with self._lock:
            wakes = list(self._wakes)
        for wake in wakes:
            wake()


def look_at(data: bytes) -> Look:
    """Begin to look, or join those who do. The caller must `leave`."""
    digest = hashlib.sha256(data).digest()
    with _lock:
        look = _looks.get(digest)
        if look is None or look.failed or not look.join():
            look = _looks[digest] = Look(data)
            look.join()
            _pool().submit(look.work)
        _looks.move_to_end(digest)
        for old in [key for key, each in _looks.items() if each.over][: max(len(_looks) - _KEPT, 0)]:
            del _looks[old]
        return look


_lock = threading.Lock()
_looks: "OrderedDict[bytes, Look]" = OrderedDict()
_pools: list[ThreadPoolExecutor] = []


def _pool() -> ThreadPoolExecutor:
    if not _pools:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
        _pools.append(ThreadPoolExecutor(max(cores // 2, 1), "weft-vision"))
    return _pools[0]
