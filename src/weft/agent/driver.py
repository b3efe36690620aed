"""The task that runs an exchange, and the background loop of `run_sync`.

A task for every tool call would cost more than the rest of the call. So a single tool call runs in the task of its
exchange, and begins on its stack. If the tool waits for something, the exchange is suspended (`InlineWork`) while the
driver runs the rest of the tool. A tool that does not stop when it is cancelled keeps that task, and the exchange
continues in another one.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from types import coroutine
from typing import Any, TypeVar, cast


class InlineWork:
    """Work that waits for something. The driver continues it in the current task, from which it can be detached."""

    __slots__ = ("_awaited", "_work")

    def __init__(self, work: Coroutine[Any, Any, None], awaited: Any) -> None:
        self._work = work
        self._awaited = awaited

    def run_rest(self) -> Generator[Any, Any, None]:
        """Run the work from its first wait on."""
        work, awaited = self._work, self._awaited
        while True:
            error: BaseException | None = None
            try:
                yield awaited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as thrown:
                error = thrown
            try:
                awaited = work.send(None) if error is None else work.throw(error)
            except StopIteration:
                return


@coroutine
def run_inline(
    work: Coroutine[Any, Any, None], on_wait: Callable[[], object] | None = None
) -> Generator[InlineWork, None, None]:
    """Begin work at once, on the stack of the exchange. If it has to wait, `on_wait` is called and its driver
    continues it."""
    try:
        awaited = work.send(None)
    except StopIteration:
        return
    if on_wait is not None:
        on_wait()
    yield InlineWork(work, awaited)


class Driver:
    """A coroutine, and the task that currently drives it."""

    def __init__(self, wrapped: Coroutine[Any, Any, None], name: str, ended: Callable[[], None]) -> None:
        self._wrapped = wrapped
        self._name = name
        self._ended = ended
        self._finished = False
        self.run_inline = run_inline
        self.loop = asyncio.get_running_loop()
        self.task = self._start(None)

    def detach(self, error: BaseException | None = None) -> None:
        """Continue the coroutine without the inline work, which does not end: as if it had ended, or with an error."""
        self.task = self._start(error)

    def _start(self, error: BaseException | None) -> "asyncio.Task[None]":
        work = cast("Coroutine[Any, Any, None]", self._drive(error))
        task = self.loop.create_task(work, name=self._name)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        if task is not self.task:
            if not task.cancelled():
                task.exception()  # mark it as retrieved
            return
        if not self._finished:  # cancelled before its first step
            self._wrapped.close()
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "An exchange broke.", "exception": error, "task": task})
        self._ended()

    @coroutine
    def _drive(self, error: BaseException | None) -> Generator[Any, Any, None]:
        wrapped, this_task = self._wrapped, asyncio.current_task()
        while True:
            try:
                yielded = wrapped.send(None) if error is None else wrapped.throw(error)
            except BaseException as end:
                self._finished = True
                if isinstance(end, StopIteration):
                    return
                raise
            error = None
            try:
                if type(yielded) is InlineWork:
                    yield from yielded.run_rest()
                else:
                    yield yielded
            except BaseException as thrown:
                error = thrown
            if self.task is not this_task:
                return


T = TypeVar("T")

_PATIENCE = 5.0


class BackgroundLoop:
    """Runs coroutines in an event loop in a thread of its own, until `close`."""

    def __init__(self) -> None:
        ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live(ready)), name="weft-loop", daemon=True)
        self._thread.start()
        ready.wait()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine. Returns a future of its result."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result. A KeyboardInterrupt cancels it first, and is raised then."""
        task: list[asyncio.Task[T]] = []

        async def watched() -> T:
            task.append(asyncio.ensure_future(work))
            return await task[0]

        future = self.start(watched())
        try:
            return future.result()
        except KeyboardInterrupt:
            if task and self._loop is not None:
                ended = threading.Event()
                task[0].add_done_callback(lambda _: ended.set())
                self._loop.call_soon_threadsafe(task[0].cancel)
                ended.wait(_PATIENCE)
            raise

    def close(self) -> None:
        if self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    async def _live(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        ready.set()
        await self._stop.wait()
