"""Lets one task wait for data, and continues it in the very step of the event loop that brings them."""

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any, Self


class TaskWaiter:
    """What a task awaits like a future, again and again. A future would continue it one step of the event loop later.

    A task may be woken for nothing, so it checks what it waits for.
    """

    __slots__ = ("_asyncio_future_blocking", "_context", "_continue", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._continue: Callable[[Any], object] | None = None  # of the task that waits
        self._context: Context | None = None
        self._asyncio_future_blocking = False

    def wake(self) -> None:
        """Continue the task that waits, if there is one: now, or after the step of the task that calls this."""
        resume, self._continue = self._continue, None
        if resume is None or self._context is None:
            return
        if asyncio.current_task(self._loop) is None:
            self._context.run(resume, self)
        else:
            self._loop.call_soon(resume, self, context=self._context)

    def wake_soon(self) -> None:
        """Continue the task that waits in the next step of the event loop."""
        if self._continue is not None:
            self._loop.call_soon(self.wake)

    def __await__(self) -> Generator[Self]:
        self._asyncio_future_blocking = True
        yield self

    # --- called by the task, as of a future --------------------------------------------------------------------------

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def add_done_callback(self, resume: Callable[[Any], object], *, context: Context) -> None:
        self._continue, self._context = resume, context

    def result(self) -> None:
        return None

    def cancel(self, msg: object = None) -> bool:
        """Continue the task, which raises CancelledError then: nothing else cancels this."""
        self.wake_soon()
        return False
