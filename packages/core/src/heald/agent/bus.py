"""The event bus of a session."""

from collections.abc import Callable, Iterable
from time import time
from typing import Protocol

from heald.agent.reactors import Dispatcher
from heald.core.envelope import Event, new_event
from heald.core.payload import Payload

OnDelivered = Callable[[Exception | None], None]


class Sink(Protocol):
    """Receives every event before the reactors do, and dispatches it to them once they may see it."""

    def record(self, event: Event) -> None: ...

    def end_moment(self) -> None:
        """Called once the events of a moment are recorded."""
        ...

    def call_when_delivered(self, callback: OnDelivered) -> None:
        """Call back when every recorded event was dispatched, or with the reason why that will not happen."""
        ...


class EventBus(Dispatcher):
    """Numbers the events of one session and passes them on: to its sink if it has one, else to the reactors."""

    def __init__(self, session: str, *, seq: int = 0, epoch: int = 0, clock: Callable[[], float] = time) -> None:
        super().__init__()
        self.session = session
        self.epoch = epoch
        self.seq = seq
        """The number of the last event."""
        self.exchange: str | None = None
        """The exchange that new events belong to."""
        self._clock = clock
        self._now = 0.0
        self._sink: Sink | None = None
        self._prefix = f"{session}-{epoch}-" if epoch else f"{session}-"

    def publish(self, payload: Payload) -> None:
        """Number a payload and pass it on as an event."""
        self.publish_all((payload,))

    def publish_all(self, payloads: Iterable[Payload], *, in_exchange: bool = True) -> None:
        """Number the payloads of one moment and pass them on as events."""
        exchange = self.exchange if in_exchange else None
        now = int(self._clock() * 1e6) / 1e6  # stores count microseconds
        if now > self._now:  # times never decrease, even if the clock is set back
            self._now = now
        events = self.only_list
        if events is None or self._sink is not None:
            self._pass_on(payloads, exchange)
            return
        seq, session, epoch, prefix, now = self.seq, self.session, self.epoch, self._prefix, self._now
        for payload in payloads:  # not a comprehension, which is a call of its own before Python 3.12
            seq += 1
            event = new_event(
                seq, f"{prefix}{seq}", session, exchange, payload.type, payload.layer, now, epoch, payload
            )
            events.append(event)
        self.seq = seq
        if self.wakes:
            self.wake_readers()

    def _pass_on(self, payloads: Iterable[Payload], exchange: str | None) -> None:
        """Pass the events to the sink, or to the reactors one by one: a reactor may publish more at each of them."""
        sink, session, epoch, prefix = self._sink, self.session, self.epoch, self._prefix
        for payload in payloads:
            self.seq = seq = self.seq + 1
            kind = payload.type
            handlers = self.table.get(kind)
            if handlers is None:
                handlers = self.find_handlers(kind)
            if not handlers and sink is None:
                continue
            event = new_event(seq, f"{prefix}{seq}", session, exchange, kind, payload.layer, self._now, epoch, payload)
            if sink is not None:
                sink.record(event)
                continue
            for handler, subscription in handlers:
                try:
                    handler(event)
                except Exception:
                    subscription.log_failure(event)
        if sink is not None:
            sink.end_moment()
        elif self.wakes:
            self.wake_readers()

    def attach_sink(self, sink: Sink, *, seq: int, epoch: int, now: float) -> None:
        """Pass every event to a sink from now on. The log continues after `seq`, not earlier than `now`."""
        self._sink, self.seq, self.epoch, self._now = sink, seq, epoch, now
        self._prefix = f"{self.session}-{epoch}-"

    def call_when_delivered(self, callback: OnDelivered) -> None:
        """Call back once every published event was delivered."""
        if self._sink is None:
            callback(None)
        else:
            self._sink.call_when_delivered(callback)

    def publish_outside_exchange(self, payload: Payload) -> None:
        """Publish an event of the session that belongs to no exchange. What a reactor publishes because of it does."""
        self.publish_all((payload,), in_exchange=False)

    def relay(self, event: Event) -> None:
        """Pass on an event of another session: of an agent that works for this one."""
        if self._sink is not None:
            self._sink.record(event)
        else:
            self.dispatch(event)
