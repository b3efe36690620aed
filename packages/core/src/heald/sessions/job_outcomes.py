"""The outcomes of jobs that a thread of a database runs for event loops."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any


class JobOutcome:
    """The outcome of a job, for a future of an event loop. The outcomes of a transaction wake their loop once."""

    __slots__ = ("_error", "_future", "_value", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        self.loop = loop
        self._future = future
        self._value: Any = None
        self._error: Exception | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._future.cancelled()

    def set(self, value: Any, error: Exception | None = None) -> None:
        self._value, self._error = value, error

    def resolve(self) -> None:
        """Resolve the future. Called in its loop."""
        if self._future.done():
            return
        if self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._value)


class GroupOutcome:
    """The outcomes of a job for several callers: each is called back with its value or its error."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, callbacks: Sequence[Callable[[Any, Exception | None], object]]
    ) -> None:
        self.loop = loop
        self.is_cancelled = False
        self._callbacks = callbacks
        self._values: Sequence[Any] = ()

    def set(self, value: Sequence[Any]) -> None:
        """Set the value of each caller; an exception is its error."""
        self._values = value

    def resolve(self) -> None:
        for callback, value in zip(self._callbacks, self._values, strict=True):
            is_error = isinstance(value, Exception)
            callback(None if is_error else value, value if is_error else None)


Outcome = JobOutcome | GroupOutcome


def _resolve_all(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        outcome.resolve()


def post_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Resolve the outcomes in their loops. A loop that is closed waits for nothing."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.loop, []).append(outcome)
    for loop, loop_outcomes in by_loop.items():
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve_all, loop_outcomes)
