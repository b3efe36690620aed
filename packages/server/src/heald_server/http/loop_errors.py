"""Logs what fails inside the event loop, without repeating it for ever."""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

_REPEAT_SECONDS = 10.0

_log = logging.getLogger("heald_server.http.connections")


class RepeatFilter:
    """Lets a line through once in a while, and counts those between."""

    def __init__(self, seconds: float = _REPEAT_SECONDS, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next: dict[str, float] = {}
        self._omitted: dict[str, int] = {}

    def allows(self, line: str) -> int | None:
        """The number of equal lines that were left out before this one; None if this one is left out."""
        now = self._clock()
        if now < self._next.get(line, 0.0):
            self._omitted[line] = self._omitted.get(line, 0) + 1
            return None
        if len(self._next) > 1000:
            self._next.clear()
        self._next[line] = now + self._seconds
        return self._omitted.pop(line, 0)


def log_loop_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Log what fails inside the event loop, each kind once in a while: running out of descriptors repeats for ever."""
    repeats = RepeatFilter()

    def on_error(_: asyncio.AbstractEventLoop, details: dict[str, Any]) -> None:
        error: BaseException | None = details.get("exception")
        message = f"{details.get('message', 'The event loop failed')} ({error!r})"
        omitted = repeats.allows(message)
        if omitted is not None:
            _log.error("%s; %d more of these since the last line.", message, omitted, exc_info=error)

    loop.set_exception_handler(on_error)
