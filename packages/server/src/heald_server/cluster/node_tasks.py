"""The background tasks of a node. One that ends is started again, and the last beat of each is known."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from time import monotonic
from typing import Any

from heald.core.errors import HealdError

LONGEST_SILENCE = 45.0
"""A task that has not beaten for so long hangs: a query waits for 30 s at most."""
RESTART_SECONDS = 1.0
"""Seconds until a task that failed is started again."""

_log = logging.getLogger("heald_server.cluster.node")


class NodeTasks:
    """Runs the tasks of a node until they are stopped."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._beats: dict[str, float] = {}

    def keep_running(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a task for ever. It calls `beat` with its name at least every `LONGEST_SILENCE` seconds."""
        self.beat(name)
        self._add(name, self._run_for_ever(name, run))

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run something once."""
        task = self._add(name, self._run_once(name, work))
        task.add_done_callback(lambda _: work.close())  # it was never begun if the task was cancelled at once

    def beat(self, name: str) -> None:
        self._beats[name] = monotonic()

    @property
    def ages(self) -> Mapping[str, float]:
        """Seconds since the last beat of each task."""
        now = monotonic()
        return {name: now - beat for name, beat in self._beats.items()}

    @property
    def are_alive(self) -> bool:
        return all(age < LONGEST_SILENCE for age in self.ages.values())

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _add(self, name: str, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=f"heald-node-{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run_for_ever(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            await self._run_once(name, run())
            await asyncio.sleep(RESTART_SECONDS)

    async def _run_once(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (HealdError, OSError) as error:
            _log.error("the task %s failed: %s", name, error)
        except Exception as error:
            _log.exception("The task %s failed: %s", name, error)


async def wait_for_event(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, and set it after some seconds. Returns whether somebody else has set it. A timeout would
    cancel the task and catch that, which costs a multiple."""
    if event.is_set():
        return True
    is_late = False

    def end_wait() -> None:
        nonlocal is_late
        is_late = not event.is_set()
        event.set()

    timer = asyncio.get_running_loop().call_later(seconds, end_wait)
    try:
        await event.wait()
    finally:
        timer.cancel()
    return not is_late
