"""Lines of standard input, read without blocking the event loop."""

import asyncio
import os
import sys
from contextlib import suppress
from threading import Thread

from heald.core.errors import ConfigurationError


class StdinLines:
    """Lines of standard input. Unlike a thread that reads with `sys.stdin`, a wait for one can be cancelled."""

    def __init__(self) -> None:
        self._held = b""

    async def read(self) -> str:
        """Return the next line; empty at the end."""
        while b"\n" not in self._held and (data := await _read_bytes()):
            self._held += data
        line, end, self._held = self._held.partition(b"\n")
        try:
            return (line + end).decode(sys.stdin.encoding)
        except UnicodeDecodeError:
            raise ConfigurationError("Standard input is not text.") from None


async def _read_bytes() -> bytes:
    """Read what there is of standard input, in a thread that does not hold up the end of the process."""
    loop = asyncio.get_running_loop()
    received: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        try:
            data = os.read(sys.stdin.fileno(), 65536)
        except OSError:  # such as a terminal that was closed
            data = b""
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(lambda: received.done() or received.set_result(data))

    Thread(target=read, name="heald-stdin", daemon=True).start()
    return await received
