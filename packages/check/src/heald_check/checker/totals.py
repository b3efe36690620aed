"""Invariants of the totals of an exchange (I50, I51)."""

from heald.core import events as ev
from heald.core.context_events import ConversationCompacted
from heald.core.envelope import Event
from heald.core.turn import Usage
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class TotalsCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.MessageDelta, ev.MessageStop, ev.MessageDiscarded, ev.ExchangeResponse),
        ConversationCompacted,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._usage: dict[str, Usage] = {}  # by message
        self._turns = 0

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.MessageDelta(message_id=message, usage=usage):
                self._i50_counted(event, usage)
                if message in self._usage:
                    self.report("I50", event, f"the usage of {message!r} is given a second time")
                self._usage[message] = usage
            case ev.MessageDiscarded(message_id=message, usage=usage):
                self._i50_counted(event, usage)
                if usage != Usage() or message not in self._usage:
                    self._usage[message] = usage
            case ConversationCompacted(usage=usage):
                self._i50_counted(event, usage)
                if event.exchange is not None:
                    self._usage[event.id] = usage
            case ev.MessageStop():
                self._turns += 1
            case ev.ExchangeResponse():
                self._i50_sum(event, event.data)
                self._i51_turns(event, event.data)
            case _:
                self._usage, self._turns = {}, 0

    def _i50_counted(self, event: Event, usage: Usage) -> None:
        buckets = (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)
        if any(bucket is not None and bucket < 0 for bucket in buckets):
            self.report("I50", event, f"{event.type} counts fewer than no tokens")

    def _i50_sum(self, event: Event, response: ev.ExchangeResponse) -> None:
        self._i50_counted(event, response.usage)
        self._i50_counted(event, response.delegated or Usage())
        total = sum(self._usage.values(), Usage())
        if response.usage != total:
            self.report("I50", event, f"the usage is {response.usage} and its messages add up to {total}")

    def _i51_turns(self, event: Event, response: ev.ExchangeResponse) -> None:
        if response.turns != self._turns:
            self.report("I51", event, f"the exchange reports {response.turns} turns and has {self._turns}")
        if (response.status == "limit") != (response.limit is not None):
            self.report("I51", event, f"the exchange ends {response.status} with the limit {response.limit!r}")
