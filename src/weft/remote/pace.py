"""When to try again, and when to give up: exponential, with jitter, and no longer than one's patience."""

import asyncio
from dataclasses import dataclass
from random import Random

from weft.core.errors import ConnectionFailed

_random = Random()


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, all of them."""

    patience: float = 60.0
    """How long a server may be gone."""
    first: float = 0.1
    """Before the second try; the first is at once."""
    longest: float = 5.0
    dial: float = 10.0
    """For a connection to stand."""
    silence: float = 45.0
    """For anything to be heard on it, heartbeats included."""
    settled: float = 1.0
    """After which a connection counts as a good one."""
    goodbye: float = 2.0
    """For what was asked to be answered before a client is closed."""


class Patience:
    """Waits between tries. What makes progress gets a fresh start."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._tries = 0
        self._since: float | None = None

    def renew(self) -> None:
        self._tries, self._since = 0, None

    async def wait(self, place: str, fault: Exception, *, goes_on: str) -> None:
        """Sleep before the next try, or raise ConnectionFailed if it has been too long."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
        left = self._since + self._pace.patience - now
        if left <= 0:
            raise ConnectionFailed(
                f"The server at {place} has not answered for {self._pace.patience:g} s ({fault}); {goes_on}",
                reached=False,
            )
        delay = 0.0 if self._tries == 0 else min(self._pace.first * 2 ** min(self._tries - 1, 20), self._pace.longest)
        self._tries += 1
        await asyncio.sleep(min(delay * _random.uniform(0.5, 1.0), left))
