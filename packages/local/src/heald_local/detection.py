"""Runs detection in threads: once for each picture, for all sessions that ask for it."""

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from heald_local.see.detect import detect_elements
from heald_local.see.models import load_ahead
from heald_local.see.picture_hint import NO_HINT, PictureHint
from heald_local.see.workers import count_cores
from heald_pictures.detector import Progress
from heald_pictures.elements import Detection
from heald_pictures.errors import VisionError

_CACHED = 4  # finished jobs that are kept for variants and later turns


class _Abandoned(Exception):
    """The last caller released the job."""


class DetectionJob:
    """The detection of one picture. `start_detection` creates it; each of its callers releases it once."""

    def __init__(self, data: bytes, hint: PictureHint = NO_HINT) -> None:
        self.data = data
        self.hint = hint
        self.detection: Detection | None = None
        self.is_done = False
        self._fault: Exception | None = None
        self._steps: list[Progress] = []
        self._users = 0
        self._lock = threading.Lock()
        self._wake_callbacks: list[Callable[[], None]] = []
        self._sketches: dict[str, str] = {}
        self._sketching = threading.Lock()

    async def progress(self, after: int = 0) -> AsyncGenerator[Progress]:
        """Yield all steps from the first until the job is done. Raises VisionError if the picture cannot be used."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        with self._lock:
            self._wake_callbacks.append(wake)
        try:
            while True:
                changed.clear()
                over = self.is_done
                while after < len(self._steps):
                    yield self._steps[after]
                    after += 1
                if over:
                    break
                await changed.wait()
        finally:
            with self._lock:
                self._wake_callbacks.remove(wake)
        if self._fault is not None:
            raise self._fault

    async def result(self) -> Detection:
        async for _ in self.progress():
            pass
        assert self.detection is not None
        return self.detection

    def draw_sketch(self, stack: str, draw: Callable[[], str]) -> str:
        """Return the first preview in a stack. It is drawn once for all callers."""
        with self._sketching:
            if stack not in self._sketches:
                self._sketches[stack] = draw()
            return self._sketches[stack]

    def acquire(self) -> bool:
        """Add a caller. False if the job was abandoned."""
        with self._lock:
            if self._users < 0:
                return False
            self._users += 1
            return True

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and not self.is_done:
                self._users = -1

    def run(self) -> None:
        """Detect the elements. Runs in a thread."""
        try:
            self._report(None)
            self.detection = detect_elements(self.data, self._report, self.hint)
        except _Abandoned:
            self._fault = VisionError("The request for this picture was cancelled; send it again.")
        except Exception as fault:
            self._fault = fault
        finally:
            self.is_done = True
            self._wake()

    @property
    def failed(self) -> bool:
        return self._fault is not None

    def _report(self, progress: Progress | None) -> None:
        if self._users < 0:
            raise _Abandoned
        if progress is not None:
            self._steps.append(progress)
            self._wake()

    def _wake(self) -> None:
        with self._lock:
            wakes = list(self._wake_callbacks)
        for wake in wakes:
            wake()


def start_detection(data: bytes, hint: PictureHint = NO_HINT) -> DetectionJob:
    """Start a job, or join the one that runs. The caller must release it."""
    digest = hashlib.sha256(data).digest() + repr(hint).encode()
    with _lock:
        job = _jobs.get(digest)
        if job is None or job.failed or not job.acquire():
            load_ahead()
            job = _jobs[digest] = DetectionJob(data, hint)
            job.acquire()
            _pool().submit(job.run)
        _jobs.move_to_end(digest)
        for old in [key for key, cached_job in _jobs.items() if cached_job.is_done][: max(len(_jobs) - _CACHED, 0)]:
            del _jobs[old]
        return job


_lock = threading.Lock()
_jobs: "OrderedDict[bytes, DetectionJob]" = OrderedDict()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(count_cores() // 2, 1), "heald-vision")
