"""An event loop with a virtual clock, whose callbacks belong to processes that can be frozen and killed."""

import asyncio
import heapq
import selectors
from asyncio import events
from collections.abc import Callable
from contextvars import Context, ContextVar
from functools import partial
from typing import Any

_BEGIN = 1_000_000.0


class SimulatedProcess:
    """A process. What is scheduled in it waits while it is frozen, and after its death until the simulation ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_frozen = False
        self.is_dead = False
        self.held: list[asyncio.Handle] = []

    @property
    def runs(self) -> bool:
        return not (self.is_frozen or self.is_dead)


PROCESS: "ContextVar[SimulatedProcess | None]" = ContextVar("process", default=None)


class _HeldHandle(events.Handle):
    """Runs only while its process runs."""

    def _run(self) -> None:
        process = self._context.get(PROCESS)  # type: ignore[attr-defined]
        if process is None or process.runs:
            super()._run()  # type: ignore[misc]
        else:
            process.held.append(self)


class _HeldTimer(_HeldHandle, events.TimerHandle):
    pass


class _VirtualSelector(selectors.SelectSelector):
    """Waits for nothing: time passes at once."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("Nothing is scheduled: the simulation stands still.")
        if timeout > 0:
            self.loop.now += timeout
        return []


class VirtualStop:
    """Stands for the event that a thread waits for."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> bool:
        raise RuntimeError("It is awaited by the loop.")

    async def wait_virtually(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        return self._event.is_set()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which an hour takes as long as its callbacks do."""

    _ready: Any
    _scheduled: Any

    def __init__(self) -> None:
        self.now = _BEGIN
        selector = _VirtualSelector()
        selector.loop = self
        super().__init__(selector)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self.now

    def _call_soon(self, callback: Any, args: Any, context: Context | None) -> asyncio.Handle:
        handle = _HeldHandle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        timer = _HeldTimer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True  # type: ignore[attr-defined]
        return timer

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.now + delay, callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """A thread that waits for its stop waits in virtual time. Nothing else runs in threads."""
        waited = func.args[0] if isinstance(func, partial) else None  # what asyncio.to_thread runs
        stop = getattr(waited, "__self__", None)
        if not isinstance(stop, VirtualStop) or not isinstance(func, partial):
            raise RuntimeError(f"The simulation has no threads for {func!r}.")
        return asyncio.ensure_future(stop.wait_virtually(func.args[1]))

    def reset(self) -> None:
        """Begin anew, after everything has ended."""
        self.now = _BEGIN
        self._ready.clear()
        self._scheduled.clear()

    def thaw(self, process: SimulatedProcess) -> None:
        """Let a frozen process run on."""
        process.is_frozen = False
        held, process.held = process.held, []
        self._ready.extend(handle for handle in held if not handle.cancelled())
