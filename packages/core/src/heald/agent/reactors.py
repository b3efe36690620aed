"""Reactors: the subscribers of a bus, and the delivery of events to them."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from heald.agent.handlers import Handler, read_handlers
from heald.core.arguments import nearest_or_all
from heald.core.envelope import PAYLOADS, Event, payload_types
from heald.core.errors import ConfigurationError
from heald.core.events import Unknown
from heald.core.payload import Layer, Payload

Reactor = Callable[[Event], Awaitable[object]] | Callable[[Event], object] | object
"""A function for all events, or an object with methods such as `on_text_delta`; `on_event` gets all other events.
Functions and coroutines both work."""

QUEUE = 10_000
"""Events that may wait for a slow reactor before it is dropped."""

_log = logging.getLogger("heald")


def check_event_types(types: Collection[str] | None) -> None:
    """Raise ConfigurationError for an event type that does not exist."""
    for name in types or ():
        if name not in PAYLOADS and name not in payload_types(Payload):
            raise ConfigurationError(f"There is no event type {name!r}; {nearest_or_all(name, list(PAYLOADS))}")


class Subscription:
    """A subscribed reactor. Plain functions are called at once; coroutines get a queue and a task of their own."""

    failures = 0
    """How often a handler raised."""
    dropped_at: int | None = None
    """The first event that the reactor missed because it was too slow. It gets no events after that."""
    collected: list[Event] | None = None
    """The list that the reactor adds every event to, if it does nothing else."""
    _waiting: asyncio.Queue[Event | None] | None = None
    _task: asyncio.Task[None] | None = None

    def __init__(
        self,
        reactor: Reactor,
        remove: Callable[["Subscription"], None],
        *,
        types: Collection[str] | None,
        layers: Collection[Layer] | None,
        queue: int,
    ) -> None:
        self._handlers, self._everything = read_handlers(reactor)
        self._types, self._layers = types, layers
        self._remove = remove
        self._size = queue
        self._is_async = any(map(_is_coroutine, (*self._handlers.values(), self._everything)))

    def handler_for(self, kind: str) -> Handler | None:
        """Return the handler for events of a type, or None if the reactor does not want them."""
        if self._types is not None and kind not in self._types:
            return None
        if self._layers is not None and PAYLOADS.get(kind, Unknown).layer not in self._layers:
            return None
        handler = self._handlers.get(kind, self._everything)
        return self._put if self._is_async and handler is not None else handler

    def log_failure(self, event: Event) -> None:
        """Log the current exception of a handler."""
        self.failures += 1
        _log.exception("A reactor failed at %s (seq %d of %s).", event.type, event.seq, event.session)

    def close(self) -> None:
        """Unsubscribe. Queued events are still handled."""
        self._remove(self)

    async def drain(self, patience: float | None = None) -> None:
        """Unsubscribe and wait until the queue is handled. A handler that takes longer than `patience` is cancelled."""
        self.close()
        task, waiting = self._task, self._waiting
        if task is None or waiting is None or task.done():
            return
        if waiting.full():
            waiting.get_nowait()  # makes room for the end marker
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
                self.log_failure(event)


class _ListSubscription(Subscription):
    """Adds every event to a list."""

    def __init__(self, events: list[Event], remove: Callable[[Subscription], None]) -> None:
        self.collected, self._append, self._remove = events, events.append, remove

    def handler_for(self, kind: str) -> Handler:
        return self._append


class Dispatcher:
    """Delivers events to the subscribed reactors."""

    def __init__(self) -> None:
        self.table: dict[str, list[tuple[Handler, Subscription]]] = {}
        """The handlers of each event type, as far as they were looked up."""
        self.wakes: list[Callable[[], object]] = []
        """The readers that wait: each is called once, after the next events were delivered."""
        self.only_list: list[Event] | None = None
        """The list that gets every event, if nothing else is subscribed."""
        self._subscriptions: list[Subscription] = []

    def dispatch(self, event: Event) -> None:
        """Call every handler of an event. A handler that raises is logged."""
        handlers = self.table.get(event.type)
        if handlers is None:
            handlers = self.find_handlers(event.type)
        for handler, subscription in handlers:
            try:
                handler(event)
            except Exception:
                subscription.log_failure(event)
        if self.wakes:
            self.wake_readers()

    def wake_readers(self) -> None:
        """Wake the readers that wait for events. One that goes on waiting registers anew."""
        wakes, self.wakes = self.wakes, []
        for wake in wakes:
            wake()

    def find_handlers(self, kind: str) -> list[tuple[Handler, Subscription]]:
        self.table[kind] = handlers = list[tuple[Handler, Subscription]]()
        for subscription in self._subscriptions:
            handler = subscription.handler_for(kind)
            if handler is not None:
                handlers.append((handler, subscription))
        return handlers

    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Subscribe a reactor to events: all, or those of the given types or layers."""
        subscription = Subscription(reactor, self._remove, types=types, layers=layers, queue=queue)
        self._add(subscription)
        return subscription

    def collect(self, events: list[Event]) -> Subscription:
        """Add every event to a list from now on."""
        subscription = _ListSubscription(events, self._remove)
        self._add(subscription)
        return subscription

    async def close(self, patience: float = 1.0) -> None:
        """Unsubscribe all reactors and let them finish their queues."""
        for subscription in list(self._subscriptions):
            await subscription.drain(patience)

    def _add(self, subscription: Subscription) -> None:
        self._subscriptions.append(subscription)
        self._on_changed()

    def _remove(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self._on_changed()

    def _on_changed(self) -> None:
        """Subscriptions have changed."""
        self.table = {}  # a new one: an event may be in dispatch through the old one
        self.only_list = self._subscriptions[0].collected if len(self._subscriptions) == 1 else None


def _is_coroutine(handler: Any) -> bool:
    if handler is None or isinstance(handler, BuiltinMethodType):
        return False
    function = handler.__func__ if isinstance(handler, MethodType) else handler
    if isinstance(function, FunctionType) and not function.__dict__:  # not marked as a coroutine function
        return bool(function.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))  # noqa: B004
