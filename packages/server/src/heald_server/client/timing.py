"""The time limits of a connection, and the delays between attempts to open one."""

import asyncio
from dataclasses import dataclass

from heald.core.errors import ConnectionFailed
from heald.core.retry import backoff


@dataclass(frozen=True, slots=True)
class Timing:
    """The time limits of a connection, in seconds."""

    patience: float = 60.0
    """How long a server may be unreachable."""
    first: float = 0.1
    """The delay before the second attempt; the first is immediate."""
    longest: float = 5.0
    dial: float = 10.0
    """To open a connection."""
    silence: float = 45.0
    """Without any data, heartbeats included."""
    stable: float = 1.0
    """After which a connection counts as stable."""
    goodbye: float = 2.0
    """For open commands to be answered when a client is closed."""


class Backoff:
    """Waits between attempts. Progress resets it."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._tries = 0
        self._since: float | None = None

    def renew(self) -> None:
        self._tries, self._since = 0, None

    async def wait(self, place: str, fault: Exception, *, goes_on: str) -> None:
        """Sleep before the next attempt. Raises ConnectionFailed when the server was unreachable for too long."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
        left = self._since + self._timing.patience - now
        if left <= 0:
            raise ConnectionFailed(
                f"The server at {place} has not answered for {self._timing.patience:g} s ({fault}); {goes_on}",
                reached=False,
            )
        delay = 0.0 if self._tries == 0 else backoff(self._tries, self._timing.first, self._timing.longest)
        self._tries += 1
        await asyncio.sleep(min(delay, left))
