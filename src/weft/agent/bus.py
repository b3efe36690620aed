"""The bus: every fact gets its place in the session's log and goes to whoever asked for it.

A reactor that fails is logged, one that cannot keep up is dropped, and neither is ever felt by the exchange.
"""

from collections.abc import Callable, Collection, Iterable
from time import time
from typing import Protocol

from weft.agent.reactors import QUEUE, Handler, Reactor, Subscription
from weft.core.envelope import Event
from weft.core.payload import Layer, Payload


class Sink(Protocol):
    """Takes every event first, and gives it to `EventBus.hand_out` once it may be seen."""

    def take(self, event: Event) -> None: ...

    def after(self, then: Callable[[Exception | None], None]) -> None:
        """Call back when all that was taken so far has been handed out, or with the reason why it never will be."""
        ...


class EventBus:
    """Numbers the events of one session and hands them out: at once, or when a sink says so."""

    def __init__(self, session: str, *, seq: int = 0, epoch: int = 0, clock: Callable[[], float] = time) -> None:
        self.session = session
        self.epoch = epoch
        self.seq = seq
        """The number of the last event."""
        self.exchange: str | None = None
        """The exchange that events belong to now."""
        self._clock = clock
        self._now = 0.0
        self._sink: Sink | None = None
        self._prefix = f"{session}-{epoch}-" if epoch else f"{session}-"
        self._subscriptions: list[Subscription] = []
        self._table: dict[str, list[tuple[Handler, Subscription]]] = {}

    def publish(self, payload: Payload) -> None:
        """Give a fact its number and hand it out."""
        self.seq = seq = self.seq + 1
        kind = payload.type
        handlers = self._table.get(kind)
        if handlers is None:
            handlers = self._look_up(kind)
        if not handlers and self._sink is None:
            return
        now = self._clock()
        if now > self._now:  # a clock that is set back does not turn the log around
            self._now = now
        name = self._prefix + str(seq)
        event = Event(seq, name, self.session, self.exchange, kind, payload.layer, self._now, self.epoch, payload)
        if self._sink is not None:
            self._sink.take(event)
            return
        for handler, subscription in handlers:
            try:
                handler(event)
            except Exception:
                subscription.failed(event)

    def go_through(self, sink: Sink, *, seq: int, epoch: int, now: float) -> None:
        """From here on a sink has every event first. The log goes on after `seq`, not earlier than `now`."""
        self._sink, self.seq, self.epoch, self._now = sink, seq, epoch, now
        self._prefix = f"{self.session}-{epoch}-"

    def after(self, then: Callable[[Exception | None], None]) -> None:
        """Call back once all that was published so far has been handed out."""
        if self._sink is None:
            then(None)
        else:
            self._sink.after(then)

    def publish_all(self, payloads: Iterable[Payload]) -> None:
        for payload in payloads:
            self.publish(payload)

    def publish_apart(self, payload: Payload) -> None:
        """Publish a fact of the session that belongs to no exchange."""
        exchange, self.exchange = self.exchange, None
        self.publish(payload)
        self.exchange = exchange

    def relay(self, event: Event) -> None:
        """Hand on an event of another session: of an agent that works for this one."""
        if self._sink is not None:
            self._sink.take(event)
        else:
            self.hand_out(event)

    def hand_out(self, event: Event) -> None:
        """Give an event to whoever asked for it."""
        for handler, subscription in self._table.get(event.type) or self._look_up(event.type):
            try:
                handler(event)
            except Exception:
                subscription.failed(event)

    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Let a reactor hear events: all, or those of the types or layers named."""
        subscription = Subscription(reactor, self._remove, types=types, layers=layers, queue=queue)
        self._subscriptions.append(subscription)
        self._table = {}
        return subscription

    async def close(self, patience: float = 1.0) -> None:
        """Let all reactors finish what they have, and take them off."""
        for subscription in list(self._subscriptions):
            await subscription.drain(patience)

    def _remove(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self._table = {}  # not cleared: an event may be on its way through the old one

    def _look_up(self, kind: str) -> list[tuple[Handler, Subscription]]:
        found = ((subscription.handler_for(kind), subscription) for subscription in self._subscriptions)
        self._table[kind] = handlers = [(handler, by) for handler, by in found if handler is not None]
        return handlers
