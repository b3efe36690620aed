"""Timeouts of a stream: bytes reset the socket's clock, only content resets the content clock."""

import asyncio
from collections.abc import Callable
from time import monotonic

import msgspec

from heald.core.arguments import CheckedFields, check_fields, check_positive
from heald.core.errors import AnswerTooSlow, ProviderError, ProviderTimeout, Stalled


class Timeouts(msgspec.Struct, frozen=True, kw_only=True, metaclass=CheckedFields):
    """Limits in seconds. Keep-alives reset the socket's clock, only content resets the content clock."""

    connect: float = 15.0
    socket: float = 120.0
    """Without a byte."""
    content: float = 300.0
    """Without content, though bytes arrive."""
    first: float | None = None
    """Until the first content, while the model reads the prompt. None: 1,800 s for a server of your own (`http:`) whose
    other limits are the usual ones, else `socket` and `content` count from the start."""
    tail: float = 5.0
    """After the stop reason, for late usage."""
    total: float = 3600.0
    """For a whole answer, however steadily it comes."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_positive(self, ("connect", "socket", "content", "first", "total"))


class Watchdog:
    """Aborts a silent stream; `error` names the clock that ran out. It watches one turn at a time, in one event loop.

    One timer serves all turns and checks the clocks when it is due, so a delta only reads the time.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self.error: ProviderError | None = None
        self.ended = False
        """The stream was finished and only its end was missing: no error."""
        self._timeouts = timeouts
        self._shortest = min(timeouts.socket, timeouts.content, timeouts.total)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._abort: Callable[[], object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0  # when the timer is
        self._tail: asyncio.TimerHandle | None = None
        self._last_byte = self._last_content = self._began = 0.0
        self._first = 0.0  # that silence may last before the first content

    @property
    def _socket(self) -> float:
        return max(self._timeouts.socket, self._first)

    @property
    def _content(self) -> float:
        return max(self._timeouts.content, self._first)

    def start(self, abort: Callable[[], object], grace: float = 0.0, first: float = 0.0) -> None:
        """Start to watch the wait for a response, or its stream. Both clocks start after `grace` seconds. Until there
        is content, silence may last `first` seconds."""
        now = monotonic()
        self._last_byte = self._last_content = self._began = begin = now + grace
        self._first = first
        if self._timer is None or self._due > begin + self._shortest:
            self._set_timer(now + self._shortest, self._shortest)  # without the grace, so that the stream's fits too
        self.error, self.ended = None, False
        self._abort = abort

    def saw(self, content: bool, begun: bool = True) -> None:
        """Record that bytes arrived, with or without content. Until the answer has `begun`, content is news of how far
        the prompt is read: the patience with the first content begins anew."""
        self._last_byte = monotonic()
        if content:
            self._last_content = self._last_byte
            if begun:
                self._first = 0.0

    def finishing(self) -> None:
        """Record the stop reason: from now on silence is the end, not an error."""
        if self._tail is None and self._loop is not None:
            self._tail = self._loop.call_later(self._timeouts.tail, self._end)

    def stop(self) -> None:
        self._abort = None
        if self._tail is not None:
            self._tail.cancel()
            self._tail = None

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, due: float, seconds: float) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        self._timer = None
        if self._abort is None:
            return
        now, limits = monotonic(), self._timeouts
        name = "first" if self._first else "socket"
        if now - self._last_byte >= self._socket:
            self.error = ProviderTimeout(f"No byte came for {self._socket:g} s; try again, or raise Timeouts.{name}.")
        elif now - self._last_content >= self._content:
            name = "first" if self._first else "content"
            self.error = Stalled(
                f"The stream stayed open but brought nothing for {self._content:g} s; "
                f"try again, or raise Timeouts.{name}."
            )
        elif now - self._began >= limits.total:
            self.error = AnswerTooSlow(f"The answer took longer than {limits.total:g} s; raise Timeouts.total.")
        if self.error is not None:
            self._abort()
            return
        due = min(self._last_byte + self._socket, self._last_content + self._content, self._began + limits.total)
        if self._first:
            due = min(due, now + self._shortest)  # the first content shortens the limits
        self._set_timer(due, max(due - now, 0.001))

    def _end(self) -> None:
        self.ended = True
        if self._abort is not None:
            self._abort()
