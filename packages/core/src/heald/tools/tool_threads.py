"""Runs plain functions of tools in threads."""

import asyncio
import contextvars
import inspect
import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.5
"""Seconds to wait for a thread after its call was cancelled."""
IDLE = 5.0
"""Seconds after which a thread that has nothing to do ends."""


class ToolThread(threading.Thread):
    """A daemon thread that runs one function after another: to start a thread costs more than most tools.

    A function that never returns keeps its thread; the next one gets another."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.jobs: SimpleQueue[tuple[Callable[[], None], str]] = SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                work, self.name = self.jobs.get(timeout=IDLE)
            except Empty:
                try:
                    _idle_threads.remove(self)
                except ValueError:  # somebody has just taken it: work is coming
                    continue
                return
            work()
            del work  # what it holds is free while the thread is idle
            self.name = "heald-idle"
            _idle_threads.append(self)


_idle_threads: list[ToolThread] = []
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_idle_threads.clear)  # threads are not inherited


def _start(work: Callable[[], None], name: str) -> None:
    """Run a function in an idle thread, or in a new one. It must not raise."""
    try:
        thread = _idle_threads.pop()
    except IndexError:
        thread = ToolThread()
        thread.start()
    thread.jobs.put((work, name))


async def in_thread(function: Callable[[], T], name: str) -> T:
    """Run a function in a daemon thread, with the context variables of the caller."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        resolve: Callable[[], None]
        try:
            resolve = partial(_finish, done, context.run(function))
        except BaseException as error:
            resolve = partial(_fail, done, error)
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(resolve)

    _start(work, f"heald-tool-{name}")
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        done.add_done_callback(_ignore)
        await asyncio.wait([done], timeout=GRACE)
        if not done.done():
            logging.getLogger("heald").warning("The tool %s could not be stopped and was left behind.", name)
        raise


def _ignore(done: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of an abandoned call, so that asyncio does not log it."""
    if not done.cancelled():
        done.exception()


def _finish(done: "asyncio.Future[Any]", value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: "asyncio.Future[Any]", error: BaseException) -> None:
    if done.done():
        return
    # a future cannot hold StopIteration, and an exit or cancellation inside the thread must not propagate
    if isinstance(error, StopIteration | KeyboardInterrupt | SystemExit | asyncio.CancelledError):
        error = RuntimeError(f"{type(error).__name__} in a tool")
    done.set_exception(error)


async def run_plain(call: Callable[[], Any], name: str) -> Any:
    """Run a plain function in a thread. One that returns an awaitable gets its value awaited."""
    value = await in_thread(call, name)
    return await value if inspect.isawaitable(value) else value
