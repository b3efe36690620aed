"""Runs commands whose threads may compute for long, so that Ctrl-C ends them at once."""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

INTERRUPTED = 130
"""The exit status of a command that was interrupted."""


def run_interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. If it was interrupted, the process ends once the coroutine has closed what it opened: a thread
    that still reads a picture cannot be stopped, and is not waited for. A result of 130 counts as interrupted too."""
    runner = asyncio.Runner()
    try:
        result = runner.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        _end_process()
        runner.close()
        raise KeyboardInterrupt from None
    except BaseException:
        runner.close()
        raise
    if result == INTERRUPTED:
        _end_process()
    runner.close()
    return result


def _end_process() -> None:
    """End the process, unless this thread is only a part of it."""
    if threading.current_thread() is not threading.main_thread():
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
