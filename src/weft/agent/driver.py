"""Drives the coroutine of an exchange, and lends it its task.

A task for every tool call would cost more than the rest of the call. So the one tool of a message runs in the task of
its exchange, but not on its frames: the exchange stands still outside (`Here`) while the driver runs the tool. If the
tool does not stop when it is told to, it is left behind with that task, and the exchange goes on in another one.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, cast


class Here:
    """`await Here(work)` runs the work in this task, in a way that can be left behind."""

    __slots__ = ("work",)

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self.work = work

    def __await__(self) -> Generator["Here", None, None]:
        yield self


class Driver:
    """One coroutine and the task that drives it now."""

    def __init__(self, driven: Coroutine[Any, Any, None], name: str, ended: Callable[[], None]) -> None:
        self._driven = driven
        self._name = name
        self._ended = ended
        self._over = False
        self.task = self._start(None)

    def here(self, work: Coroutine[Any, Any, None]) -> Here:
        return Here(work)

    def leave_behind(self, error: BaseException | None = None) -> None:
        """What runs `Here` does not end. The coroutine goes on without it: as if it had, or with this error."""
        self.task = self._start(error)

    def _start(self, error: BaseException | None) -> "asyncio.Task[None]":
        work = cast("Coroutine[Any, Any, None]", self._drive(error))
        task = asyncio.get_running_loop().create_task(work, name=self._name)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        if task is not self.task:
            if not task.cancelled():
                task.exception()  # nobody waits for what was left behind
            return
        if not self._over:  # cancelled before its first step
            self._driven.close()
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "An exchange broke.", "exception": error, "task": task})
        self._ended()

    @coroutine
    def _drive(self, error: BaseException | None) -> Generator[Any, Any, None]:
        driven, me = self._driven, asyncio.current_task()
        while True:
            try:
                wanted = driven.send(None) if error is None else driven.throw(error)
            except BaseException as end:
                self._over = True
                if isinstance(end, StopIteration):
                    return
                raise
            error = None
            try:
                if type(wanted) is Here:
                    yield from wanted.work.__await__()
                else:
                    yield wanted
            except BaseException as thrown:
                error = thrown
            if self.task is not me:
                return
