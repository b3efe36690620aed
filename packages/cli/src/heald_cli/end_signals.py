"""The signals that ask a process to end: SIGTERM, and SIGHUP when its terminal is closed."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress

_NAMES = ("SIGTERM", "SIGHUP")


def call_at_end(callback: Callable[..., object], *arguments: object) -> None:
    """Call back at each of them, so that what the process started ends with it. One that is ignored stays ignored, as
    `nohup` wants it of SIGHUP."""
    loop = asyncio.get_running_loop()
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError, RuntimeError):  # works in the main thread of POSIX systems only
                loop.add_signal_handler(number, callback, *arguments)
