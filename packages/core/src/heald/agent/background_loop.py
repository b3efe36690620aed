"""An event loop in a thread of its own, for `run_sync`."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_CANCEL_SECONDS = 5.0  # how long an interrupted coroutine has to end


class BackgroundLoop:
    """Runs coroutines in an event loop in a thread of its own, until `close`."""

    def __init__(self) -> None:
        ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live(ready)), name="heald-loop", daemon=True)
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
                ended.wait(_CANCEL_SECONDS)
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


def is_in_loop(loop: asyncio.AbstractEventLoop | None = None) -> bool:
    """Return whether the caller runs in this event loop, or in any."""
    try:
        return asyncio.get_running_loop() is loop or loop is None
    except RuntimeError:
        return False
