"""Two clocks over one stream: bytes keep the socket's alive, only content keeps the other's."""

import asyncio
from collections.abc import Callable

from weft.core.errors import ProviderError, ProviderTimeout, Stalled
from weft.providers.retry import Timeouts


class Watchdog:
    """Calls `abort` when a stream has gone quiet. `error` then says which clock ran out."""

    def __init__(self, timeouts: Timeouts, abort: Callable[[], None]) -> None:
        self.error: ProviderError | None = None
        self.ended = False
        """The stream had finished and only its end was missing: no error."""
        self._timeouts = timeouts
        self._abort = abort
        self._loop = asyncio.get_running_loop()
        self._last_byte = self._last_content = self._loop.time()
        self._tail: asyncio.TimerHandle | None = None
        self._timer = self._loop.call_later(min(timeouts.socket, timeouts.content), self._check)

    def saw(self, content: bool) -> None:
        """Bytes came, with or without content."""
        self._last_byte = self._loop.time()
        if content:
            self._last_content = self._last_byte

    def finishing(self) -> None:
        """The stop reason was seen. From now on silence is the end, not a fault."""
        if self._tail is None:
            self._tail = self._loop.call_later(self._timeouts.tail, self._end)

    def cancel(self) -> None:
        self._timer.cancel()
        if self._tail is not None:
            self._tail.cancel()

    def _check(self) -> None:
        now, limits = self._loop.time(), self._timeouts
        if now - self._last_byte >= limits.socket:
            self.error = ProviderTimeout(f"No byte came for {limits.socket:g} s; try again, or raise Timeouts.socket.")
        elif now - self._last_content >= limits.content:
            self.error = Stalled(
                f"The stream stayed open but brought nothing for {limits.content:g} s; "
                "try again, or raise Timeouts.content."
            )
        if self.error is not None:
            self._abort()
            return
        due = min(self._last_byte + limits.socket, self._last_content + limits.content)
        self._timer = self._loop.call_later(max(due - now, 0.001), self._check)

    def _end(self) -> None:
        self.ended = True
        self._abort()
