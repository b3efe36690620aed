"""Measures the time and the memory of a conversion."""

import threading
import time
from pathlib import Path
from types import TracebackType

_EVERY = 0.02
_STATUS = Path("/proc/self/status")


class ResourceMeter:
    """Measures the time and the memory of a block: `with ResourceMeter() as meter:`.

    Processor time is that of all threads of this process. Memory is the peak resident size of this process in
    megabytes, sampled from a thread; None if the system does not report it. Other processes, such as the browser, are
    not included.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.memory_mb: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)
        self._started = 0.0
        self._cpu_started = 0.0

    def __enter__(self) -> "ResourceMeter":
        self._started = time.perf_counter()
        self._cpu_started = time.process_time()
        self._sample_memory()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._started
        self.cpu_seconds = time.process_time() - self._cpu_started
        self._done.set()
        self._thread.join()
        self._sample_memory()

    def _sample(self) -> None:
        while not self._done.wait(_EVERY):
            self._sample_memory()

    def _sample_memory(self) -> None:
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
