"""Invariants of the envelope (I01 to I04): the number, the time and the exchange of an event."""

from heald.core import events as ev
from heald.core.client_events import ResponseRequested
from heald.core.context_events import ConversationCompacted, ConversationRestored
from heald.core.envelope import Event
from heald.core.payload import Payload
from heald_check.checker.invariants import InvariantCheck, ReportViolation

_SESSION_LEVEL = (
    *(
        ev.AgentChanged,
        ev.ConversationQueued,
        ev.ConversationDequeued,
        ev.SessionResumed,
        ev.SessionReleased,
        ev.SessionForked,
        ev.SessionRewound,
        ev.FileAccepted,
    ),
    *(ConversationCompacted, ConversationRestored, ResponseRequested, ev.Unknown),
)


class EnvelopeCheck(InvariantCheck):
    """I01, I03 and I04: the number, the time and the exchange of an event."""

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._seq = 0
        self._time = 0.0
        self._epoch: int | None = None
        self._opened: set[str] = set()

    def on_event(self, event: Event) -> None:
        self._i01_gapless(event)
        self._i03_time(event)
        self._i04_belongs(event)

    def _i01_gapless(self, event: Event) -> None:
        if event.seq != self._seq + 1:
            self.report("I01", event, f"seq {event.seq} follows {self._seq}")
        self._seq = event.seq

    def _i03_time(self, event: Event) -> None:
        if event.epoch == self._epoch and event.time < self._time:
            self.report("I03", event, f"the time runs back by {self._time - event.time:g} s within epoch {event.epoch}")
        self._time, self._epoch = event.time, event.epoch

    def _i04_belongs(self, event: Event) -> None:
        data = event.data
        if not event.session or not event.type or not event.id:
            self.report("I04", event, "the event lacks its session, type or id")
        if not isinstance(data, ev.Unknown) and (event.type, event.layer) != (data.type, data.layer):
            self.report("I04", event, f"{event.type!r} of layer {event.layer!r} holds the payload {data.type!r}")
        exchange = event.exchange
        if exchange is None:
            if not isinstance(data, _SESSION_LEVEL) and not _is_user_action(data):
                self.report("I04", event, f"{event.type} belongs to no exchange")
        elif isinstance(data, ev.ExchangeRequest):
            self._opened.add(exchange)
        elif exchange not in self._opened:
            self._opened.add(exchange)
            self.report("I04", event, f"{event.type} belongs to {exchange!r}, which no exchange_request opened")


def _is_user_action(data: Payload) -> bool:
    """Whether the event records what a person did outside of any exchange."""
    match data:
        case ev.FileChanged(cause="user"):
            return True
        case ev.UserMessage(message=message):
            return message.said is not None
        case _:
            return False
