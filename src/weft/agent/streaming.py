"""The events of an exchange, for one who reads at their own pace. Nothing is left out."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from weft.agent.bus import EventBus
from weft.core.envelope import Event

_AT_ONCE = frozenset({"text_delta", "thinking_delta", "exchange_response"})
"""What somebody waits for with open eyes."""


class Followed(Protocol):
    """An exchange, as far as whoever reads its events has to know it."""

    @property
    def id(self) -> str: ...

    @property
    def is_told(self) -> bool: ...

    def on_end(self, then: Callable[[], object]) -> None: ...


class EventStream:
    """Collects the events of a bus from now on until `close`."""

    def __init__(self, bus: EventBus) -> None:
        self._session = bus.session
        self._events: list[Event] = []
        self._begun = self._due = self._heard = False
        self._waiter: asyncio.Future[None] | None = None
        self._subscription = bus.subscribe(self._put)

    def close(self) -> None:
        self._subscription.close()

    async def next_of(self, exchange: Followed) -> list[Event]:
        """What has happened since: in an exchange, in those it delegates, and around it."""
        if not self._heard:
            self._heard = True
            exchange.on_end(self._wake)  # if its events can never be handed out, this is all there is
        if not self._events and not exchange.is_told:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
            self._waiter = None
        events, self._events = self._events, []
        if not self._begun or exchange.is_told:
            events = [event for event in events if self._concerns(event, exchange)]
        return events

    def _concerns(self, event: Event, exchange: Followed) -> bool:
        if event.session != self._session:
            return self._begun
        if event.exchange == exchange.id:
            self._begun = event.type != "exchange_response"
            return True
        return event.exchange is None and not exchange.is_told

    def _put(self, event: Event) -> None:
        self._events.append(event)
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if event.type in _AT_ONCE:
            waiter.set_result(None)
        elif not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._soon)

    def _soon(self) -> None:
        """One more turn of the loop: what a tool says, and what follows from it, is read in one go."""
        asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        self._due = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
