"""A loop in a thread of its own, for callers that have none."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 5.0


class Background:
    """Runs coroutines in one loop that lives until `close`."""

    def __init__(self) -> None:
        ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live(ready)), name="weft-loop", daemon=True)
        self._thread.start()
        ready.wait()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Let it run; the future is done when it is."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the outcome. An interrupt from the keyboard ends the work first, and is raised then."""
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
