"""An event loop with a virtual clock, whose callbacks belong to processes that can be frozen and killed."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from functools import partial
from heapq import heappop, heappush
from typing import Any

_BEGIN = 1_000_000.0
_ENDLESS = frozenset(
    ("heald-node-heartbeat", "heald-node-commands", "heald-node-events", "heald-node-claims", "heald-news")
)
"""The names of the tasks that run as long as their process."""


class ScheduledCall(list[Any]):
    """A call that runs while its process does: its time, its number, what is called, with which arguments, and in which
    context. It is what asyncio gets as a handle or a timer. Timers are ordered by their time and number."""

    __slots__ = ()

    def cancel(self) -> None:
        self[2] = None

    def cancelled(self) -> bool:
        return self[2] is None

    def when(self) -> float:
        return self[0]


class SimulatedProcess:
    """A process. What is scheduled in it waits while it is frozen, and after its death until the simulation ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_frozen = False
        self.is_dead = False
        self.held: list[ScheduledCall] = []
        self.tasks: list[asyncio.Task[Any]] = []

    @property
    def runs(self) -> bool:
        return not (self.is_frozen or self.is_dead)

    def ended_tasks(self) -> list[str]:
        """Return the names of the tasks that have ended, though they are to run as long as the process does."""
        return [task.get_name() for task in self.tasks if task.done() and task.get_name() in _ENDLESS]


PROCESS: "ContextVar[SimulatedProcess | None]" = ContextVar("process", default=None)


class VirtualStop:
    """Stands for the event that a thread waits for."""

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: list[asyncio.Future[bool]] = []

    def set(self) -> None:
        self._is_set = True
        while self._waiters:
            self._end_wait(self._waiters[-1])

    def wait(self, seconds: float) -> bool:
        raise RuntimeError("It is awaited by the loop.")

    def wait_virtually(self, loop: asyncio.AbstractEventLoop, seconds: float) -> "asyncio.Future[bool]":
        """Return a future that has a result when it is set or after some seconds: whether it is set."""
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiters.append(waiter)
        loop.call_later(0.0 if self._is_set else seconds, self._end_wait, waiter)
        return waiter

    def _end_wait(self, waiter: "asyncio.Future[bool]") -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)
        if not waiter.done():
            waiter.set_result(self._is_set)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which an hour takes as long as its callbacks do. It waits for no sockets: when nothing is left
    to run, it is the time of the next timer. Timers of the same moment run in the order in which they were set."""

    def __init__(self) -> None:
        super().__init__()
        self._stopping = False  # what run_forever looks at after each _run_once
        self.now = _BEGIN
        self._calls: deque[ScheduledCall] = deque()
        self._timers: list[ScheduledCall] = []
        self._timer_count = 0
        self._has_stopped = False
        """Some process is frozen or dead."""
        self.tasks: list[asyncio.Task[Any]] = []
        """All tasks since the last reset."""

    def time(self) -> float:
        return self.now

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:
        call = ScheduledCall((0.0, 0, callback, args, copy_context() if context is None else context))
        self._calls.append(call)
        return call

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        self._timer_count = number = self._timer_count + 1
        call = ScheduledCall((when, number, callback, args, copy_context() if context is None else context))
        heappush(self._timers, call)
        return call

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        self._timer_count = number = self._timer_count + 1
        call = ScheduledCall((self.now + delay, number, callback, args, copy_context() if context is None else context))
        heappush(self._timers, call)
        return call

    def create_task(self, coro: Any, *, name: object = None, context: Context | None = None) -> Any:
        task = asyncio.Task(coro, loop=self, name=None if name is None else str(name), context=context)
        self.tasks.append(task)
        if (process := PROCESS.get()) is not None:
            process.tasks.append(task)
        return task

    def _run_once(self) -> None:
        """Run what is due until the loop is stopped, as the loop of asyncio does: calls that these make run the next
        time."""
        calls, timers = self._calls, self._timers
        while not self._stopping:
            while timers and timers[0][2] is None:
                heappop(timers)
            if not calls:
                if not timers:
                    raise RuntimeError("Nothing is scheduled: the simulation stands still.")
                self.now = max(self.now, timers[0][0])
            now = self.now
            while timers and timers[0][0] <= now:
                calls.append(heappop(timers))
            for _ in range(len(calls)):
                call = calls.popleft()
                _, _, callback, args, context = call
                if callback is None:
                    continue
                if self._has_stopped:
                    process = context.get(PROCESS)
                    if process is not None and (process.is_frozen or process.is_dead):
                        process.held.append(call)
                        continue
                try:
                    context.run(callback, *args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    self.call_exception_handler({"message": f"{callback!r} failed", "exception": error})

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """A thread that waits for its stop waits in virtual time. Nothing else runs in threads."""
        waited = func.args[0] if isinstance(func, partial) else None  # what asyncio.to_thread runs
        stop = getattr(waited, "__self__", None)
        if not isinstance(stop, VirtualStop) or not isinstance(func, partial):
            raise RuntimeError(f"The simulation has no threads for {func!r}.")
        return stop.wait_virtually(self, func.args[1])

    def reset(self) -> None:
        """Begin anew, after everything has ended."""
        self.now = _BEGIN
        self._calls.clear()
        self._timers.clear()
        self.tasks.clear()
        self._has_stopped = False

    def freeze(self, process: SimulatedProcess) -> None:
        """Let a process do nothing until it is thawed."""
        process.is_frozen = self._has_stopped = True

    def kill(self, process: SimulatedProcess) -> None:
        process.is_dead = self._has_stopped = True

    def thaw(self, process: SimulatedProcess) -> None:
        """Let a frozen process run on."""
        process.is_frozen = False
        held, process.held = process.held, []
        self._calls.extend(held)
