"""Reads the events of one exchange from a bus."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from heald.agent.bus import EventBus
from heald.core.envelope import Event


class ReadableExchange(Protocol):
    """The part of an exchange that a reader of its events needs."""

    @property
    def id(self) -> str: ...

    @property
    def is_delivered(self) -> bool: ...

    def on_end(self, callback: Callable[[], object]) -> None: ...


class ExchangeReader:
    """Collects the events of a bus, none left out, until `close`."""

    def __init__(self, bus: EventBus) -> None:
        self._session = bus.session
        self._events: list[Event] = []
        self._begun = self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiter: asyncio.Future[None] | None = None  # of a reader that nobody wakes yet
        self._bus = bus
        self._subscription = bus.collect(self._events)

    def close(self) -> None:
        self._subscription.close()

    async def read(self, exchange: ReadableExchange) -> list[Event]:
        """Wait for the next events of an exchange, of agents that work for it, and of the session around it.

        The last one is `exchange_response`; after it, and if it can never be delivered, the list is empty.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            exchange.on_end(self._wake)  # wakes the reader if the events can never be delivered
        while not self._ended:
            if not self._events and not exchange.is_delivered:
                self._waiter = waiter = self._loop.create_future()
                self._bus.wakes.append(self._wake)
                try:
                    await waiter
                finally:
                    self._waiter = None
            self._ended = exchange.is_delivered
            events = self._events.copy()
            self._events.clear()
            if self._ended or not self._begun:
                events = self._select(events, exchange)
            if events:
                return events
        return []

    def _select(self, events: list[Event], exchange: ReadableExchange) -> list[Event]:
        """Return the events that concern the exchange."""
        session, exchange_id = self._session, exchange.id
        if events and {event.exchange for event in events} == {exchange_id}:  # the usual case
            self._begun = events[-1].type != "exchange_response"
            return events
        selected: list[Event] = []
        for event in events:
            if event.session != session:
                if self._begun:
                    selected.append(event)
            elif event.exchange == exchange_id:
                self._begun = event.type != "exchange_response"
                selected.append(event)
            elif event.exchange is None and not self._ended:
                selected.append(event)
        return selected

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
