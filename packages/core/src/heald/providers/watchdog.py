"""Timeouts of a stream: bytes reset the socket's clock, only content resets the content clock."""

import asyncio
from collections.abc import Callable
from math import inf
from time import monotonic
from weakref import WeakKeyDictionary, ref

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

    One timer serves all streams of the loop and checks their clocks when it is due, so a delta only reads the time.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self.error: ProviderError | None = None
        self.ended = False
        """The stream was finished and only its end was missing: no error."""
        self._timeouts = timeouts
        self._shortest = min(timeouts.socket, timeouts.content, timeouts.total)
        self.is_checked = False
        """The timer of the loop checks the clocks."""
        self._abort: Callable[[], object] | None = None
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
        self._last_byte = self._last_content = self._began = now + grace
        self._first = first
        self.error, self.ended = None, False
        self._abort = abort
        if not self.is_checked:
            self.is_checked = True
            _stream_timer(asyncio.get_running_loop()).add(self, now + self._shortest)

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
        if self._tail is None:
            self._tail = asyncio.get_running_loop().call_later(self._timeouts.tail, self._end)

    def stop(self) -> None:
        self._abort = None
        if self._tail is not None:
            self._tail.cancel()
            self._tail = None

    def check(self, now: float) -> float | None:
        """Abort the stream if a clock ran out. Returns when to check again otherwise."""
        if self._abort is None:
            return None
        limits = self._timeouts
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
            return None
        due = min(self._last_byte + self._socket, self._last_content + self._content, self._began + limits.total)
        if self._first:
            due = min(due, now + self._shortest)  # the first content shortens the limits
        return due

    def _end(self) -> None:
        self.ended = True
        if self._abort is not None:
            self._abort()


class StreamTimer:
    """The timer of the streams that are watched in one event loop. It refers to no handle, and so not to the loop."""

    def __init__(self) -> None:
        self._watchdogs: list[Watchdog] = []
        self._due = inf  # when the next check is

    def add(self, watchdog: Watchdog, due: float) -> None:
        """Check a stream at this time, or before. One that is not watched by then is forgotten."""
        self._watchdogs.append(watchdog)
        if due < self._due:
            self._set(due)

    def _set(self, due: float) -> None:
        self._due = due
        asyncio.get_running_loop().call_later(max(due - monotonic(), 0.001), self._check, due)

    def _check(self, due: float) -> None:
        if due != self._due:
            return  # an earlier check has taken its place
        self._due = next_due = inf
        now = monotonic()
        watchdogs, self._watchdogs = self._watchdogs, []
        for watchdog in watchdogs:
            again = watchdog.check(now)
            if again is None:
                watchdog.is_checked = False
            else:
                self._watchdogs.append(watchdog)
                next_due = min(next_due, again)
        if next_due < inf:
            self._set(next_due)


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, ref[StreamTimer]] = WeakKeyDictionary()
"""The loops keep their timers, by the handles of the next checks: a loop that ended in the middle of a stream is freed
with it."""


def _stream_timer(loop: asyncio.AbstractEventLoop) -> StreamTimer:
    """The timer of an event loop."""
    reference = _by_loop.get(loop)
    timer = reference() if reference is not None else None
    if timer is None:
        timer = StreamTimer()
        _by_loop[loop] = ref(timer)
    return timer
