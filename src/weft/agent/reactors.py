"""Whoever reacts to events: a function of an event, or an object with handlers such as `on_text_delta`."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, cast

from weft.core.envelope import PAYLOADS, Event
from weft.core.events import Unknown
from weft.core.payload import Layer

Handler = Callable[[Event], object]
Reactor = Callable[[Event], Awaitable[object]] | Handler | object

QUEUE = 10_000
"""Events that may wait for a slow reactor before it is dropped."""

_log = logging.getLogger("weft")


class Subscription:
    """A reactor on a bus. Plain functions are called at once; coroutines get a queue and a task of their own."""

    def __init__(
        self,
        reactor: Reactor,
        leave: Callable[["Subscription"], None],
        *,
        types: Collection[str] | None,
        layers: Collection[Layer] | None,
        queue: int,
    ) -> None:
        self.failures = 0
        """How often a handler raised."""
        self.dropped_at: int | None = None
        """The first event that the reactor missed because it was too slow; it gets none since."""
        self._handlers, self._everything = _handlers_of(reactor)
        self._types, self._layers = types, layers
        self._leave = leave
        self._size = queue
        self._is_async = any(map(_is_coroutine, (*self._handlers.values(), self._everything)))
        self._waiting: asyncio.Queue[Event | None] | None = None
        self._task: asyncio.Task[None] | None = None

    def handler_for(self, kind: str) -> Handler | None:
        """What takes the events of a type, if this reactor wants them."""
        if self._types is not None and kind not in self._types:
            return None
        if self._layers is not None and PAYLOADS.get(kind, Unknown).layer not in self._layers:
            return None
        handler = self._handlers.get(kind, self._everything)
        return self._put if self._is_async and handler is not None else handler

    def failed(self, event: Event) -> None:
        """Called while an exception of a handler is being handled."""
        self.failures += 1
        _log.exception("A reactor failed at %s (seq %d of %s).", event.type, event.seq, event.session)

    def close(self) -> None:
        """Hear nothing more. What is queued is still handled."""
        self._leave(self)

    async def drain(self, patience: float | None = None) -> None:
        """Close, and wait until all that was queued has been handled; a handler that takes longer is cancelled."""
        self.close()
        task, waiting = self._task, self._waiting
        if task is None or waiting is None or task.done():
            return
        if waiting.full():
            waiting.get_nowait()  # the last word finds room
        waiting.put_nowait(None)
        await asyncio.wait([task], timeout=patience)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        self._task = None

    def _put(self, event: Event) -> None:
        if self._waiting is None or self._task is None or self._task.done():
            self._waiting = asyncio.Queue(self._size)
            self._task = asyncio.get_running_loop().create_task(self._work(self._waiting))
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            self.dropped_at = event.seq
            self.close()
            _log.warning("A reactor was too slow and was dropped at seq %d of %s.", event.seq, event.session)

    async def _work(self, waiting: "asyncio.Queue[Event | None]") -> None:
        while (event := await waiting.get()) is not None:
            handler = self._handlers.get(event.type, self._everything)
            try:
                result = handler(event) if handler is not None else None
                if inspect.isawaitable(result):
                    await result
            except Exception:
                self.failed(event)


def _handlers_of(reactor: Reactor) -> tuple[dict[str, Handler], Handler | None]:
    """The handlers of an object by event type, and the one for all other events."""
    named = {kind: getattr(reactor, f"on_{kind}", None) for kind in PAYLOADS}
    handlers = {kind: cast(Handler, handler) for kind, handler in named.items() if callable(handler)}
    everything = getattr(reactor, "on_event", None) or (reactor if callable(reactor) else None)
    if not handlers and everything is None:
        raise TypeError(f"{type(reactor).__name__} has no handler such as on_text_delta, and cannot be called.")
    return handlers, cast("Handler | None", everything)


def _is_coroutine(handler: Any) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))  # noqa: B004
