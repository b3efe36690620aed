"""Time and memory of a piece of work in this process."""

import threading
import time
from pathlib import Path
from types import TracebackType

_EVERY = 0.02
_STATUS = Path("/proc/self/status")


class Meter:
    """`with Meter() as meter:` and read its figures afterwards.

    Memory is the most that the process had resident at once, in megabytes, sampled from a thread so that busy code is
    seen too; None where the system does not say. Other processes, as the browser's, do not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.memory_mb: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)
        self._started = 0.0

    def __enter__(self) -> "Meter":
        self._started = time.perf_counter()
        self._take()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._started
        self._done.set()
        self._thread.join()
        self._take()

    def _sample(self) -> None:
        while not self._done.wait(_EVERY):
            self._take()

    def _take(self) -> None:
        now = _resident_mb()
        if now is not None:
            self.memory_mb = max(now, self.memory_mb or 0.0)


def _resident_mb() -> float | None:
    try:
        status = _STATUS.read_text("ascii", "replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1_000_000
    return None
