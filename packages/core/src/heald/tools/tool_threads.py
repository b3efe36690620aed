"""Runs plain functions of tools in threads."""

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.5
"""Seconds to wait for a thread after its call was cancelled."""


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

    threading.Thread(target=work, name=f"heald-tool-{name}", daemon=True).start()
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
