"""Limits the number of messages per second."""

from collections.abc import Callable
from time import monotonic


class RateLimiter:
    """Allows a number of messages per second, after an initial burst of the same number."""

    def __init__(self, per_second: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._left = float(per_second)
        self._last = clock()

    def allows(self) -> bool:
        now = self._clock()
        self._left = min(float(self._rate), self._left + (now - self._last) * self._rate)
        self._last = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
