"""Plain functions run in threads of their own, so that none of them holds the loop up.

A thread cannot be stopped. Whoever is cancelled while one runs gives it a moment, then leaves it behind: what it
returns later is ignored, and as a daemon it does not keep the program alive.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.5
"""Seconds that a thread gets to finish after its call was cancelled."""


async def in_thread(function: Callable[[], T], name: str) -> T:
    """Run a function in a thread, with the context variables of the caller."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        settle: Callable[[], None]
        try:
            settle = partial(_finish, done, context.run(function))
        except BaseException as error:
            settle = partial(_fail, done, error)
        with suppress(RuntimeError):  # the loop may be gone, and with it whoever waited
            loop.call_soon_threadsafe(settle)

    threading.Thread(target=work, name=f"weft-tool-{name}", daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        done.add_done_callback(_ignore)
        await asyncio.wait([done], timeout=GRACE)
        if not done.done():
            logging.getLogger("weft").warning("The tool %s could not be stopped and was left behind.", name)
        raise


def _ignore(done: "asyncio.Future[Any]") -> None:
    """Nobody waits for it any more, nor for its error."""
    if not done.cancelled():
        done.exception()


def _finish(done: "asyncio.Future[Any]", value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: "asyncio.Future[Any]", error: BaseException) -> None:
    if done.done():
        return
    # a future cannot carry StopIteration, and must not carry a thread's exit or cancellation as its own
    if isinstance(error, StopIteration | KeyboardInterrupt | SystemExit | asyncio.CancelledError):
        error = RuntimeError(f"{type(error).__name__} in a tool")
    done.set_exception(error)
